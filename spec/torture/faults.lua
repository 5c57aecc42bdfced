--- What the director does to servers, wires, clients and data.  Each kind is
-- `{ weight, fn(stage) }`; fn does it, and plans with stage:later(seconds, fn)
-- the end of what lasts.  What has no victim just now is no fault: false.
local random = math.random

local kinds = {}

local function kind(name, weight, fn)
  kinds[#kinds + 1] = { name = name, weight = weight, fn = fn }
end

local function between(from, to) return from + random() * (to - from) end

-- Servers.  One suffers at a time as a rule: two of three are no majority.

local function one_server(name, weight, fn)
  kind(name, weight, function(stage)
    local i = stage:healthy_server()
    return i and fn(stage, i)
  end)
end

one_server("server killed", 3, function(stage, i)
  if not stage:kill_server(i) then return false end
  stage:later(between(0, 3), function() stage:restart(i) end)
end)

one_server("server restarted", 2, function(stage, i) stage:restart(i) end)

local function pause(stage, i, seconds)
  if not stage:pause(i) then return false end
  stage:later(seconds, function() stage:resume(i) end)
end

one_server("server stopped", 4, function(stage, i)
  return pause(stage, i, between(0.1, 4))
end)

-- Longer than any session lives without it.
kind("leader stopped", 3, function(stage)
  local i = stage:leader()
  if not i or stage.states[i] ~= "up" then return false end
  return pause(stage, i, between(0.5, 9))
end)

-- (Where all three are up.)
one_server("majority stopped", 1, function(stage, spared)
  local seconds = between(0.5, 5)
  for i = 1, 3 do
    if i ~= spared then pause(stage, i, seconds) end
  end
end)

one_server("all servers killed", 1, function(stage)
  for i = 1, 3 do stage:kill_server(i) end
  stage:later(between(0, 2), function()
    for i = 1, 3 do stage:restart(i) end
  end)
end)

one_server("rolling restart", 1, function(stage)
  local function next_one(i)
    if i > 3 then return end
    stage:restart(i)
    stage:when_up(i, function() next_one(i + 1) end)
  end
  next_one(1)
end)

-- Until the next such fault, and for all sessions that come to it.
one_server("server with other timeouts", 4, function(stage, i)
  stage:change_timeouts(i)
  stage:restart(i)
end)

-- Wires.

-- One that some client has, and that its successor will have, is ill for a
-- while.
local function illness(name, weight, what, begin, heal, seconds)
  kind(name, weight, function(stage)
    local client = stage:some_client(function(one)
      return one[what] and not one[what].ill
    end)
    if not client then return false end
    local victim = client[what]
    victim.ill = true
    begin(victim)
    stage:later(between(0.1, seconds or 2), function()
      heal(victim)
      victim.ill = false
    end)
  end)
end

local function heal_wire(proxy)
  proxy:disarm()
  proxy:heal()
end

local function wire(name, weight, fn, seconds)
  illness(name, weight, "proxy", fn, heal_wire, seconds)
end

wire("connection cut", 16, function(proxy) proxy:cut() end, 0.3)
wire("connection refused", 8, function(proxy) proxy:refuse() end, 4)
wire("wire frozen", 8, function(proxy) proxy:freeze() end, 6)
wire("wire delayed", 12, function(proxy) proxy:delay(between(0.02, 1)) end, 4)
wire("replies dropped", 6, function(proxy) proxy:drop "replies" end, 5)
wire("requests dropped", 6, function(proxy) proxy:drop "requests" end, 5)
wire("half open", 6, function(proxy) proxy:half_open() end, 2)
wire("cut in a reply", 8, function(proxy) proxy:cut_after(random(2000)) end, 2)
for _, what in ipairs { "create", "delete", "list", "get" } do
  wire(what .. " reply lost", 6, function(proxy) proxy:lose_reply(what) end)
  wire("cut after a " .. what .. " reply", 4,
    function(proxy) proxy:cut_after_reply(what) end)
end

-- Names.

kind("address moved", 8, function(stage)
  local client = stage:some_client(function(one)
    return one.proxy and not one.proxy.ill and not one.tunnel
  end)
  local address = "127.0.0." .. random(2, 250)
  if not client or not client.proxy:move(address) then return false end
  local old = client.proxy.address
  client.proxy.address, client.proxy.ill = address, true
  stage:later(between(0, 3), function()
    stage:tell_name(client, random(2) == 1 and old or nil)
    client.proxy.ill = false
  end)
end)

kind("resolver hangs", 2, function(stage)
  if stage.resolver_hangs then return false end
  stage.resolver_hangs = true
  stage.names:hold()
  stage:later(between(0, 4), function()
    stage.names:let_go()
    stage.resolver_hangs = false
  end)
end)

-- Servers that lie to one client.

local function lie(name, weight, manners, seconds)
  illness(name, weight, "hostile", function(hostile)
    local given = manners()
    hostile:behave(given)
    if not given.largest then hostile:cut() end
  end, function(hostile)
    hostile:behave {}
    hostile:cut()
  end, seconds)
end

lie("timeout lowered", 6, function() return { asks = between(1.5, 3) } end, 6)
lie("timeout raised", 3, function() return { asks = between(6, 20) } end, 6)
lie("connect replies lost", 5, function()
  return { lose_connect = random(3) == 1 and "always" or random(3),
    asks = random(2) == 1 and 1.5 or nil }
end, 4)
lie("connect replies late", 4, function()
  return { delay_connect = between(0.05, 1.5) }
end, 4)
lie("credentials refused", 10, function()
  return { refuse_auth = random(2) == 1 and "always" or random(3) }
end, 6)
lie("credential's answer lost", 5, function()
  return { cut_auth = random(3) == 1 and "always" or random(3) }
end, 3)
lie("credential's answer kept", 3, function()
  return { mute_auth = random(3) == 1 and "always" or 1 }
end, 3)
lie("small buffer", 12, function() return { largest = 900 } end, 12)
lie("server says nothing", 3, function() return { kind = "silent" } end, 4)
lie("server answers no more", 3, function() return { mute = "yes" } end, 6)
lie("server talks nonsense", 3, function()
  return { kind = "stranger", says = ("nonsense%20"):rep(20) }
end, 3)
lie("connections closed at once", 3, function()
  return { kind = "close" }
end, 3)

-- Clients.

kind("client killed", 10, function(stage)
  local client = stage:some_client(function(one) return not one.stopped end)
  return client ~= nil and stage:kill(client)
end)

kind("client stopped", 24, function(stage)
  local client = stage:some_client(function(one) return not one.stopped end)
  if not client then return false end
  stage:stop(client)
  -- For less than its lease, for more than its session, …
  stage:later(client.session_timeout * between(0.05, 1) ^ 2 * 3, function()
    stage:continue(client)
  end)
end)

-- Data.

local function operator(name, weight, command)
  kind(name, weight, function(stage) return stage:operate(command) end)
end

operator("node deleted", 20, "remove")
operator("directory deleted", 4, "remove_all")
operator("data written", 8, "write")
operator("session closed by another", 10, "seize")

local total = 0
for _, one in ipairs(kinds) do total = total + one.weight end

--- One of them happens; its name, or nil.
local function strike(stage)
  local dice = random(total)
  for _, one in ipairs(kinds) do
    dice = dice - one.weight
    if dice <= 0 then
      return one.fn(stage) ~= false and one.name or nil
    end
  end
end

return { strike = strike }

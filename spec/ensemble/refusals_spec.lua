-- Servers that refuse writes by themselves (enableEagerACLCheck): the answer of
-- a server that is cut off from its leader proves nothing.
local spawn = require "support.child".spawn
local raw = require "support.raw"
local start_server = require "support.server".start
local support = require "support"

local TIMEOUT = 4 -- seconds
local ALL, READ, ADMIN = 31, 1, 16 -- permissions

-- A wire of bytes to `ip`:`port`, which a word stops and another lets go on.
local WIRE = [[
  local ip, port = ...
  local listener = assert(socket.bind("127.0.0.1", 0))
  local peers, frozen = {}, false
  local function accept()
    local near, far = listener:accept(), socket.connect(ip, tonumber(port))
    if not far then return near:close() end
    peers[near], peers[far] = far, near
  end
  local function pass_on(from, to)
    from:settimeout(0)
    local data, problem, part = from:receive(65536)
    to:settimeout(10)
    to:send(data or part)
    if problem ~= "closed" then return end
    peers[from], peers[to] = nil, nil
    from:close()
    to:close()
  end
  say((select(2, listener:getsockname())))
  while true do
    local watched = { parent_socket }
    if not frozen then
      watched[2] = listener
      for s in pairs(peers) do watched[#watched + 1] = s end
    end
    for _, s in ipairs((socket.select(watched))) do
      if s == parent_socket then
        local word = hear()
        if not word then return end
        frozen = word == "freeze"
      elseif s == listener then
        accept()
      elseif peers[s] then
        pass_on(s, peers[s])
      end
    end
  end
]]

describe("Three servers that check ACLs eagerly", function()
  local servers, zk, leader, follower
  local linked -- what the follower's configuration says of its leader

  setup(function()
    servers = start_server(3, "--config maxSessionTimeout=60000"
      .. " --jvm -Dzookeeper.enableEagerACLCheck=true")
    leader = servers:leader()
    follower = leader % 3 + 1
    zk = raw.connect(servers:host(leader), { renews = true })
  end)
  teardown(function()
    zk:close()
    servers:stop()
  end)

  -- The follower reaches its leader at this address.
  local function reach_leader_at(address)
    servers:configure("server." .. leader, address, follower)
    servers:restart(follower)
  end

  -- ... and that is a wire that can be cut.
  local function link_follower()
    linked = servers:setting("server." .. leader, follower)
    local ip, port, election = linked:match "^(.-):(%d+):(.*)$"
    local link = spawn(WIRE, ip, port)
    reach_leader_at(ip .. ":" .. link:hear() .. ":" .. election)
    return link
  end

  after_each(function()
    zk:set_acl("/", { { perms = ALL, scheme = "world", id = "anyone" } })
    support.finish()
    if linked then reach_leader_at(linked) end
    linked = nil
  end)

  local function set(path, perms)
    zk:make(path)
    zk:set_acl(path, { { perms = perms, scheme = "world", id = "anyone" } })
  end

  local function connect(server, chroot)
    return support.connect { hosts = servers:host(server) .. (chroot or ""),
      session_timeout = TIMEOUT, connect_timeout = 20 }
  end

  local function holds_on(session, guard)
    local begun = support.now()
    support.step_until(session, function()
      assert.is_true(guard:is_held())
      return support.now() > begun + 1.5 * TIMEOUT
    end, 2 * TIMEOUT)
  end

  -- The holder's server is cut off, and nobody is told.
  local function check_one_believer(path)
    local link = link_follower()
    local session = connect(follower)
    local guard = assert(session:mutex(path):acquire(30))
    holds_on(session, guard)
    local other = connect(leader)
    local granted
    other:mutex(path):acquire_async(nil, function(mine) granted = mine end)
    support.step_until(other, function() return #zk:queue(path) == 2 end)
    link:say "freeze"
    support.step_until(other, function() return granted end, 10 * TIMEOUT)
    assert.is_false(guard:is_held(), "two believe that they hold")
    link:say "go"
    granted:release()
    guard:release()
  end

  for where, permissions in pairs {
    ["the root is closed"] = READ + ADMIN,
    ["no one may read the root"] = ADMIN,
  } do
    it("renew no lease while they are cut off, where " .. where, function()
      local path = "/open" .. support.path()
      zk:make(path)
      set("/", permissions)
      check_one_believer(path)
    end)
  end

  it("let a hold live in a chroot that may not be read", function()
    set("/unreadable", ALL - READ)
    set("/", ADMIN)
    local session = connect(follower, "/unreadable")
    local guard = assert(session:mutex("/lock"):acquire(30))
    holds_on(session, guard)
    guard:release()
  end)
end)

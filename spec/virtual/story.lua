--- A story for trace_spec.lua: sessions take locks of all kinds, one path each,
-- while links break and a session ends.  All of it goes into the trace.
--
--     lua story.lua SEED FILE
local seed, file = tonumber(arg[1]), arg[2]
local virtual = require "zklock.virtual"

-- When Lua's collector runs by itself depends on hash seeds and addresses: they
-- decide when tables grow, and so how much memory there is.  What LuaJIT has
-- compiled keeps objects alive, and that depends on addresses, too.
collectgarbage "stop"
if rawget(_G, "jit") then jit.off() end

virtual.seed(seed)
virtual.trace(file)
virtual.explore { switches = 20, stalls = 500, stall = 0.05 }
virtual.limit(4000)

local addresses = { "127.0.0.1:2181", "127.0.0.1:2182", "127.0.0.1:2183" }
virtual.ensemble { addresses = addresses, seed = seed }
assert(virtual.link_new("127.0.0.1:3181", addresses[1], { 0, 1, 2 }))

local zklock = require "zklock"

-- The numbers of the story's own choices.
local state = seed
local function draw(n)
  state = (state * 16807) % 2147483647
  return state % n + 1
end

local sessions, running, steps = {}, 0, 0

local function note(...)
  local words = {}
  for i = 1, select("#", ...) do words[i] = tostring((select(i, ...))) end
  virtual.note("# " .. table.concat(words, " "))
end

local function locks_of(session)
  local rwlock = session:rwlock "/story/rwlock"
  return {
    mutex = session:mutex "/story/mutex",
    handoffs = session:mutex("/story/handoffs", { handoffs = 3 }),
    unfair = session:mutex("/story/unfair", { fair = false }),
    semaphore = session:semaphore("/story/semaphore", 2),
    read = rwlock.read,
    write = rwlock.write,
  }
end

local names = { "mutex", "handoffs", "unfair", "semaphore", "read", "write" }

local function begin(session, number)
  local name = names[draw(#names)]
  local owner = session.locks[name]
  running = running + 1
  local options = { timeout = draw(10), owner = {} }
  owner:acquire_async(options, function(guard, _, code)
    note("session", number, name, guard and "held" or code)
    if not guard then
      running = running - 1
      return
    end
    guard:on_lost(function(_, _, reason) note("lost", number, name, reason) end)
    session.held[#session.held + 1] = { guard = guard, name = name,
      until_ = zklock.now() + draw(2000) / 1000 }
  end)
end

local function release_what_is_due(session, number)
  for i = #session.held, 1, -1 do
    local hold = session.held[i]
    if hold.until_ <= zklock.now() then
      table.remove(session.held, i)
      running = running - 1
      note("release", number, hold.name, hold.guard:is_held())
      hold.guard:release()
    end
  end
end

for i = 1, 4 do
  local hosts = i == 1 and "127.0.0.1:3181" or table.concat(addresses, ",")
  local zk = assert(zklock.connect(hosts, { session_timeout = 6 }))
  sessions[i] = setmetatable({ locks = locks_of(zk), held = {}, zk = zk }, {
    __index = function(_, key)
      return function(_, ...) return zk[key](zk, ...) end
    end })
  note("session", i, zk:id())
end

local faults = { "link_cut", "link_freeze", "link_refuse" }

while steps < 400 or running > 0 do
  steps = steps + 1
  for i, session in ipairs(sessions) do
    session:step()
    release_what_is_due(session, i)
    if steps < 400 and #session.held < 3 and draw(4) == 1 then
      begin(session, i)
    end
  end
  if steps % 120 == 0 then
    local ended = sessions[draw(#sessions)]
    note("end", virtual.find(addresses[1]):end_session(ended:id()))
  elseif steps % 50 == 0 then
    local name = faults[draw(#faults)]
    note(name)
    virtual[name] "127.0.0.1:3181"
  elseif steps % 50 == 25 then
    virtual.link_heal "127.0.0.1:3181"
  end
  if steps % 20 == 0 then collectgarbage() end
  virtual.sleep(draw(100) / 1000)
end

for i, session in ipairs(sessions) do note("closed", i, session:close()) end
note(virtual.digest())
virtual.trace()

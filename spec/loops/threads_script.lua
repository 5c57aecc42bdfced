--- What threads.c runs in each of its states.
local hosts, path, thread, round = ...
local inside = rawget(_G, "inside")
local zklock = require "zklock"

local function use(session)
  for i = 1, 8 do
    local section = i % 4
    local lock = session:mutex(("%s/%d"):format(path, section))
    assert(lock:with_lock({ timeout = 30 }, function(guard)
      inside(section, 1)
      assert(guard:is_held() and guard:verify())
      inside(section, -1)
    end))
  end
end

-- A second session in the state: its waits are under way when the state ends,
-- or are granted without anybody hearing of it.
local session = assert(zklock.connect(hosts))
local other = assert(zklock.connect(hosts, { loop = "poll" }))
local function callback(guard) return guard and guard:release() end
for _ = 1, 4 do
  other:mutex(path .. "/other"):acquire_async(nil, callback)
end
use(session)

-- Every way to leave: closed, left to lua_close, and in the middle of a hold.
local way = (thread + round) % 4
if way == 0 then
  other:close()
  session:close()
elseif way == 1 then
  session:close()
elseif way == 2 then
  local guard = session:mutex(path .. "/kept"):acquire(0.1)
  rawset(_G, "kept", guard)
end

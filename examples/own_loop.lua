--- A loop of one's own: an adapter lets acquire() suspend only the coroutine
-- that calls it, in any scheduler.  This one is as small as can be.
--
--     lua5.4 examples/own_loop.lua [hosts]
local zklock = require "zklock"
local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"

-- The scheduler: tasks that can run, and parked ones with their last moment.
local ready, parked, sessions = {}, {}, {}

local function spawn(fn) table.insert(ready, coroutine.create(fn)) end

local function unpark(task)
  if parked[task] then table.insert(ready, task) end
  parked[task] = nil
end

local function run()
  while #ready > 0 or next(parked) do
    for session in pairs(sessions) do session:step() end
    for task, moment in pairs(parked) do
      if zklock.now() >= moment then unpark(task) end
    end
    local task = table.remove(ready, 1)
    if task then assert(coroutine.resume(task)) end
    if not task then os.execute "sleep 0.01" end -- or poll session:fd()
  end
end

-- wait(w) suspends the caller until wake(w) or the time; wake never yields,
-- blocks or raises; arm: the first waiter came, disarm: the last has left.
local adapter = {}

function adapter.new(session)
  local waiting = {}
  return {
    wait = function(w, timeout)
      local task = coroutine.running()
      waiting[w] = task
      parked[task] = zklock.now() + (timeout or math.huge)
      coroutine.yield()
      waiting[w] = nil
    end,
    wake = function(w) if waiting[w] then unpark(waiting[w]) end end,
    arm = function() sessions[session] = true end,
    disarm = function() sessions[session] = nil end,
  }
end

-- Three tasks, one lock.
for i = 1, 3 do
  spawn(function()
    local session = assert(zklock.connect(hosts, { loop = adapter }))
    assert(session:with_lock("/examples/own_loop", function(guard)
      print(("task %d has the lock, token %s"):format(i, guard:token()))
    end, { timeout = 10 }))
    session:close()
  end)
end
run()

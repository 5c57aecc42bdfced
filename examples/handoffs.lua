--- Local turns: many waiters of one process on one node in ZooKeeper.
--
--     lua5.4 examples/handoffs.lua [hosts]
local zklock = require "zklock"

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = assert(zklock.connect(hosts))
local other = assert(zklock.connect(hosts)) -- another process would do the same

-- Up to 50 waiters of this session take turns before the next process does.
local mutex = session:mutex("/examples/handoffs", { handoffs = 50 })
local waiters, done = 200, 0

local before = session:stats()
for _ = 1, waiters do
  mutex:acquire_async({ timeout = 30 }, function(guard, message)
    if not guard then error(message) end
    done = done + 1
    if done % 51 == 1 then
      print("token " .. guard:token() .. ", turn " .. guard:turn())
    end
    guard:release()
  end)
end
while done < waiters do
  assert(mutex:with_lock(function() end, { timeout = 30, owner = "main" }))
end

local after = session:stats()
print(("%d turns: %d of them local, %d requests"):format(done,
  after.local_turns - before.local_turns, after.requests - before.requests))

other:close()
session:close()

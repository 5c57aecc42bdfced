--- A job hangs, and loses its lock after a fixed time.
--
-- For jobs that may hang, in foreign code or on foreign servers.
-- Lock: mutex with max_hold. Loop: none.
-- Run: make example NAME=max_hold
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C releases all locks at once

local function need(result, message) -- a failure ends the program
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = need(zklock.connect(hosts))
local other = need(zklock.connect(hosts)) -- plays another process

-- A job sets its longest duration. Here it is half a second.
local job = session:mutex("/examples/max_hold", { max_hold = 0.5 })
local guard = need(job:acquire(30))
print("the job has the lock, token    " .. guard:token())

-- It hangs, so it does not notice that its time has passed. The next holder
-- gets the lock nevertheless, with a larger token: see NAME=fencing.
local began = zklock.now()
local next_one = need(other:mutex("/examples/max_hold"):acquire(30))
print("the next one has it,     token " .. next_one:token())
print(("it waited for %.2f s"):format(zklock.now() - began))

-- The job continues, and should check at once whether it still holds the lock.
print("is it held? " .. tostring(guard:is_held()))
local _, message = guard:release()
print(message)

next_one:release()
other:close()
session:close()

-- Prints:
--   the job has the lock, token    0000000000000000042
--   the next one has it,     token 0000000000000000043
--   it waited for 0.50 s
--   is it held? false
--   zklock: the hold of /examples/max_hold was lost: it was held for as long as max_hold allows

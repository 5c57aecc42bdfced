--- A worker loses its lock in the middle of its work, and stops.
--
-- For every long section: check the lock before each part of the work.
-- Lock: mutex. Loop: none.
-- Run: make example NAME=lost
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C releases all locks at once

local function need(result, message) -- a failure ends the program
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = need(zklock.connect(hosts))
local mutex = session:mutex "/examples/lost"
local guard = need(mutex:acquire(30))

-- zklock calls this once, in the first call that notices the loss: a wait,
-- step() in a loop, or the release. Use it to stop work elsewhere, or to report
-- the loss.
guard:on_lost(function(_, reason) print("told:    " .. reason) end)

-- Here an operator takes the lock away. Other causes: no server is reachable
-- for too long, the machine was paused, max_hold has passed.
local function operator()
  local other = need(zklock.connect(hosts))
  need(other:evict("/examples/lost", guard.node:match "[^/]+$"))
  other:close()
end

local done = 0
while done < 100 and guard:is_held() do -- no I/O: reads the clock
  io.popen("sleep 0.05"):close() -- a part of the work
  done = done + 1
  if done == 3 then operator() end
end
print(done < 100 and "stopped: not all of the work was done" or "too late")

-- The release returns the reason. Then the lock can be acquired again.
local _, message = guard:release()
print("release: " .. message)
need(mutex:acquire(30)):release()
print "again:   it can be had"

session:close()

-- Prints:
--   stopped: not all of the work was done
--   told:    node_deleted
--   release: zklock: the hold of /examples/lost was lost: its node was deleted
--   again:   it can be had

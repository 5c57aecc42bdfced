--- A worker loses its lock in the middle of its work, and stops.
--
-- For every long section: look before each part of the work.
-- Lock: mutex. Loop: none.
-- Run: make example NAME=lost
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C gives back what is held, at once

local function need(result, message) -- or the program ends, and says why
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = need(zklock.connect(hosts))
local mutex = session:mutex "/examples/lost"
local guard = need(mutex:acquire(5))

-- Called once, by what finds it out first: a call that waits, step() in a loop,
-- or the release. It stops what was begun elsewhere, or tells others.
guard:on_lost(function(_, _, reason) print("told:    " .. reason) end)

-- What happens here by an operator may happen by itself: no server is in reach
-- for too long, the machine stood still, max_hold is over.
local function operator()
  local other = need(zklock.connect(hosts))
  need(other:evict("/examples/lost", guard.node:match "[^/]+$"))
  other:close()
end

local done = 0
while done < 100 and guard:is_held() do -- no I/O: it compares clocks
  io.popen("sleep 0.05"):close() -- a part of the work
  done = done + 1
  if done == 3 then operator() end
end
print(done < 100 and "stopped: not all of the work was done" or "too late")

-- The release says what has happened; then the lock can be had again.
local _, message = guard:release()
print("release: " .. message)
need(mutex:acquire(5)):release()
print "again:   it can be had"

session:close()

-- Prints:
--   stopped: not all of the work was done
--   told:    deleted
--   release: zklock: the hold of /examples/lost was lost: its node was deleted
--   again:   it can be had

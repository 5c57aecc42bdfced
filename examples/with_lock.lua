--- A function under a lock: the four ways in which it ends.
--
-- For most programs: the lock is released whatever the function does.
-- Lock: mutex. Loop: none.
-- Run: make example NAME=with_lock
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C releases all locks at once

local function need(result, message) -- a failure ends the program
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = need(zklock.connect(hosts))
local mutex = session:mutex "/examples/with_lock"

-- 1. The function ran under the lock: true, and what it returned.
local ok, sum = mutex:with_lock({ timeout = 30 }, function() return 20 + 22 end)
need(ok, sum)
print("1. it ran:      " .. sum)

-- 2. The lock was not granted: nil, a message, a code. The function did not
-- run. (Here another session has the lock.)
local other = need(zklock.connect(hosts))
other:mutex("/examples/with_lock"):with_lock(function()
  local _, message = mutex:with_lock({ timeout = 2 },
    function() error "never called" end)
  print("2. not granted: " .. message)
end)
other:close()

-- 3. The function raised an error: with_lock releases the lock and raises the
-- same error again.
local _, problem = pcall(mutex.with_lock, mutex, function()
  error { reason = "out of cheese" }
end)
print("3. it raised:   " .. problem.reason)

-- 4. The lock was lost while the function ran: nil, a message, "lost", and what
-- the function returned. Its work was not protected to the end. (Here max_hold
-- ends the hold after 0.2 s.)
local brief = { max_hold = 0.2 }
local _, message, code, result = mutex:with_lock(brief, function(guard)
  while guard:is_held() do io.popen("sleep 0.1"):close() end
  return "half done"
end)
print("4. " .. code .. ":        " .. message .. "; " .. result)

session:close()

-- Prints:
--   1. it ran:      42
--   2. not granted: zklock: timed out after 2 s waiting for /examples/with_lock (1 ahead; held by "web1:4711")
--   3. it raised:   out of cheese
--   4. lost:        zklock: the hold of /examples/with_lock was lost while it was used: it was held for as long as max_hold allows; half done

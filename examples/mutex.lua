--- A lock with a timeout: what to do when it is granted, and when it is not.
--
-- For work that two processes must not do at the same time.
-- Lock: mutex. Loop: none.
-- Run: make example NAME=mutex
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C releases all locks at once

local function need(result, message) -- a failure ends the program
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = need(zklock.connect(hosts))
local mutex = session:mutex "/examples/mutex"

-- Waits for 5 s at most. A failure returns nil, a message and a code; only
-- misuse raises an error.
local guard = need(mutex:acquire(30))
print("we have it, with the token " .. guard:token())

-- Another session plays another process, which does not wait longer than 2 s.
local other = need(zklock.connect(hosts))
local none, message, code = other:mutex("/examples/mutex"):acquire(2)
if not none and code == zklock.errors.timeout then
  print("they go on without: " .. message)
end

-- Returns at once; the servers confirm the release in the background.
guard:release()
print "we have given it back"

need(other:mutex("/examples/mutex"):acquire(30)):release()
print "they got it at last"

other:close()
session:close()

-- Prints:
--   we have it, with the token 0000000000000000042
--   they go on without: zklock: timed out after 2 s waiting for /examples/mutex (1 ahead; held by "web1:4711")
--   we have given it back
--   they got it at last

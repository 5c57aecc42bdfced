--- A lock with a timeout: what to do when it is granted, and when it is not.
--
-- For programs that must not do something at the same time as each other.
-- Lock: mutex. Loop: none.
-- Run: make example NAME=mutex
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C gives back what is held, at once

local function need(result, message) -- or the program ends, and says why
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = need(zklock.connect(hosts))
local mutex = session:mutex "/examples/mutex"

-- Waits for 5 s at most. What the world refuses comes back as nil, a sentence,
-- and a code for programs; only mistakes in the program are raised.
local guard = need(mutex:acquire(5))
print("we have it, with the token " .. guard:token())

-- Somebody else (as another process would be) has something better to do than
-- to wait for longer than this.
local other = need(zklock.connect(hosts))
local none, message, code = other:mutex("/examples/mutex"):acquire(2)
if not none and code == zklock.errors.timeout then
  print("they go on without: " .. message)
end

-- Returns at once, and is done in the background until the servers confirm it.
guard:release()
print "we have given it back"

need(other:mutex("/examples/mutex"):acquire(5)):release()
print "they got it at last"

other:close()
session:close()

-- Prints:
--   we have it, with the token 0000000000000000042
--   they go on without: zklock: timed out after 2 s waiting for /examples/mutex (1 ahead of us; held by "web1:4711")
--   we have given it back
--   they got it at last

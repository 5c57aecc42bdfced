--- A mutex: acquire, work, release.
--
--     lua5.4 examples/mutex.lua [hosts]
local zklock = require "zklock"

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = assert(zklock.connect(hosts))
local mutex = session:mutex "/examples/mutex"

-- Waits up to 5 s.  What the world refuses comes back as nil, message, code;
-- only misuse is raised.
local guard, message, code = mutex:acquire(5)
if not guard then
  if code == zklock.errors.timeout then
    print("others took too long: " .. message)
    os.exit(1)
  end
  error(message)
end

print("held:     " .. guard.node)

-- While it is held, the same task gets it again: another guard of one hold.
local again = assert(mutex:acquire())
assert(again:token() == guard:token())
again:release()

-- Somebody else does not.  A session in another process would hear the same.
local other = assert(zklock.connect(hosts))
local nothing, why, busy = other:mutex("/examples/mutex"):try_acquire()
assert(nothing == nil and busy == zklock.errors.busy)
print("refused:  " .. why)

-- Returns at once; the deletion of the node is repeated until it is confirmed.
guard:release()
print("released: " .. tostring(not guard:is_held()))

other:close()
session:close()

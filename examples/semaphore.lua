--- A semaphore: so many holders, and no more.
--
--     lua5.4 examples/semaphore.lua [hosts]
local zklock = require "zklock"

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = assert(zklock.connect(hosts))
local other = assert(zklock.connect(hosts)) -- another process would do the same

-- At most two reports are made at a time, whoever makes them.
local reports = session:semaphore("/examples/semaphore", 2)
local theirs = other:semaphore("/examples/semaphore", 2)

local first = assert(reports:acquire(5))
local second = assert(theirs:acquire(5))

local _, why, code = reports:try_acquire()
assert(code == zklock.errors.busy)
print("third:     " .. why)

for _, contender in ipairs(assert(session:contenders "/examples/semaphore")) do
  print("holds:     " .. contender.node .. " by " .. contender.data)
end

second:release { wait = true }
local third = assert(reports:acquire(5))
print("then:      " .. third.node)

third:release()
first:release()
other:close()
session:close()

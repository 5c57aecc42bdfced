--- A rwlock: many readers or one writer; a writer may become a reader.
--
--     lua5.4 examples/rwlock.lua [hosts]
local zklock = require "zklock"

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = assert(zklock.connect(hosts))
local other = assert(zklock.connect(hosts)) -- another process would do the same

local cache = session:rwlock "/examples/rwlock"
local theirs = other:rwlock "/examples/rwlock"

-- Readers share it.
local mine = assert(cache.read:acquire(5))
local yours = assert(theirs.read:acquire(5))
print("readers:    two at once")
yours:release()
mine:release()

-- A writer is alone.
local writer = assert(cache.write:acquire(5))
local nothing, why = theirs.read:try_acquire()
assert(not nothing)
print("refused:    " .. why)

-- Who has written may go on reading what it wrote, without letting another
-- writer in between: take the read lock, then release the write lock.
local reader = assert(cache.read:acquire(5))
writer:release()
assert(not theirs.write:try_acquire())
print("downgraded: " .. tostring(reader:is_held()))

-- The other way round would wait for itself, and says so at once.
local _, message, code = cache.write:acquire(5)
assert(code == zklock.errors.deadlock)
print("deadlock:   " .. message)

reader:release()
other:close()
session:close()

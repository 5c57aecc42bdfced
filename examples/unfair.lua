--- An unfair mutex: one node, no queue, the cheapest way to exclude.
--
--     lua5.4 examples/unfair.lua [hosts]
local zklock = require "zklock"

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = assert(zklock.connect(hosts))
local other = assert(zklock.connect(hosts)) -- another process would do the same

-- Good for "only one of us does this now, the others skip it". When it is
-- released all who wait try again, in no order.
local job = session:mutex("/examples/unfair", { fair = false })
local same = other:mutex("/examples/unfair", { fair = false })

local before = session:stats().requests
local guard = assert(job:try_acquire())
print("requests: " .. session:stats().requests - before .. " to get it")

local nothing, why = same:try_acquire()
assert(not nothing)
print("skipped:  " .. why)

guard:release { wait = true }
assert(assert(same:acquire(5)):release())
print("then:     it was free")

other:close()
session:close()

--- A barrier: workers wait until somebody else's work is done.
--
--     lua5.4 examples/barrier.lua [hosts]
local zklock = require "zklock"

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = assert(zklock.connect(hosts))
local workers = assert(zklock.connect(hosts)) -- another process, elsewhere

-- Before the migration begins.  The barrier is nobody's: it stays if we die,
-- and nobody works with half of a schema.
local barrier = session:barrier "/examples/barrier"
assert(barrier:set())
print("set:     the tables are migrated")

-- Three workers begin to wait; each could as well block in wait().
local gate = workers:barrier "/examples/barrier"
local at_work = 0
for i = 1, 3 do
  gate:wait_async({ timeout = 30 }, function(ok, message)
    assert(ok, message)
    at_work = at_work + 1
    print("begins:  worker " .. i)
  end)
end

-- Nobody waits longer than it likes.
local ok, message, code = gate:wait(0.2)
assert(not ok and code == zklock.errors.timeout)
print("waits:   " .. message)
assert(gate:is_set() and at_work == 0)

-- The migration is done: all of them go on.
local _, was_set = assert(barrier:lift())
assert(was_set)
print("lifted:  the tables are migrated")
while at_work < 3 do
  os.execute "sleep 0.01" -- or poll workers:fd()
  workers:step()
end

-- Who comes later does not wait.
assert(gate:wait())
print("passes:  who comes later")

workers:close()
session:close()

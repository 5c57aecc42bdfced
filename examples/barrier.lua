--- Workers wait until another process has done its work.
--
-- For migrations and maintenance: no worker uses half of a schema.
-- Lock: barrier. Loop: your own.
-- Run: make example NAME=barrier
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C releases all locks at once

local function need(result, message) -- a failure ends the program
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = need(zklock.connect(hosts))
local workers = need(zklock.connect(hosts)) -- plays other processes

-- Before the migration begins. No session owns the barrier: it outlives this
-- process.
local barrier = session:barrier "/examples/barrier"
need(barrier:set())
print "set:    the tables are migrated"

-- Three workers wait. Each could also block in gate:wait(30).
local gate = workers:barrier "/examples/barrier"
local at_work = 0
for i = 1, 3 do
  gate:wait_async({ timeout = 30 }, function(ok, message)
    need(ok, message)
    at_work = at_work + 1
    print("begins: worker " .. i)
  end)
end

-- A wait can have a timeout.
local lifted, message = gate:wait(0.2)
print("waits:  " .. (lifted and "somebody else has lifted it" or message))

-- The migration is done: all workers continue, and later workers do not wait.
print "lifted: the migration is done"
need(barrier:lift())
while at_work < 3 do
  io.popen("sleep 0.01"):close() -- or poll workers:fd()
  workers:step()
end
need(gate:wait(30))
print "passes: who comes later"

workers:close()
session:close()

-- Prints:
--   set:    the tables are migrated
--   waits:  zklock: timed out after 0.2 s waiting for the barrier /examples/barrier to be lifted
--   lifted: the migration is done
--   begins: worker 1
--   begins: worker 2
--   begins: worker 3
--   passes: who comes later

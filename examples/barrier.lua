--- Workers wait until somebody else's work is done.
--
-- For migrations and maintenance: nobody works with half of a schema.
-- Lock: barrier. Loop: one's own.
-- Run: make example NAME=barrier
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C gives back what is held, at once

local function need(result, message) -- or the program ends, and says why
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = need(zklock.connect(hosts))
local workers = need(zklock.connect(hosts)) -- as other processes would be

-- Before the migration begins. The barrier is nobody's: it stays if we die.
local barrier = session:barrier "/examples/barrier"
need(barrier:set())
print "set:    the tables are migrated"

-- Three workers begin to wait; each could as well block in gate:wait(30).
local gate = workers:barrier "/examples/barrier"
local at_work = 0
for i = 1, 3 do
  gate:wait_async({ timeout = 30 }, function(ok, message)
    need(ok, message)
    at_work = at_work + 1
    print("begins: worker " .. i)
  end)
end

-- Nobody waits longer than it likes.
local lifted, message = gate:wait(0.2)
print("waits:  " .. (lifted and "somebody else has lifted it" or message))

-- The migration is done: all of them go on, and who comes later does not wait.
print "lifted: the migration is done"
need(barrier:lift())
while at_work < 3 do
  io.popen("sleep 0.01"):close() -- or poll workers:fd()
  workers:step()
end
need(gate:wait(5))
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

--- Skip the job if another process runs it: no queue, one node, lowest cost.
--
-- For jobs that need not wait, because any process's run is as good.
-- Lock: mutex with fair = false. Loop: none.
-- Run: make example NAME=skip
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C releases all locks at once

local function need(result, message) -- a failure ends the program
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = need(zklock.connect(hosts))
local other = need(zklock.connect(hosts)) -- plays another process

local function tidy_up(of, work)
  local job = of:mutex("/examples/skip", { fair = false })
  local guard, message, code = job:try_acquire() -- never waits for a holder
  if guard then
    work()
    return guard:release { wait = true } -- waits until the servers confirm it
  elseif code == zklock.errors.busy then
    print("skipped: " .. message)
  else
    need(nil, message)
  end
end

tidy_up(session, function()
  print "we tidy up"
  tidy_up(other, function() print "never two of us" end)
end)
tidy_up(other, function() print "they tidy up, later" end)

other:close()
session:close()

-- Prints:
--   we tidy up
--   skipped: zklock: /examples/skip is taken
--   they tidy up, later

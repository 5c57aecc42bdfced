--- If another one is at it already, skip it: no queue, one node, the cheapest.
--
-- For jobs that need not wait: what runs there is as good as if it ran here.
-- Lock: mutex with fair = false. Loop: none.
-- Run: make example NAME=skip
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C gives back what is held, at once

local function need(result, message) -- or the program ends, and says why
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = need(zklock.connect(hosts))
local other = need(zklock.connect(hosts)) -- as another process would be

local function tidy_up(of, work)
  local job = of:mutex("/examples/skip", { fair = false })
  local guard, message, code = job:try_acquire() -- never waits for a holder
  if guard then
    work()
    return guard:release { wait = true } -- until the servers confirm it
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

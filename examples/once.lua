--- A cluster's cron: all machines start the job, one of them runs it.
--
-- For jobs that are due once in a period. In the shell: zklock run --once-per
-- Lock: once. Loop: none.
-- Run: make example NAME=once
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C releases all locks at once

local function need(result, message) -- a failure ends the program
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = need(zklock.connect(hosts))
-- Each process plays a machine, whose cron starts this. The first one runs the
-- job. The others wait, and find that it was done, by the servers' clock. A run
-- that raises an error, returns nil or false, or loses the lock does not count:
-- the next process tries again.
local function cron(name)
  local ran, result = session:once("/examples/once", {
    per = 10, -- seconds; 3600 or 86400 elsewhere
    timeout = 30,
  }, function()
    io.popen("sleep 0.2"):close() -- the job
    return "done"
  end)
  if ran then
    print(name .. ": the job is " .. result)
  elseif ran == false then
    print(("%s: it was done %.2f s ago"):format(name, result))
  else
    need(nil, result)
  end
  session:close()
end

if arg[2] then return cron(arg[2]) end

local processes = dofile((arg[0]:match ".*/" or "") .. "support/processes.lua")
for line in processes.lines(hosts, { "web1", "web2", "web3" }) do
  print(line)
end
session:close()

-- Prints, in any order:
--   …: the job is done
--   …: it was done 0.01 s ago
--   …: it was done 0.02 s ago

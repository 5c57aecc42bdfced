--- At most a fixed number of jobs at a time, on all machines together.
--
-- For limited resources: heavy reports, licences, connections to a partner.
-- Lock: semaphore. Loop: none.
-- Run: make example NAME=semaphore
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C releases all locks at once

local function need(result, message) -- a failure ends the program
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = need(zklock.connect(hosts))
-- Each process is one job.
local function job(name)
  io.stdout:setvbuf "line"
  local permits = session:semaphore("/examples/semaphore", 2) -- two at a time
  need(permits:with_lock({ timeout = 30 }, function()
    print("begins: " .. name)
    io.popen("sleep 0.3"):close() -- the work
    print("ends:   " .. name)
  end))
  session:close()
end

if arg[2] then return job(arg[2]) end

-- Starts five jobs at once.
local processes = dofile((arg[0]:match ".*/" or "") .. "support/processes.lua")
local running, most = 0, 0
local names = { "job 1", "job 2", "job 3", "job 4", "job 5" }
for line in processes.lines(hosts, names) do
  running = running + (line:find "begins" and 1 or -1)
  most = math.max(most, running)
  print(line)
end
print(("at most %d of %d ran at a time"):format(most, #names))
session:close()

-- Prints, in any order:
--   begins: job 1
--   begins: job 2
--   begins: job 3
--   begins: job 4
--   begins: job 5
--   ends:   job 1
--   ends:   job 2
--   ends:   job 3
--   ends:   job 4
--   ends:   job 5
--   at most 2 of 5 ran at a time

--- SIGTERM, as a deployment sends it: the lock passes on at once.
--
-- For services: without this, a lock passes on only after the session timeout.
-- Lock: mutex. Loop: none.
-- Run: make example NAME=sigterm
local zklock = require "zklock"
zklock.release_on_signal("TERM", "INT", "HUP") -- releases first

local function need(result, message) -- a failure ends the program
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = need(zklock.connect(hosts))
local mutex = session:mutex "/examples/sigterm"

-- A worker process, which gets the signal in the middle of its work.
local function work()
  local guard = need(mutex:acquire(30))
  print "has the lock"
  io.stdout:flush()
  while guard:is_held() do io.popen("sleep 0.1"):close() end
end

if arg[2] then return work() end

local processes = dofile((arg[0]:match ".*/" or "") .. "support/processes.lua")
local worker = processes.start(hosts, "worker")
print("the worker " .. (worker:read() or os.exit(1)))

worker:kill "TERM"
local began = zklock.now()
need(mutex:acquire(30)):release()
local seconds = zklock.now() - began
print(("it was killed; we have the lock %s"):format(
  seconds < 2 and "at once" or ("after %.2f s"):format(seconds)))

session:close()

-- Prints:
--   the worker has the lock
--   it was killed; we have the lock at once

--- Processes begin together and end together: a load test.
--
-- For load tests: all processes run from the first request to the last.
-- Lock: double_barrier. Loop: none.
-- Run: make example NAME=load_test
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C releases all locks at once

local function need(result, message) -- a failure ends the program
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = need(zklock.connect(hosts))
local names = { "1", "2", "3", "4" }
local test = arg[3] or session:id() -- two tests at the same time have two gates

-- One process of the test. (All processes of a machine share the clock of
-- now().)
local function load(name)
  local gate = session:double_barrier("/examples/load_test/" .. test, #names)
  print("come", zklock.now())
  need(gate:enter(30)) -- until all have entered
  print("begin", zklock.now())
  local requests, mutex = 0, session:mutex("/examples/load_test/" .. name)
  local stop = zklock.now() + 0.3
  repeat
    need(mutex:acquire(30)):release() -- the tested operation
    requests = requests + 1
  until zklock.now() > stop
  print("requests", requests)
  print("finish", zklock.now())
  need(gate:leave(30)) -- until all are ready to leave
  print("leave", zklock.now())
  session:close()
end

if arg[2] then return load(arg[2]) end

local processes = dofile((arg[0]:match ".*/" or "") .. "support/processes.lua")
local first, last, requests = {}, {}, 0
for line in processes.lines(hosts, names, test) do
  local what, value = line:match "^(%a+)\t(.+)$"
  value = tonumber(value)
  first[what] = math.min(first[what] or value, value)
  last[what] = math.max(last[what] or value, value)
  if what == "requests" then requests = requests + value end
end

local function tell(what, comparison)
  print(("%s: %s"):format(what, comparison and "yes" or "no"))
end

tell("nobody began before the last one came", first.begin >= last.come)
tell("nobody left before the last one finished", first.leave >= last.finish)
print(("%d requests by %d processes"):format(requests, #names))
session:close()

-- Prints:
--   nobody began before the last one came: yes
--   nobody left before the last one finished: yes
--   … requests by 4 processes

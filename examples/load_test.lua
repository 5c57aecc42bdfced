--- A load test: its processes begin together, and end together.
--
-- Processes take a while to start, each another one.  A double barrier holds
-- back who is early until all are there, so that the load is all there from the
-- first request to the last.
--
--     lua5.4 examples/load_test.lua [hosts [processes [seconds]]]
local zklock = require "zklock"

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local count, seconds = tonumber(arg[2] or 4), tonumber(arg[3] or 0.5)

-- What is tested: here, locks that are taken and given back.
local function request(session, number)
  local mutex = session:mutex("/examples/load_test/lock-of-" .. number)
  assert(mutex:acquire(10)):release()
end

-- One of the processes.  (now() is the same clock in all of this machine.)
local function load(number)
  local session = assert(zklock.connect(hosts))
  local gate = session:double_barrier("/examples/load_test/gate", count)
  local came = zklock.now()
  assert(gate:enter(10)) -- until all are there
  local began, requests = zklock.now(), 0
  repeat
    request(session, number)
    requests = requests + 1
  until zklock.now() > began + seconds
  local done = zklock.now()
  assert(gate:leave(10)) -- until all are done
  print(came, began, requests, done, zklock.now())
  session:close()
end

if arg[4] then return load(arg[4]) end

-- Starts them: this interpreter with this script.
local lua = 0
while arg[lua - 1] do lua = lua - 1 end
local pipes = {}
for i = 1, count do
  pipes[i] = io.popen(('"%s" "%s" "%s" %d %g %d'):format(arg[lua], arg[0],
    hosts, count, seconds, i))
end

local total = 0
local least, most = {}, {} -- of each column
for i, pipe in ipairs(pipes) do
  local row = { pipe:read("*n", "*n", "*n", "*n", "*n") }
  pipe:close()
  assert(#row == 5, "process " .. i .. " has failed")
  for column, value in ipairs(row) do
    least[column] = math.min(least[column] or value, value)
    most[column] = math.max(most[column] or value, value)
  end
  total = total + row[3]
end

local function tell(what, column)
  print(("%s within %7.1f ms"):format(what,
    1000 * (most[column] - least[column])))
end

tell("came  ", 1)
tell("began ", 2)
print(("         %d requests by %d processes, each for %g s"):format(total,
  count, seconds))
tell("done  ", 4)
tell("left  ", 5)

-- Nobody began before all were there, nor left before all were done.
assert(least[2] >= most[1] and least[5] >= most[4])

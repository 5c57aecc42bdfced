--- A cluster's cron: a job that every machine starts, and one of them does.
--
--     lua5.4 examples/once.lua [hosts]
local zklock = require "zklock"

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = assert(zklock.connect(hosts))
local PERIOD = 1 -- a second; 3600 or 86400 elsewhere

-- One of the machines: its cron starts the job far too often, for 2.5 s.
-- (now() is the same clock in all processes of this machine.)
local function cron(name)
  local stop = zklock.now() + 2.5
  while zklock.now() < stop do
    local ran, why, code = session:once("/examples/once/report", {
      per = PERIOD, timeout = 0,
    }, function()
      local began = zklock.now()
      os.execute "sleep 0.1" -- the job
      print(("%.3f %.3f %s"):format(began, zklock.now(), name))
    end)
    -- Nil: another one has the lock, and does it; or there was a problem.
    assert(ran ~= nil or code == zklock.errors.timeout, why)
    os.execute "sleep 0.05"
  end
  session:close()
end

if arg[2] then return cron(arg[2]) end

-- First by hand.  A run that fails does not count: it raises, returns nil or
-- false, or loses the lock meanwhile.
local function backup(fn)
  return session:once("/examples/once/backup", { per = PERIOD }, fn)
end

local ran, result, problem
repeat -- (somebody may have tried this example a moment ago)
  ran, result, problem = backup(function() return nil, "the disk is full" end)
until ran
assert(result == nil)
print("failed:   " .. problem)

ran, result = backup(function(guard) return "done, token " .. guard:token() end)
assert(ran == true)
print("ran:      " .. result)

-- False: it is not due, and did not run.
local seconds
ran, seconds = backup(function() error "never" end)
assert(ran == false and seconds < PERIOD)
print(("not due:  it was done %.3f s ago, %g s are a period"):format(seconds,
  PERIOD))

-- Now three machines: processes with this interpreter and this script.
local lua = 0
while arg[lua - 1] do lua = lua - 1 end
local pipes, runs = {}, {}
for _, name in ipairs { "web1", "web2", "web3" } do
  pipes[name] = io.popen(('"%s" "%s" "%s" %s'):format(arg[lua], arg[0], hosts,
    name))
end
for name, pipe in pairs(pipes) do
  for line in pipe:lines() do
    local began, ended = line:match "^([%d.]+) ([%d.]+) "
    table.insert(runs, { tonumber(began), tonumber(ended), name })
  end
  pipe:close()
end
table.sort(runs, function(a, b) return a[1] < b[1] end)
for i, run in ipairs(runs) do
  print(("by cron:  %s at %.2f s"):format(run[3], run[1] - runs[1][1]))
  -- A period is from one run's end to the next one's begin.  (By the servers'
  -- clock: ours may go a little differently.)
  assert(i == 1 or run[1] - runs[i - 1][2] > 0.9 * PERIOD)
end
assert(#runs >= 2)

session:close()

--- One of the demo's processes: takes the lock, works under it, hands it on.
--
-- It knows nothing of the other processes.  What it does it prints, a line
-- each: the time by a clock that all processes of a machine share, its
-- number, what happened, and more.
local zklock = require "zklock"

local hosts, path, number, directory, pid = ...

local function tell(...)
  io.write(table.concat({ ("%.6f"):format(zklock.now()), number, ... }, " "),
    "\n")
  io.flush()
end

local function nap(seconds)
  os.execute("sleep " .. seconds)
end

-- The witness, which does not believe the library: a baton.  Renaming a file
-- is atomic, so only one process can take the baton; whoever has the lock and
-- finds no baton has met another who thinks the same.
local baton, taken = directory .. "/baton", directory .. "/baton." .. number

local function take_baton()
  if not os.rename(baton, taken) then tell "overlap" end
end

local function return_baton()
  os.rename(taken, baton)
end

local function time_is_up()
  local file = io.open(directory .. "/stop")
  return file ~= nil and file:close()
end

-- A section that takes its time looks now and then whether it is protected.
local function work(guard)
  for _ = 1, math.random(4, 9) do
    nap(0.05)
    if not guard:is_held() then return end
  end
end

local session, problem = zklock.connect(hosts, {
  session_timeout = 2,
  on_event = function(event)
    if event == "suspended" or event == "reconnected" then tell(event) end
  end,
})
if not session then
  tell("fails", problem)
  os.exit(1)
end
local mutex = session:mutex(path)
tell("ready", pid, session:timeout())
math.randomseed(tonumber(pid))

while not time_is_up() do
  nap(math.random(2, 16) / 20)
  tell "waits"
  local guard, message = mutex:acquire()
  if not guard then
    tell("fails", message)
    os.exit(1)
  end
  tell("holds", guard:token())
  take_baton()
  work(guard)
  return_baton()
  tell "leaves"
  if not guard:release() then tell "lost" end
end

session:close()
tell "ends"

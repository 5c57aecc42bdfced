--- A game loop: it has no file descriptor to watch, only frames.  An adapter
-- lets acquire() suspend one script while the game goes on.
--
--     lua5.4 examples/game_loop.lua [hosts]
local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"

-- A game loop: in each frame the tasks that are ready run.
local zklock = require "zklock"
local ready, parked, sessions = {}, {}, {}

local function spawn(fn) table.insert(ready, coroutine.create(fn)) end

local function sleep(seconds) -- nil: until it is woken
  parked[coroutine.running()] = zklock.now() + (seconds or math.huge)
  coroutine.yield()
end

local function wake(task)
  if parked[task] then table.insert(ready, task) end
  parked[task] = nil
end

local adapter = { new = function(session)
  return {
    wait = function(w, timeout) w.task = coroutine.running() sleep(timeout) end,
    wake = function(w) if w.task then wake(w.task) end end,
    arm = function() sessions[session] = true end,
    disarm = function() sessions[session] = nil end,
  }
end }

local function frame()
  for session in pairs(sessions) do -- in a task: callbacks may wait, too
    spawn(function() session:step() end)
  end
  for task, moment in pairs(parked) do
    if zklock.now() >= moment then wake(task) end
  end
  local tasks = ready
  ready = {}
  for _, task in ipairs(tasks) do assert(coroutine.resume(task)) end
end

-- Two players want the same sword, in two sessions, as two processes would.
local frames, players = 0, 2

for player = 1, players do
  spawn(function()
    local session = assert(zklock.connect(hosts, { loop = adapter }))
    local sword = session:mutex "/examples/game_loop/sword"
    local guard = assert(sword:acquire(10))
    print(("player %d has the sword in frame %d, token %s"):format(player,
      frames, guard:token()))
    sleep(0.1)
    guard:release()
    session:close()
    players = players - 1
  end)
end

local has_socket, socket = pcall(require, "socket")
while players > 0 do
  frame()
  frames = frames + 1
  if has_socket then socket.sleep(1 / 60) else os.execute "sleep 0.02" end
end
print(("the game went on for %d frames"):format(frames))
assert(frames >= 5)

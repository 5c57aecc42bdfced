--- Your own loop, here a game's: a wait suspends one script of many.
--
-- For schedulers that zklock does not know: an adapter of four functions. (A
-- loop that can watch file descriptors calls step() when session:fd() is
-- readable.)
-- Lock: mutex. Loop: your own, by an adapter.
-- Run: make example NAME=game_loop

-- A game loop: each frame runs the tasks that are ready.
local zklock = require "zklock"
local ready, parked, sessions = {}, {}, {}

local function spawn(fn) table.insert(ready, coroutine.create(fn)) end

local function sleep(seconds) -- nil: until wake()
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
  for session in pairs(sessions) do -- in a task, because callbacks may wait
    spawn(function() session:step() end)
  end
  for task, moment in pairs(parked) do
    if zklock.now() >= moment then wake(task) end
  end
  local tasks = ready
  ready = {}
  for _, task in ipairs(tasks) do assert(coroutine.resume(task)) end
end

zklock.release_on_signal "INT" -- Ctrl-C releases all locks at once

local function need(result, message) -- a failure ends the program
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

-- Two players want the same sword, in two sessions, which play two processes.
local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local frames, players = 0, 2

for player = 1, players do
  spawn(function()
    local session = need(zklock.connect(hosts, { loop = adapter }))
    local sword = session:mutex "/examples/game_loop/sword"
    local guard = need(sword:acquire(30))
    print(("player %d has the sword in frame %d, with token %s"):format(
      player, frames, guard:token()))
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
  if has_socket then socket.sleep(1 / 60)
  else io.popen("sleep 0.02"):close() end
end
print(("the game went on for %d frames"):format(frames))

-- Prints:
--   player … has the sword in frame …, with token 0000000000000000042
--   player … has the sword in frame …, with token 0000000000000000043
--   the game went on for … frames

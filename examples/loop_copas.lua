--- copas: a wait suspends one thread, the others run.
--
-- For programs with copas, 2.0 or later: zklock detects the loop.
-- Lock: mutex. Loop: copas.
-- Run: make example NAME=loop_copas
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C releases all locks at once

local function need(result, message) -- a failure ends the program
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local has_copas, copas = pcall(require, "copas")
need(has_copas and copas.wakeup,
  "copas is needed, 2.0 or later: copas in luarocks")
local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"

local pause = copas.pause or copas.sleep
local ticks, working = 0, 3

local function work(name, session)
  local guard = need(session:mutex "/examples/copas":acquire(30))
  print(("%s has the lock, after %d ticks of the clock"):format(name, ticks))
  pause(0.03)
  guard:release()
  working = working - 1
end

copas.addthread(function()
  pause(0) -- before copas 4.0, threads start before the loop
  local session = need(zklock.connect(hosts))
  for _, name in ipairs { "one", "two", "three" } do
    copas.addthread(work, name, session)
  end
end)

copas.addthread(function() -- the rest of the program
  while working > 0 do
    pause(0.005)
    ticks = ticks + 1
  end
end)

copas.loop() -- ends when no thread works or waits

-- Prints, in any order:
--   one has the lock, after … ticks of the clock
--   two has the lock, after … ticks of the clock
--   three has the lock, after … ticks of the clock

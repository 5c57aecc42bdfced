--- cqueues: a wait suspends one task, the others run.
--
-- For programs with cqueues, such as those with lua-http: zklock detects the
-- loop.
-- Lock: mutex. Loop: cqueues.
-- Run: make example NAME=loop_cqueues
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C releases all locks at once

local function need(result, message) -- a failure ends the program
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local has_cqueues, cqueues = pcall(require, "cqueues")
need(has_cqueues,
  "cqueues is needed: lua-cqueues in Debian, cqueues in luarocks")
local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"

local controller = cqueues.new()
local ticks, working = 0, 3

local function work(name, session)
  local guard = need(session:mutex "/examples/cqueues":acquire(30))
  print(("%s has the lock, after %d ticks of the clock"):format(name, ticks))
  cqueues.sleep(0.03)
  guard:release()
  working = working - 1
end

controller:wrap(function()
  local session = need(zklock.connect(hosts))
  for _, name in ipairs { "one", "two", "three" } do
    controller:wrap(work, name, session)
  end
end)

controller:wrap(function() -- the rest of the program
  while working > 0 do
    cqueues.sleep(0.005)
    ticks = ticks + 1
  end
end)

assert(controller:loop()) -- ends when no task works or waits

-- Prints, in any order:
--   one has the lock, after … ticks of the clock
--   two has the lock, after … ticks of the clock
--   three has the lock, after … ticks of the clock

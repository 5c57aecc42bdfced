--- How a command ends before its time: what must be undone is undone first.
local exit = require "zklock.cli.exit"
local signals = require "zklock.cli.signals"
local talk = require "zklock.cli.talk"

local leaving = {}

local undoing = {}

--- `fn` before the process ends by `leave`, the last one first. What this
-- returns takes it back.
function leaving.before(fn)
  local entry = { fn = fn }
  undoing[#undoing + 1] = entry
  return function() entry.fn = nil end
end

--- Ends the process from wherever it is: its task may wait for ever.
function leaving.leave(code)
  for i = #undoing, 1, -1 do
    local fn = undoing[i].fn
    undoing[i].fn = nil
    if fn then pcall(fn) end
  end
  talk.finish()
  os.exit(code)
end

local is_heeding = false

--- From now on signals end the command, with 128 and their number.  (A reader
-- that has gone is told by the write that fails.)
function leaving.heed()
  if is_heeding then return end
  is_heeding = true
  leaving.stop = signals.watch("HUP INT TERM", function(number)
    leaving.leave(exit.of_signal(number))
  end)
  signals.watch("PIPE", function() end)
end

return leaving

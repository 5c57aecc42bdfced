--- Ends a command early, after it has undone what must be undone.
local exit = require "zklock.cli.exit"
local signals = require "zklock.cli.signals"
local talk = require "zklock.cli.talk"

local leaving = {}

local undoing = {}

--- Calls `fn` before `leave` ends the process, in reverse order of the calls of
-- `before`. Returns a function that cancels this.
function leaving.before(fn)
  local entry = { fn = fn }
  undoing[#undoing + 1] = entry
  return function() entry.fn = nil end
end

--- Ends the process from anywhere, because its task can wait for ever.
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

--- Makes signals end the command from now on, with exit code 128 plus their
-- number. If the reader of the command's output is gone, a write fails and ends
-- the command.
function leaving.heed()
  if is_heeding then return end
  is_heeding = true
  leaving.stop = signals.watch("HUP INT TERM", function(number)
    leaving.leave(exit.of_signal(number))
  end)
  signals.watch("PIPE", function() end)
end

return leaving

--- Ends a command early. First calls the registered cleanup functions, for
-- example the one that closes the session.
local exit = require "zklock.cli.exit"
local signals = require "zklock.cli.signals"
local talk = require "zklock.cli.talk"

local leaving = {}

local undoing = {}

--- Registers `fn`, which leaving.leave() calls before it ends the process. The
-- functions are called in reverse order of their registration. Returns a
-- function that unregisters `fn`.
function leaving.before(fn)
  local entry = { fn = fn }
  undoing[#undoing + 1] = entry
  return function() entry.fn = nil end
end

--- Calls the registered functions, and ends the process with the exit code
-- `code`. Can be called in any callback, even while the command's task is
-- suspended.
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

--- From now on, HUP, INT and TERM end the command, with exit code 128 + number.
-- SIGPIPE does not end it. Instead, a write to a pipe without a reader fails,
-- and this failure ends the command.
function leaving.heed()
  if is_heeding then return end
  is_heeding = true
  leaving.stop = signals.watch("HUP INT TERM", function(number)
    leaving.leave(exit.of_signal(number))
  end)
  signals.watch("PIPE", function() end)
end

return leaving

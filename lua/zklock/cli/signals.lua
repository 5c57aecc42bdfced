--- Signals: calls functions for signals, in luv's loop.
local guardian = require "zklock.guardian"
local uv = require "luv"

local signals = {}

function signals.number_of(name) return uv.constants["SIG" .. name] end

--- Returns the name of a signal: "SIGTERM" for 15.
function signals.name_of(number)
  for name, value in pairs(uv.constants) do
    if value == number and name:find "^SIG%u" then return name end
  end
end

--- Calls `fn(number)` at each of these signals ("TERM INT …"), except signals
-- that were ignored when the process started.
function signals.watch(names, fn)
  for name in names:gmatch "%S+" do
    local number = signals.number_of(name)
    if not guardian.keep_ignored(number) then
      local handle = uv.new_signal()
      handle:start(number, function() fn(number) end)
      handle:unref()
    end
  end
end

return signals

--- Signals: calls functions for signals, in luv's loop.
local guardian = require "zklock.guardian"
local load = require "zklock.cli.load"

local uv = load "luv"
local signals = {}

local function number_of(name) return uv.constants["SIG" .. name] end

signals.number_of = number_of

--- Returns the name of a signal: "SIGTERM" for 15.
function signals.name_of(number)
  for name, value in pairs(uv.constants) do
    if value == number and name:find "^SIG%u" then return name end
  end
end

--- Calls `fn(number)` at each of these signals ("TERM INT …"), except signals
-- that were ignored when the process started. Returns a function that stops the
-- calls and restores the former effect of the signals.
function signals.watch(names, fn)
  local handles = {}
  for name in names:gmatch "%S+" do
    local number = number_of(name)
    if not guardian.keep_ignored(number) then
      local handle = uv.new_signal()
      handle:start(number, function() fn(number) end)
      handle:unref()
      handles[#handles + 1] = handle
    end
  end
  return function()
    for _, handle in ipairs(handles) do
      if not handle:is_closing() then handle:close() end
    end
  end
end

return signals

--- Exploring mode (schedule.h): the setting of the whole run, and another one
-- for a part of a test.
local virtual = require "zklock.virtual"

local exploration = {}

--- Sets what SPEC_SWITCHES says.
function exploration.reset()
  virtual.explore { switches = tonumber(os.getenv "SPEC_SWITCHES") or 0 }
end

--- Calls `run` with these settings of virtual.explore.
function exploration.during(settings, run)
  virtual.explore(settings)
  local ok, message = pcall(run)
  exploration.reset()
  if not ok then error(message, 0) end
end

return exploration

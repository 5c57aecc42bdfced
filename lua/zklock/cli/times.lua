--- Times: measures how long each step of `zklock run` takes, and prints it with
-- `-v`.
local now = require "zklock".now
local talk = require "zklock.cli.talk"

local Times = {}
Times.__index = Times

--- Starts the measurement: the first step begins now. `is_verbose`: whether to
-- print the times.
function Times.new(is_verbose)
  local begun = now()
  return setmetatable({ is_verbose = is_verbose, begun = begun, last = begun },
    Times)
end

--- Returns the seconds since the measurement began.
function Times:elapsed() return now() - self.begun end

--- Ends a step, and prints how long it took. `what`: text such as "granted in";
-- nil prints nothing.
function Times:mark(what)
  local moment = now()
  if what and self.is_verbose then
    talk.say("%s %.1f ms", what, (moment - self.last) * 1000)
  end
  self.last = moment
end

return Times

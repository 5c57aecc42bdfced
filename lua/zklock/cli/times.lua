--- With `-v`: where the time went.
local now = require "zklock".now
local talk = require "zklock.cli.talk"

local Times = {}
Times.__index = Times

--- Begins now.
function Times.new(is_verbose)
  local begun = now()
  return setmetatable({ is_verbose = is_verbose, begun = begun, last = begun },
    Times)
end

--- Seconds since the beginning.
function Times:elapsed() return now() - self.begun end

--- Something was done, "granted in": says how long that took since what was
-- done before.  Nil: somebody else has said it.
function Times:mark(what)
  local moment = now()
  if what and self.is_verbose then
    talk.say("%s %.1f ms", what, (moment - self.last) * 1000)
  end
  self.last = moment
end

return Times

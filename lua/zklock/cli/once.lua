--- `--once-per`: of many hosts one runs in each period.  The library keeps the
-- books: zklock/once.lua.
local books = require "zklock.once"
local exit = require "zklock.cli.exit"
local talk = require "zklock.cli.talk"

local once = {}

--- Is the last successful run a period ago, or is there none?  And how many
-- seconds ago it was, by the servers' clock.
function once.is_due(session, guard, period)
  local is_due, age, code = books.is_due(session, guard, period)
  if is_due ~= nil then return is_due, age end
  if code == "lost" then
    exit.fail("lost", "the hold of %s was lost", guard.path)
  end
  exit.refuse(age, code)
end

--- Notes a successful run.
function once.note(session, guard, data)
  local ok, message = books.note(session, guard, data)
  if not ok then
    talk.say("the run could not be noted, so the next one is not spared: %s",
      talk.bare(message))
  end
end

return once

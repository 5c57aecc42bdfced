--- `--once-per`: of many hosts one runs in each period.  PATH.once, a
-- persistent node beside the lock, is written anew at each successful run.  Its
-- mtime and the ctime of our own node in the queue are both the servers' clock.
local await = require "zklock.cli.await"
local exit = require "zklock.cli.exit"
local talk = require "zklock.cli.talk"

local once = {}

local function path_of(guard) return guard.path .. ".once" end

local AGAIN = 0.1 -- seconds

-- What `method` of the session answers; it is asked again while there is no
-- connection, as long as the lock is ours.
local function ask(session, guard, method, ...)
  while true do
    local answer, message, code = session[method](session, ...)
    if answer ~= nil or code ~= "disconnected" or not guard:is_held() then
      return answer, message, code
    end
    await.seconds(AGAIN)
  end
end

local function stat(session, guard, path)
  local answer, message, code = ask(session, guard, "stat", path)
  if answer == nil then exit.refuse(message, code) end
  return answer
end

--- Is the last successful run a period ago, or is there none?  And how many
-- seconds ago it was, by the servers' clock.
function once.is_due(session, guard, period)
  local last = stat(session, guard, path_of(guard))
  if not last then return true end
  local ours = stat(session, guard, guard.node)
  if not ours then exit.fail("lost", "%s was lost", guard.path) end
  local age = ours.created - last.modified
  return age >= period, age
end

--- Notes a successful run.
function once.note(session, guard, data)
  local ok, message = ask(session, guard, "stamp", path_of(guard), data)
  if not ok then
    talk.say("the run could not be noted: %s", talk.bare(message))
  end
end

return once

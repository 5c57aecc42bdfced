--- `--once-per`: in each period, only one of many hosts runs the command.
-- zklock/once.lua manages the *note*: the node that records the last successful
-- run.
local books = require "zklock.once"
local core = require "zklock.core"
local exit = require "zklock.cli.exit"
local talk = require "zklock.cli.talk"

local once = {}

-- Warns that the recorded time of the last successful run is in the future. The
-- cause: a server's clock is or was wrong.
local function warn(path, seconds, is_due)
  talk.say("%s lies %.0f s in the future: a server's clock is or was wrong. %s",
    books.book_of(path), seconds, is_due and "The command is run"
      or "The command is not run until it is due by the current clock. To run "
      .. "it earlier: zklock forget " .. path)
end

--- Returns whether the command is due: there was no successful run within the
-- last period. Also returns the age of the last successful run, in seconds of
-- the servers' clock. If the request fails, zklock exits with an error.
function once.is_due(session, guard, period)
  local is_due, age, code = books.is_due(session, guard, period)
  if is_due ~= nil then
    if age and age < 0 then warn(guard.path, -age, is_due) end
    return is_due, age
  end
  if code == "lost" then
    exit.fail("lost", "the hold of %s was lost", guard.path)
  end
  exit.refuse(age, code)
end

--- Records a successful run. If the record cannot be written, prints a message.
function once.note(session, guard, data)
  local ok, message = books.note(session, guard, data)
  if not ok then
    talk.say("the run could not be noted, so the next one is not spared: %s",
      talk.bare(message))
  end
end

--- Returns the last successful run as a row of `zklock ls`. Returns nil if no
-- run is recorded, or if the session may not read the record. `path`: the path
-- of the lock.
function once.last(session, path)
  local node = books.book_of(path)
  if core.check_path(node) then return nil end
  local stat, message, code = session:stat(node, true)
  if stat == nil and code ~= "denied" then exit.refuse(message, code) end
  if type(stat) ~= "table" or stat.kind ~= "persistent" or stat.children > 0
    or stat.size == 0
  then
    return nil
  end
  return { path = path, node = node:match "[^/]*$", mode = "once",
    holds = false, done = stat.modified, data = stat.data,
    size = not stat.data and stat.size or nil }
end

return once

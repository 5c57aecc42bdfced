--- Visit: code that the operators' commands share, for example ls and evict.
local check = require "zklock.check"
local connect = require "zklock.cli.connect"
local exit = require "zklock.cli.exit"
local guardian = require "zklock.guardian"
local signals = require "zklock.cli.signals"
local talk = require "zklock.cli.talk"
local zklock = require "zklock"

local visit = {}

--- Fails if `path` is not a valid path. `may_be_root`: "/" is allowed.
function visit.check_path(path, may_be_root)
  if path ~= "/" then
    check.path(path, "PATH")
  elseif not may_be_root then
    exit.fail("usage", "/ is not the path of a lock: 'zklock ls -R /' shows "
      .. "every lock")
  end
end

--- Prepares the process: when HUP, INT or TERM ends it, zklock closes its
-- sessions. SIGPIPE does not end it. Instead, a write to a pipe without a
-- reader fails, and this failure ends the command.
function visit.begin(request)
  visit.check_path(request.path, request.recursive)
  guardian.keep_ignored(signals.number_of "INT") -- Lua has set a handler
  zklock.release_on_signal("HUP", "INT", "TERM")
  signals.watch("PIPE", function() end)
  talk.begin()
end

--- Connects, calls `work(session)`, and returns its result.
function visit.servers(request, work)
  visit.begin(request)
  return work(connect(request))
end

--- Returns its arguments. If the first argument is nil, ends the command with
-- the message and the code in the next two arguments.
function visit.answer(answer, ...)
  if answer == nil then exit.refuse(...) end
  return answer, ...
end

return visit

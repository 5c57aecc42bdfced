--- Visit: code that the operators' commands share, for example ls and evict.
-- Each command opens a session. zklock closes the session when the command
-- ends, even if a signal ends it.
local check = require "zklock.check"
local connect = require "zklock.cli.connect"
local exit = require "zklock.cli.exit"
local leaving = require "zklock.cli.leaving"
local output = require "zklock.cli.output"
local talk = require "zklock.cli.talk"

local visit = {}

--- Fails if `path` is not a valid path. `may_be_root`: "/" is allowed.
function visit.check_path(path, may_be_root)
  if path == "/" and not may_be_root then
    exit.fail("usage", "/ is not the path of a lock: 'zklock ls -R /' shows "
      .. "every lock")
  end
  local of = may_be_root and check.place or check.path
  of(path, "PATH")
end

--- Connects, calls `work(session)`, closes the session, and returns the result
-- of `work`.
function visit.servers(request, work)
  if request.path then visit.check_path(request.path, request.recursive) end
  leaving.heed()
  talk.begin()
  local session = connect(request)
  leaving.before(function() session:close() end)
  local ok, outcome = xpcall(work, exit.explain, session)
  session:close()
  output.finish()
  if not ok then error(outcome, 0) end
  return outcome
end

--- Returns its arguments. If the first argument is nil, ends the command with
-- the message and the code in the next two arguments.
function visit.answer(answer, ...)
  if answer == nil then exit.refuse(...) end
  return answer, ...
end

return visit

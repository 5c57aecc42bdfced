--- Exit: the exit codes, and functions that end a command with an exit code.
-- The codes are those of sysexits.h, or those of shells for the same event.
local talk = require "zklock.cli.talk"

local exit = {}

exit.codes = {
  ok = 0,
  usage = 64,         -- the arguments cannot be understood
  unavailable = 69,   -- no connection to a server
  internal = 70,      -- a bug in zklock
  unwritable = 74,    -- standard output cannot be written
  not_granted = 75,   -- the lock was not granted in time: try again later
  lost = 76,          -- the lock was lost while the command ran
  refused = 77,       -- the credentials or an ACL forbid the request
  configuration = 78, -- a settings file is wrong
  not_executable = 126,
  not_found = 127,
}

--- Returns the exit code for a process that a signal has ended: 128 + number.
function exit.of_signal(number) return 128 + number end

local Failure = {}

Failure.__tostring = function(self) return self.message end

local function failure(code, message)
  return setmetatable({ code = exit.codes[code] or code, message = message },
    Failure)
end

--- Ends the command by an error. zklock then prints the message, and exits with
-- `code`, a name in `exit.codes` or a number.
function exit.fail(code, message, ...)
  if select("#", ...) > 0 then message = message:format(...) end
  error(failure(code, message), 0)
end

--- Prints text on standard output and ends the process. Must be called before
-- the command's task is created, because it does not clean up after a task.
function exit.answer(text)
  local ok, problem = io.stdout:write(text, "\n")
  if ok then ok, problem = io.stdout:flush() end
  if not ok then
    talk.say("cannot write: %s", problem)
    os.exit(exit.codes.unwritable)
  end
  os.exit(exit.codes.ok)
end

--- Converts an error of the command to a Failure, which has an exit code.
-- Except after Ctrl-C, it also has a message. Used as the handler of xpcall.
function exit.explain(problem)
  if getmetatable(problem) == Failure then return problem end
  local text = tostring(problem)
  -- Until zklock sets its own handler, the interpreter's handler of SIGINT
  -- raises this error.
  if text:find "interrupted!$" then return failure(exit.of_signal(2)) end
  -- The library raises an error for misuse of its API. The command uses the API
  -- correctly, so a wrong argument of the command line is the cause.
  local misuse = text:match "^[^\n]-:%d+: zklock: ([^\n]*)$"
  if misuse then return failure("usage", misuse) end
  return failure("internal", debug.traceback("internal error: " .. text, 2))
end

-- Maps error codes of the library to names of exit codes.
local of_refusal = {
  timeout = "not_granted", busy = "not_granted",
  conflict = "not_granted",
  lost = "lost", auth = "refused", denied = "refused", invalid = "usage",
  deadlock = "usage",
}

--- Ends the command with an error of the library: the message and code of `nil,
-- message, code`.
function exit.refuse(message, code)
  exit.fail(of_refusal[code] or "unavailable", "%s", talk.bare(message))
end

return exit

--- Ends the process when the command's task has ended, or when a signal ends
-- the task early.
local guardian = require "zklock.guardian"
local signals = require "zklock.cli.signals"
local stream = require "zklock.cli.stream"
local uv = require "luv"
local zklock = require "zklock"

--- `sessions`: the sessions that leaving.finish closes. `code`: the exit code,
-- once it is known.
local leaving = { sessions = {} }

--- Makes the process end with the exit code `code`. `number`: the signal that
-- has ended the command, or nil. Only the first call has an effect.
function leaving.leave(code, number)
  if not leaving.code then leaving.code, leaving.signal = code, number end
  uv.stop()
end

--- Closes the sessions and ends the process. Must not be called by callbacks of
-- the loop. After Ctrl-C in a terminal, the process kills itself with SIGINT
-- instead of exiting. A shell that runs a script then notices the Ctrl-C and
-- ends the script.
function leaving.finish()
  for _, session in ipairs(leaving.sessions) do session:close() end
  -- os.exit would wait for the threads that write.
  if not stream.finish() then guardian.exit(leaving.code) end
  if leaving.signal == signals.number_of "INT" and uv.guess_handle(0) == "tty"
  then
    zklock.release_on_signal "INT" -- waits until the sessions are closed
    uv.kill(uv.guess_handle(1) == "tty" and 0 or uv.os_getpid(), "sigint")
  end
  os.exit(leaving.code)
end

return leaving

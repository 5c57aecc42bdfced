--- Standard output.  A reader that is slow or unresponsive must not keep the
-- loop from signals.  A reader that has gone ends the command, quietly.
local await = require "zklock.cli.await"
local exit = require "zklock.cli.exit"
local leaving = require "zklock.cli.leaving"
local uv = require "luv"
local Writer = require "zklock.cli.writer"

local output = {}

local SIGPIPE = 13

local writer, sentinel

local function leave() leaving.leave(exit.of_signal(SIGPIPE)) end

-- The end of a pipe that is written to becomes readable when the other one is
-- closed.  luv reads from no such end, but from a stream that it takes for a
-- socket; and its polls write to stderr.  (On a description of our own, which
-- alone does not block.)
local function watch_reader()
  local flags = uv.constants.O_WRONLY + uv.constants.O_NONBLOCK
  local fd = uv.fs_open("/dev/stdout", flags, 0)
  sentinel = uv.new_tcp()
  if fd and sentinel:open(fd) and sentinel:read_start(leave) then
    sentinel:unref()
  end
end

--- From now on a reader that goes ends the command, which may have nothing to
-- write for long.
function output.heed()
  if writer then return end
  writer = Writer.new(1)
  if uv.guess_handle(1) == "pipe" then watch_reader() end
end

local function check(problem)
  if not problem then return end
  if tostring(problem):find "EPIPE" then leave() end
  exit.fail("unwritable", "cannot write: %s", problem)
end

local failure -- of a `put`

--- Fails if a `put` has failed.
function output.check() check(failure) end

--- Writes the text, and waits until it is written.
function output.write(text)
  output.heed()
  check(await.call(function(go_on) writer:write(text, go_on) end))
end

function output.line(text) output.write(text .. "\n") end

--- Writes the text without waiting, then calls `go_on`, if given.  `check`
-- fails if this has failed.
function output.put(text, go_on)
  output.heed()
  writer:write(text, function(problem)
    failure = failure or problem
    if go_on then go_on() end
  end)
end

--- Has everything been written?
function output.is_idle() return not writer or writer:is_idle() end

return output

--- Standard output.  A reader that is slow, or stands still, must not keep us
-- from hearing signals: so a pipe is written to through a description of our
-- own, which does not block and is nobody else's.  A reader that has gone ends
-- the command, quietly.
local await = require "zklock.cli.await"
local exit = require "zklock.cli.exit"
local leaving = require "zklock.cli.leaving"
local uv = require "luv"

local output = {}

local SIGPIPE = 13

local pipe, sentinel -- on descriptions of our own; false: there is none

local function leave() leaving.leave(exit.of_signal(SIGPIPE)) end

local function open()
  local flags = uv.constants.O_WRONLY + uv.constants.O_NONBLOCK
  return uv.fs_open("/dev/stdout", flags, 0)
end

-- A stream of luv's on a pipe of that name.
local function open_stream(stream)
  local fd = open()
  return fd and stream:open(fd) and stream or false
end

-- Whoever reads from the end that is written to hears when the other one is
-- closed.  luv lets nobody try with a pipe, but with a stream that it takes for
-- a socket; and its polls say something on stderr.
local function watch_reader()
  sentinel = open_stream(uv.new_tcp())
  if sentinel and sentinel:read_start(leave) then sentinel:unref() end
end

--- From now on a reader that goes ends the command, which may have nothing to
-- say for long.
function output.heed()
  if pipe ~= nil then return end
  pipe = uv.guess_handle(1) == "pipe" and open_stream(uv.new_pipe(false))
  if pipe then watch_reader() end
end

local function check(problem)
  if not problem then return end
  if tostring(problem):find "EPIPE" then leave() end
  exit.fail("unwritable", "cannot write: %s", problem)
end

--- Writes it all.
function output.write(text)
  output.heed()
  if pipe then
    return check(await.call(function(go_on) pipe:write(text, go_on) end))
  end
  local at = 1
  while at <= #text do
    local written, problem = uv.fs_write(1, text:sub(at), -1)
    at = at + (written or 0)
    if not (written or problem:find "EINTR") then check(problem) end
  end
end

function output.line(text) output.write(text .. "\n") end

return output

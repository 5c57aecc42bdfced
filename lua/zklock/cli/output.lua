--- Standard output. A separate thread writes it: a slow reader of a pipe must
-- not block the loop, which processes signals. If the reader has closed the
-- pipe, the command ends without a message.
local await = require "zklock.cli.await"
local exit = require "zklock.cli.exit"
local guardian = require "zklock.guardian"
local leaving = require "zklock.cli.leaving"
local uv = require "luv"

local output = {}

local SIGPIPE = 13
local PACE = 0.005      -- seconds between two checks for room
local PATIENCE = 1000   -- milliseconds to wait for the last writes

local writer -- the thread that writes; false: could not start
local sentinel

local function leave() leaving.leave(exit.of_signal(SIGPIPE)) end

-- Ends the command when the reader of the pipe has closed it. The pipe's write
-- end then becomes readable. luv can watch a write end for this only as a TCP
-- handle; its poll handles would write to stderr. luv makes the handle's file
-- description non-blocking. So zklock opens the pipe again, and gives luv this
-- separate file description.
local function watch_reader()
  local flags = uv.constants.O_WRONLY + uv.constants.O_NONBLOCK
  local fd = uv.fs_open("/dev/stdout", flags, 0)
  sentinel = uv.new_tcp()
  if fd and sentinel:open(fd) and sentinel:read_start(leave) then
    sentinel:unref()
  end
end

--- Starts the thread that writes. From now on the command ends when the reader
-- of its output is gone, even if it writes nothing.
function output.heed()
  if writer ~= nil then return end
  writer = guardian.writer(1) or false
  leaving.before(output.flush)
  if uv.guess_handle(1) == "pipe" then watch_reader() end
end

local function check(problem)
  if not problem then return end
  if problem:find "EPIPE" or problem:find "Broken pipe" then leave() end
  exit.fail("unwritable", "cannot write: %s", problem)
end

local function write_here(text)
  while text ~= "" do
    local written, problem = uv.fs_write(1, text, -1)
    text = text:sub((written or 0) + 1)
    if not (written or problem:find "EINTR") then check(problem) end
  end
end

--- Returns whether everything is written. Fails if a write has failed.
function output.is_idle()
  if not writer then return true end
  local is_idle, problem = guardian.is_idle(writer)
  check(problem)
  return is_idle
end

--- Writes the text. If there is no room for it, waits until there is.
function output.write(text)
  output.heed()
  if not writer then return write_here(text) end
  while true do
    output.is_idle()
    text = text:sub(guardian.take(writer, text) + 1)
    if text == "" then return end
    await.seconds(PACE)
  end
end

function output.line(text) output.write(text .. "\n") end

--- Writes the text if there is room for it; otherwise drops the text.
function output.put(text)
  output.heed()
  if not writer then return write_here(text) end
  guardian.take(writer, text, true)
end

--- Suspends the task until everything is written.
function output.finish()
  while not output.is_idle() do await.seconds(PACE) end
end

--- Waits until everything is written, for PATIENCE at most. Blocks the loop.
function output.flush()
  if writer then guardian.finish(writer, PATIENCE) end
end

return output

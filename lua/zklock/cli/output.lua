--- Standard output. If the reader of a pipe has ended, the command ends without
-- a message.
local await = require "zklock.cli.await"
local exit = require "zklock.cli.exit"
local leaving = require "zklock.cli.leaving"
local stream = require "zklock.cli.stream"

local output = {}

local SIGPIPE = 13

--- Suspends the task until the text is written. Fails if it cannot be written.
function output.write(text)
  local problem = await.call(function(done) stream.write(1, text, done) end)
  if not problem then return end
  if problem:find "^EPIPE" then
    leaving.leave(exit.of_signal(SIGPIPE))
    coroutine.yield() -- for ever
  end
  exit.fail("unwritable", "cannot write: %s", problem)
end

function output.line(text) output.write(text .. "\n") end

return output

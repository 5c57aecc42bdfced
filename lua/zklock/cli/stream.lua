--- Writes to standard output and standard error. A write can block: on a full
-- pipe, or on a terminal that Ctrl-S has stopped. So luv's threads write, and
-- the loop continues, which processes signals and the lock.
local await = require "zklock.cli.await"
local uv = require "luv"

local stream = {}

local RETRY = 0.02    -- seconds until a write is tried again
local PATIENCE = 1000 -- milliseconds to wait for the last writes

local open = 0 -- the number of texts that are not yet written

--- Writes the text, and then calls `done(problem)`. `problem`: a message, or
-- nil.
function stream.write(descriptor, text, done)
  open = open + 1
  local function go_on()
    uv.fs_write(descriptor, text, -1, function(problem, written)
      text = text:sub((written or 0) + 1)
      if problem and problem:find "^EAGAIN" then
        -- Another process has made the descriptor non-blocking.
        await.after(RETRY, go_on)
      elseif problem or text == "" then
        open = open - 1
        done(problem)
      else
        go_on()
      end
    end)
  end
  go_on()
end

--- Runs the loop until all texts are written, for PATIENCE at most. Returns
-- whether they are.
function stream.finish()
  local timer, is_over = uv.new_timer(), false
  timer:start(PATIENCE, 0, function() is_over = true end)
  while open > 0 and not is_over do uv.run "once" end
  timer:close()
  return open == 0
end

return stream

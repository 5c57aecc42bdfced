--- Writes to a descriptor that other processes share, and that may block for as
-- long as they like: a full pipe, a terminal that Ctrl-S has stopped.  A thread
-- of luv's pool writes one text after the other while the loop goes on.
local uv = require "luv"

local Writer = {}
Writer.__index = Writer

local RETRY, PATIENCE = 20, 1000 -- milliseconds

local writers = {}

function Writer.new(descriptor)
  local self = setmetatable({ descriptor = descriptor, queue = {}, size = 0 },
    Writer)
  writers[#writers + 1] = self
  return self
end

--- Is everything written?
function Writer:is_idle() return self.size == 0 end

--- Writes the text after those before it, then calls `done(problem)`.
function Writer:write(text, done)
  if text == "" then return done and done() end
  self.queue[#self.queue + 1] = { text = text, done = done }
  self.size = self.size + #text
  if #self.queue == 1 then self:proceed() end
end

function Writer:proceed()
  local entry = self.queue[1]
  if not entry then return end
  uv.fs_write(self.descriptor, entry.text, -1, function(problem, written)
    self:on_written(entry, problem, written)
  end)
end

function Writer:on_written(entry, problem, written)
  -- Another process may have made the descriptor one that does not block.
  if problem and problem:find "EAGAIN" then
    local timer = uv.new_timer()
    timer:start(RETRY, 0, function()
      timer:close()
      self:proceed()
    end)
    return
  end
  local gone = problem and #entry.text or written
  self.size = self.size - gone
  entry.text = entry.text:sub(gone + 1)
  if entry.text ~= "" then return self:proceed() end
  table.remove(self.queue, 1)
  self:proceed()
  if entry.done then entry.done(problem) end
end

--- Runs the loop until all writers are idle, for one second at most.  False: a
-- descriptor blocks, and `os.exit` would wait for the thread that writes to it.
-- Not in a callback.
function Writer.flush()
  local function is_idle()
    for _, writer in ipairs(writers) do
      if not writer:is_idle() then return false end
    end
    return true
  end
  local timer, is_over = uv.new_timer(), false
  timer:start(PATIENCE, 0, function() is_over = true end)
  while not is_over and not is_idle() do uv.run "once" end
  timer:close()
  return is_idle()
end

return Writer

--- The client of `zklock run`'s guardian (src/guardian/guardian.h). The
-- guardian is a process that starts the command. It ends the command before
-- another client can be granted the lock.
local guardian = require "zklock.guardian"
local uv = require "luv"

local GuardianClient = {}
GuardianClient.__index = GuardianClient

--- Forks the guardian, and returns an object that talks to it; or nil and a
-- message. `words`: the command. Calls `heard(word, detail)` for each line of
-- the guardian, such as "exited 0". Calls `heard "gone"` when the guardian has
-- ended.
function GuardianClient.start(words, heard)
  local descriptor, problem = guardian.start(words)
  if not descriptor then return nil, problem end
  local self = setmetatable({ pipe = uv.new_pipe(false) }, GuardianClient)
  local rest = ""
  self.pipe:open(descriptor)
  self.pipe:read_start(function(_, bytes)
    if not bytes then
      self.pipe:close()
      return heard "gone"
    end
    rest = (rest .. bytes):gsub("(%S+) ?([^\n]*)\n", function(word, detail)
      heard(word, detail)
      return ""
    end)
  end)
  return self
end

--- Sends a line to the guardian.
function GuardianClient:say(format, ...)
  if not self.pipe:is_closing() then
    self.pipe:write(format:format(...) .. "\n")
  end
end

--- Extends the lease of the command to `moment`, by the clock of zklock.now. If
-- no later call extends the lease, the guardian begins to end the command
-- `margin` seconds before `moment`. Sends nothing if the guardian has not read
-- the last message.
function GuardianClient:lease(moment, margin)
  if not self.pipe:is_closing() and self.pipe:get_write_queue_size() == 0 then
    self:say("lease %.0f %.0f", moment * 1e9, margin * 1e9)
  end
end

return GuardianClient

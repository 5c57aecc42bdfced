--- The guardian of `zklock run` (src/guardian/guardian.h): a process that
-- starts the command, and does not let it outlive the lock.
local guardian = require "zklock.guardian"
local load = require "zklock.cli.load"

local uv = load "luv"

local GuardianClient = {}
GuardianClient.__index = GuardianClient

--- Forks the guardian, or returns nil and a message. `plan` has words, path,
-- holder, grace and max_hold. `on` has a function for each message of the
-- guardian, such as "started" and "stopped". `on.gone` is called when the
-- guardian ends.
function GuardianClient.start(plan, on)
  local descriptor, problem = guardian.start(plan)
  if not descriptor then return nil, problem end
  local self = setmetatable({ on = on, rest = "" }, GuardianClient)
  self.pipe = uv.new_pipe(false)
  self.pipe:open(descriptor)
  self.pipe:read_start(function(_, bytes) self:hear(bytes) end)
  return self
end

function GuardianClient:hear(bytes)
  if not bytes then
    self.pipe:close()
    self.on.gone()
    return
  end
  self.rest = self.rest .. bytes
  self.rest = self.rest:gsub("([^\n]*)\n", function(line)
    local word, detail = line:match "^(%S+) ?(.*)$"
    local fn = self.on[word]
    if fn then fn(detail) end
    return ""
  end)
end

function GuardianClient:say(format, ...)
  if not self.pipe:is_closing() then
    self.pipe:write(format:format(...) .. "\n")
  end
end

--- Tells the guardian to start the command: the guard with this token is held.
function GuardianClient:run(token) self:say("run %s", token) end

--- Extends the lease to this time of zklock's clock. Without a further
-- extension the guardian begins to end the command `margin` seconds earlier. If
-- the guardian has not read the last extension, a new one is not sent.
function GuardianClient:lease(moment, margin)
  if not self.pipe:is_closing() and self.pipe:get_write_queue_size() == 0 then
    self:say("lease %.0f %.0f", moment * 1e9, margin * 1e9)
  end
end

function GuardianClient:signal(number) self:say("signal %d", number) end

--- Ends the command with SIGTERM, and with SIGKILL after the grace.
function GuardianClient:finish() self:say "end" end

--- Stops this process as Ctrl-Z does, until it is continued.
function GuardianClient:stop()
  guardian.stop()
  self:go_on()
end

--- Kills what is left of the command when the guardian is gone. The argument is
-- the command's process group. Returns whether a process is left, and whether
-- one is left that may not be signalled.
GuardianClient.kill_rest = guardian.kill_rest

function GuardianClient:go_on() self:say "continue" end

return GuardianClient

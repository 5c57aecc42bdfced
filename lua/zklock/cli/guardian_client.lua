--- The client of `zklock run`'s guardian (src/guardian/guardian.h). The
-- guardian is a process that starts the command. It ends the command before
-- another client can be granted the lock.
local guardian = require "zklock.guardian"
local load = require "zklock.cli.load"

local uv = load "luv"

local GuardianClient = {}
GuardianClient.__index = GuardianClient

--- Forks the guardian, and returns an object that talks to it; or nil and a
-- message. `plan`: `{ words =, path =, holder =, grace =, max_hold = }`. `on`:
-- a table with a function for each message of the guardian, such as "started"
-- or "stopped". `on.gone` is called when the guardian has ended.
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

--- Tells the guardian to start the command, after the lock was granted.
-- `token`: the fencing token of the hold, for the command's environment.
function GuardianClient:run(token) self:say("run %s", token) end

--- Extends the lease of the command to `moment`, by the clock of zklock.now. If
-- no later call extends the lease, the guardian begins to end the command
-- `margin` seconds before `moment`. Sends nothing if the guardian has not read
-- the last message.
function GuardianClient:lease(moment, margin)
  if not self.pipe:is_closing() and self.pipe:get_write_queue_size() == 0 then
    self:say("lease %.0f %.0f", moment * 1e9, margin * 1e9)
  end
end

function GuardianClient:signal(number) self:say("signal %d", number) end

--- Tells the guardian to end the command: with SIGTERM, and after the grace
-- period with SIGKILL.
function GuardianClient:finish() self:say "end" end

--- Stops this process, as Ctrl-Z does; returns when it is continued.
function GuardianClient:stop()
  guardian.stop()
  self:go_on()
end

--- Kills the remaining processes of the command after the guardian has ended.
-- The argument is the command's process group. The first two results: whether a
-- process is left, and whether this user may not signal one of them.
GuardianClient.kill_rest = guardian.kill_rest

function GuardianClient:go_on() self:say "continue" end

return GuardianClient

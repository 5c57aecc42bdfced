--- What `zklock run` has of its guardian (src/guardian/guardian.h): a process
-- that starts the command, and does not let it outlive the lock.
local guardian = require "zklock.guardian"
local load = require "zklock.cli.load"

local uv = load "luv"

local Keeper = {}
Keeper.__index = Keeper

--- Forks it.  `plan`: words, path, holder, grace, max_hold; `on`: functions
-- "started", "stopped" … by the words that it says, and `gone`, when it ends.
-- Or nil and a message.
function Keeper.start(plan, on)
  local descriptor, problem = guardian.start(plan)
  if not descriptor then return nil, problem end
  local self = setmetatable({ on = on, rest = "" }, Keeper)
  self.pipe = uv.new_pipe(false)
  self.pipe:open(descriptor)
  self.pipe:read_start(function(_, bytes) self:hear(bytes) end)
  return self
end

function Keeper:hear(bytes)
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

function Keeper:say(format, ...)
  if not self.pipe:is_closing() then
    self.pipe:write(format:format(...) .. "\n")
  end
end

--- The lock is ours, by this guard: begin.
function Keeper:run(token) self:say("run %s", token) end

--- It is provably so until this moment of our clock; if that is not said again
-- the command is told to end `margin` seconds before.  (A guardian that has not
-- heard the last one does not need more of them.)
function Keeper:lease(moment, margin)
  if not self.pipe:is_closing() and self.pipe:get_write_queue_size() == 0 then
    self:say("lease %.0f %.0f", moment * 1e9, margin * 1e9)
  end
end

function Keeper:signal(number) self:say("signal %d", number) end

--- End the command: TERM, then after the grace KILL.
function Keeper:finish() self:say "end" end

--- Stops this process as Ctrl-Z does, until it is told to go on.
function Keeper:stop()
  guardian.stop()
  self:go_on()
end

--- Once the guardian is gone: kills what is left of the command, whose group
-- this is.  Is a process left, and is one left that may not be signalled?
Keeper.kill_rest = guardian.kill_rest

function Keeper:go_on() self:say "continue" end

return Keeper

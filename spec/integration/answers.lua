--- The answers of servers to the sessions of a test: a log, and changes.
-- Not a spec itself: `require "integration.answers"`.
local support = require "support"
local virtual = require "zklock.virtual"

local Log = {}
Log.__index = Log

local answers = {}

--- Begins a log, which ends with the test.  Before the library receives an
-- answer, `change(reply, path)` may change it, or return another.
function answers.log(change)
  local log = setmetatable({}, Log)
  virtual.lie(function(reply, path)
    log[#log + 1] = { at = virtual.now(), op = reply.op, path = path or "" }
    local other = change and change(reply, path)
    if other then other.op = reply.op end
    return other
  end)
  return support.closing(log, function() virtual.lie(nil) end)
end

--- When the requests of this operation were answered; of those whose path has
-- `text`, if there is one.
function Log:times(op, text)
  local times = {}
  for _, entry in ipairs(self) do
    if entry.op == op and (not text or entry.path:find(text, 1, true)) then
      times[#times + 1] = entry.at
    end
  end
  return times
end

--- Waits until there were `n` answers of these.
function Log:await(n, op, text)
  support.wait_until(function() return #self:times(op, text) >= n end, 30,
    ("%d answers to %s"):format(n, op))
end

--- Forgets what there was so far.
function Log:clear()
  for i = #self, 1, -1 do self[i] = nil end
end

return answers

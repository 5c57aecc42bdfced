--- State: the state of a session that zklock has last reported to the user. The
-- C core may already know of a newer state.
--
--     opening ──► failed ◄──────────────┐
--        │          ▼                   │
--        └──► connected ◄──► suspended ──► expired
--
--     from each of these ──► closed ──► ended ──► left
--
--   opening    no server was reached yet: calls that need a server wait
--   failed     no server can be reached for some time: such calls return `code`
--   connected  there is a connection
--   suspended  there is no connection, or no server answers
--   expired    the ZooKeeper session is over; a new one will begin
--   closed     the user has closed it: no new calls, no more events
--   ended      the I/O thread has ended
--   left       the descriptor is closed; `last` has the last values
local check = require "zklock.check"

local State = {}
State.__index = State

-- Properties of each state: `{ name =, closed =, left =, order = }`. `order`:
-- the position of the states after close.
local facts = {}
for name in pairs(check.set "opening failed connected suspended expired") do
  facts[name] = { name = name, closed = false, left = false, order = 0 }
end
for order, name in ipairs { "closed", "ended", "left" } do
  facts[name] = { name = name, closed = true, left = name == "left",
    order = order }
end

function State.new()
  return setmetatable({
    is = facts.opening,
    code = false, -- with "failed": the error code,
    wants = false, -- with "failed": what the servers require
    last = false, -- with "left": `{ id =, stats = }`
  }, State)
end

--- Returns whether the state may change to `name`. If not, the event that
-- announces this change is outdated.
function State:may_enter(name)
  return facts[name].order >= self.is.order
    and not (name == "failed" and self:is_same_session())
end

--- Changes the state if the change is allowed. Only this function writes the
-- state. Returns whether it has changed the state.
function State:enter(name, code)
  if not self:may_enter(name) then return false end
  self.is, self.code = facts[name], code or false
  return true
end

--- Returns whether the next connection will continue the same ZooKeeper
-- session.
function State:is_same_session()
  return self.is.name == "connected" or self.is.name == "suspended"
end

return State

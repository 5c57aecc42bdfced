--- State: the one state of a session, as those who use it have been told.
--
--     opening ──► failed ◄──────────────┐
--        │          ▼                   │
--        └──► connected ◄──► suspended ──► expired
--
--     from each of these ──► closed ──► ended ──► left
--
--   opening    no server has been reached: who needs one waits
--   failed     nor will one be for some time: who needs one is told `code`
--   connected  what was told last: there is a connection,
--   suspended  there is none, or nobody answers,
--   expired    the ZooKeeper session is over, and another will be begun
--   closed     by its user: nothing is begun any more, and no news are told
--   ended      the I/O thread is done
--   left       the descriptor is gone; `last` is what was known then
local check = require "zklock.check"

local State = {}
State.__index = State

-- (What is told may leave states out, where there were too many at once.)
local legal = {
  opening = check.set "failed connected suspended expired closed",
  failed = check.set "failed connected suspended expired closed",
  connected = check.set "connected suspended expired closed",
  suspended = check.set "connected suspended expired closed",
  expired = check.set "failed connected suspended expired closed",
  closed = check.set "closed ended left",
  ended = check.set "ended left",
  left = check.set "left",
}

-- What is true in each of them: `{ name =, closed =, left = }`.
local facts = {}
for name in pairs(legal) do
  facts[name] = {
    name = name,
    closed = name == "closed" or name == "ended" or name == "left",
    left = name == "left",
  }
end

function State.new()
  return setmetatable({
    is = facts.opening,
    code = false, -- of "failed": why,
    wants = false, -- and what the servers want
    last = false, -- of "left": `{ id =, stats = }`
  }, State)
end

--- May it come to this?  (Not every event is news when it is told.)
function State:may_enter(name)
  return legal[self.is.name][name] or false
end

--- The only writer of the state.  Is it so now?
function State:enter(name, code)
  if not self:may_enter(name) then return false end
  self.is, self.code = facts[name], code or false
  return true
end

--- Is a connection that comes now one more of the same ZooKeeper session?
function State:is_same_session()
  return self.is.name == "connected" or self.is.name == "suspended"
end

--- Is it known whether there is a first connection?
function State:is_decided() return self.is.name ~= "opening" end

return State

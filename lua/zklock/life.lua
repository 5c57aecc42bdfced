--- Life: the one state of a session, as those who use it have been told.
--
--        ┌──► failed ◄────┐
--        ▼      ▼         │        from each of these
--     opening ──► connected, suspended, expired ──► closed ──► ended ──► left
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

local Life = {}
Life.__index = Life

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

local is_over = check.set "closed ended left"
local has_connected = check.set "connected suspended"
local is_undecided = check.set "opening failed"

function Life.new()
  return setmetatable({ state = "opening", code = false, last = false }, Life)
end

--- May it come to this?  (Not every event is news when it is told.)
function Life:may_enter(state)
  return legal[self.state][state] or false
end

--- The only writer of the state.  `code`: of `failed`.  Is it so now?
function Life:enter(state, code)
  if not self:may_enter(state) then return false end
  self.state, self.code = state, code or false
  return true
end

function Life:is_closed() return is_over[self.state] or false end

function Life:has_left() return self.state == "left" end

--- Is a connection that comes now one more of the same ZooKeeper session?
function Life:is_same_session() return has_connected[self.state] or false end

--- Need nobody wait for the first connection, or wait any more?
function Life:is_decided()
  return self.state == "failed" or not is_undecided[self.state]
end

return Life

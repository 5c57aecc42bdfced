--- Hold: a session's possession of a lock, from the grant until release or
-- loss.
--
-- Each guard has a hold reference of the hold, a userdata.  Each re-entry adds
-- a hold reference, and the hold ends with its last hold reference.  The
-- collector releases references that the program can no longer reach, so a hold
-- does not keep its hold references alive.
local Hold = {}
Hold.__index = Hold

Hold.adapter = false -- the loop that runs its callbacks

local NOBODY = {} -- no listeners

--- Makes the hold of a granted wait; from now on events find it.  `owners`:
-- those of its path.  A session may hold thousands, and four fields are the
-- most that a table has room for before it doubles.
function Hold.new(wait, owners)
  local engine, number = owners.engine, wait.number
  local hold = setmetatable({
    owners = owners, -- have its path and its engine
    -- Callbacks, each with its guard.  False: all callbacks and the log have
    -- reported the loss, or are about to.
    listeners = NOBODY,
    revocation = NOBODY, -- false: a client has asked for the lock
    lost = false, -- the reason of a loss; preset, so a loss needs no memory
  }, Hold)
  engine.holds[number] = hold
  engine.hold_refs[number] = wait.hold_ref
  return hold
end

--- Returns why the hold is lost, if it is.  The check includes the clock, and a
-- loss that it finds is final.  A hold past its lease that is not checked may
-- still be renewed.
function Hold:find_loss(hold_ref)
  if not self.lost and not self.owners.engine.state.is.closed then
    self.lost = hold_ref:find_loss() or false
  end
  return self.lost
end

local function by_number(a, b) return a.number < b.number end

--- Returns the lost holds of a session that are not released yet, in the order
-- of their acquisitions: `{ hold =, hold_ref = }`.
function Hold.find_losses(engine)
  local lost = {}
  for number, hold in pairs(engine.holds) do
    local hold_ref = engine.hold_refs[number]
    if not hold.lost and hold_ref then
      hold.lost = hold_ref:find_loss() or false
    end
    if hold.lost then
      lost[#lost + 1] = { hold = hold, hold_ref = hold_ref, number = number }
    end
  end
  table.sort(lost, by_number)
  return lost
end

--- Takes all holds that are not lost, when the session is closed. This ends
-- them, and events no longer find them.
function Hold.take_all(engine)
  local taken = {}
  for number, hold in pairs(engine.holds) do
    local hold_ref = engine.hold_refs[number]
    if not hold.lost and hold_ref then
      taken[#taken + 1] = { hold = hold, hold_ref = hold_ref, number = number }
    end
  end
  for _, one in ipairs(taken) do engine.holds[one.number] = nil end
  table.sort(taken, by_number)
  return taken
end

--- Makes the first guard that is left in the owner's stack represent the hold,
-- after a guard was released before later guards of the hold.
function Hold:stand_on(stack)
  for _, guard in ipairs(stack) do
    if guard._hold == self then
      self.owners.engine.hold_refs[guard._hold_ref:number()] = guard._hold_ref
      return
    end
  end
end

--- Ends the hold after the release of its last hold reference, `hold_ref`;
-- events no longer find it. Returns whether events could find it before.
function Hold:finish(hold_ref)
  local holds, number = self.owners.engine.holds, hold_ref:number()
  local was_known = holds[number] ~= nil
  holds[number] = nil
  return was_known
end

-- Removes the callbacks of `guard`; returns whether no other is left.
local function drop(listeners, guard)
  if not listeners then return true end
  for i = #listeners, 1, -1 do
    if listeners[i].guard == guard then table.remove(listeners, i) end
  end
  return not listeners[1]
end

--- Removes the callbacks of a released guard, even if the hold goes on.
function Hold:forget_listeners(guard)
  local unheard = drop(self.listeners, guard)
  local silent = drop(self.revocation, guard) and unheard
  if silent and self.adapter then self.owners.engine.adapters:unlisten(self) end
end

-- Adds a callback to the list `which`.
local function listen(self, which, guard, fn)
  local adapters = self.owners.engine.adapters
  if self[which] == NOBODY then self[which] = {} end
  table.insert(self[which],
    { guard = guard, fn = fn, scope = adapters:scope() })
  adapters:listen(self)
end

--- Calls `fn(guard, code, reason)` when the hold is lost.
function Hold:on_lost(guard, fn)
  listen(self, "listeners", guard, fn)
end

--- Calls `fn(guard)` when a client asks for the lock.
function Hold:on_revoke(guard, fn)
  if not self.revocation then
    return self.owners.engine.events:later(function() fn(guard) end)
  end
  listen(self, "revocation", guard, fn)
end

return Hold

--- Hold: a session's possession of a lock, from the grant until release or
-- loss.
--
-- Each guard has a hold reference of the hold, a userdata. A re-entry adds a
-- hold reference, and the hold ends when its last hold reference is released.
-- If the program can no longer reach a hold reference, the garbage collector
-- releases it. So the hold itself must not refer to its hold references.
local Hold = {}
Hold.__index = Hold

Hold.adapter = false -- the adapter whose loop calls the callbacks

local NO_LISTENERS = {}

--- Makes the hold of a granted wait, and adds the hold to the table in which
-- events find it. `owners`: the owners of the hold's path. A session may have
-- thousands of holds. So a hold has only four fields: with a fifth, Lua would
-- double the table's size.
function Hold.new(wait, owners)
  local engine, number = owners.engine, wait.number
  local hold = setmetatable({
    owners = owners, -- the owners know the path and the engine
    -- Callbacks for the loss, each with its guard.  False: the loss was
    -- reported to all callbacks and the log, or soon will be.
    listeners = NO_LISTENERS,
    -- Callbacks for another client's request to release the lock. False: a
    -- client has already asked.
    revocation = NO_LISTENERS,
    lost = false, -- the loss's reason; set here, so a loss needs no memory
  }, Hold)
  engine.holds[number] = hold
  engine.hold_refs[number] = wait.hold_ref
  return hold
end

--- Returns why the hold is lost, or false. If the lease has expired by the
-- clock, this call makes the hold lost for good. Without this call, a late
-- heartbeat could still renew the lease.
function Hold:find_loss(hold_ref)
  if not self.lost and not self.owners.engine.state.is.closed then
    self.lost = hold_ref:find_loss() or false
  end
  return self.lost
end

local function by_number(a, b) return a.number < b.number end

--- Returns the holds of a session, in the order of their acquisitions:
-- `{ hold =, hold_ref =, number = }`. `hold_ref` is nil if no guard refers to
-- the hold.
function Hold.list(engine)
  local list = {}
  for number, hold in pairs(engine.holds) do
    list[#list + 1] = { hold = hold, hold_ref = engine.hold_refs[number],
      number = number }
  end
  table.sort(list, by_number)
  return list
end

--- Finds this hold's oldest guard in `stack`, and puts its hold reference into
-- `engine.hold_refs`. Called when an owner has several guards of this hold and
-- releases a guard other than the innermost.
function Hold:stand_on(stack)
  for _, guard in ipairs(stack) do
    if guard._hold == self then
      self.owners.engine.hold_refs[guard._hold_ref:number()] = guard._hold_ref
      return
    end
  end
end

--- Removes the hold from `engine.holds`, the table in which the event
-- dispatcher looks up holds. Called after the hold's last reference,
-- `hold_ref`, is released. Returns whether the hold was in the table.
function Hold:finish(hold_ref)
  local holds, number = self.owners.engine.holds, hold_ref:number()
  local was_known = holds[number] ~= nil
  holds[number] = nil
  return was_known
end

-- Removes the callbacks of `guard` from a list; returns whether the list is now
-- empty.
local function drop(listeners, guard)
  if not listeners then return true end
  for i = #listeners, 1, -1 do
    if listeners[i].guard == guard then table.remove(listeners, i) end
  end
  return not listeners[1]
end

--- Removes the callbacks of a released guard, because the hold can continue for
-- other guards.
function Hold:forget_listeners(guard)
  if self.listeners == self.revocation then return end -- there are none
  local unheard = drop(self.listeners, guard)
  local silent = drop(self.revocation, guard) and unheard
  if silent and self.adapter then self.owners.engine.adapters:unlisten(self) end
end

-- Adds a callback to a list. Also arms the adapter, so that the loop calls
-- step(). `which`: the field of the list, "listeners" or "revocation".
local function listen(self, which, guard, fn)
  local adapters = self.owners.engine.adapters
  if self[which] == NO_LISTENERS then self[which] = {} end
  table.insert(self[which],
    { guard = guard, fn = fn, scope = adapters:scope() })
  adapters:listen(self)
end

--- Calls `fn(guard, reason, message)` when the hold is lost.
function Hold:on_lost(guard, fn)
  listen(self, "listeners", guard, fn)
end

--- Calls `fn(guard)` when a client asks for the lock. If a client has already
-- asked, calls it in the next step().
function Hold:on_revoke(guard, fn)
  if not self.revocation then
    return self.owners.engine.events:later(function() fn(guard) end)
  end
  listen(self, "revocation", guard, fn)
end

return Hold

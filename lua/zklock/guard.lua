--- Guard: the user's object for a granted lock. A re-entry makes one more guard
-- of the same *hold*: a session's possession of a lock, from the grant until
-- release or loss.
--
-- Each guard has a hold reference (`_hold_ref`), a userdata. A re-entry adds a
-- hold reference, and the hold ends when its last hold reference is released.
-- The hold reference also stores whether the guard was released, and why the
-- hold was lost. If the program can no longer reach a guard, the garbage
-- collector releases its hold reference. So the hold must not refer to its
-- guards, except in the callbacks that the user has registered.
local check = require "zklock.check"
local errors = require "zklock.errors"
local options = require "zklock.options"
local Owners = require "zklock.owner"
local questions = require "zklock.questions"
local reasons = require "zklock.reasons"
local waits = require "zklock.wait"

local getmetatable = getmetatable

local Guard = {}

-- Fields of a guard that are computed when they are read.
local known = {
  path = function(self) return self._hold.owners.path end,
  node = function(self) return self._hold_ref:node() end,
}

function Guard:__index(key)
  local method = Guard[key]
  if method ~= nil then return method end
  local tell = known[key]
  return tell and tell(self)
end

-- Functions for the library, not for users.
local guards = {}

-- The stack of a guard that Owners:push has not added to its owner's stack yet.
local NO_STACK = {}

-- Makes a guard. A session may have thousands of guards, so a guard and its
-- hold have few fields.
local function new(hold, hold_ref)
  return setmetatable({
    _hold = hold,
    _hold_ref = hold_ref,
    _stack = NO_STACK, -- the owner's stack; false after the release
  }, Guard)
end

-- The callbacks of a hold that has none.
local NO_LISTENERS = {}

local Hold = {
  adapter = false, -- the adapter whose loop calls the callbacks
  of = false, -- the terms of an election
}
Hold.__index = Hold

--- Makes the first guard of the hold that an attempt was granted, and adds the
-- guard to the table in which events find it.
function guards.new(attempt)
  local guard = new(setmetatable({
    owners = attempt.terms.owners, -- the owners know the path and the engine
    -- The user's callbacks, each with its guard and event: "lost" or "revoked".
    listeners = NO_LISTENERS,
    is_told = false, -- the loss was reported to all callbacks and the log
    is_revoked = false, -- another client has asked to release the lock
  }, Hold), attempt.hold_ref)
  attempt.engine.holds[attempt.number] = guard
  if attempt.terms.family == "election" then guard._hold.of = attempt.terms end
  return guard
end

--- Makes one more guard of the hold of `guard`, for a re-entry. `hold_ref`: an
-- empty hold reference, which this function fills for the new guard.
function guards.again(guard, hold_ref)
  return new(guard._hold, guard._hold_ref:again(hold_ref))
end

function guards.hold_ref(guard) return guard._hold_ref end

--- Returns whether `guard` is a guard of a lock at the path of `owners`
-- (owner.lua), in the same session.
function guards.is_of(guard, owners)
  return getmetatable(guard) == Guard and guard._hold.owners == owners
end

local function by_number(one, other)
  return one._hold_ref:number() < other._hold_ref:number()
end

--- Returns the oldest guard of each hold of a session, in the order of their
-- acquisitions.
function guards.list(engine)
  local list = {}
  for _, guard in pairs(engine.holds) do list[#list + 1] = guard end
  table.sort(list, by_number)
  return list
end

local function lost(self)
  return errors.lost(self.path, self:reason())
end

--- Returns a guard of an election that is not released. It is lost only if all
-- such guards are lost. Returns nil if there is none. `terms`: the terms of the
-- election's lock (locks.terms).
function guards.find(terms)
  local otherwise
  for _, guard in ipairs(guards.list(terms.engine)) do
    local state = guard._hold.of == terms and guard._stack and guard:state()
    if state == "lost" then
      otherwise = guard
    elseif state and state ~= "released" then
      return guard
    end
  end
  return otherwise
end

--- Returns why the hold is lost, or nil. If the lease has expired by the clock,
-- this call makes the hold lost for good. Without this call, a late heartbeat
-- could still renew the lease.
function guards.find_loss(self) return self._hold_ref:find_loss() end

--- If the hold is lost, calls its listeners, and returns a message and "lost".
-- Otherwise returns nil.
function guards.refuse(self)
  if not self._hold_ref:find_loss() then return nil end
  self._hold.owners.engine.events:lose(self)
  return select(2, lost(self))
end

-- Returns the result of release() for a guard that was released.
local function answer(self)
  if self._hold_ref:state() == "lost" then return lost(self) end
  return true
end

-- Begins and returns a wait, which ends when a server confirms that the node is
-- deleted.
local function expect_removal(self)
  local engine = self._hold.owners.engine
  local wait = waits.new(engine, self._hold_ref:number())
  waits.enter(wait)
  return wait
end

-- Removes the callbacks of a released guard, because the hold can continue for
-- other guards.
local function forget_listeners(self)
  local hold = self._hold
  local listeners = hold.listeners
  for i = #listeners, 1, -1 do
    if listeners[i].guard == self then table.remove(listeners, i) end
  end
  if hold.adapter and not listeners[1] then
    hold.owners.engine.adapters:unlisten(hold)
  end
end

-- Removes a guard that was released in time from the table of holds. `last`:
-- whether it was its hold's last guard; the hold then ends. Otherwise the
-- oldest other guard of the hold takes its place.
local function leave(self, last)
  local hold = self._hold
  local engine, number = hold.owners.engine, self._hold_ref:number()
  if engine.holds[number] == self then
    local oldest
    for i = last and 0 or #self._stack, 1, -1 do
      local guard = self._stack[i]
      if guard._hold == hold and guard ~= self then oldest = guard end
    end
    engine.holds[number] = oldest
    if last then engine.meters:finish(hold.owners.path, self._hold_ref) end
  end
  forget_listeners(self)
end

--- Releases the guard, and returns the results of release(). If `confirm` is
-- true and a server must still confirm the release, returns a wait instead, for
-- await_removal. If the hold was lost, its listeners are not called here, but
-- in tell_end. If a debug hook interrupts this call, the next call repeats it.
function guards.give_back(self, confirm)
  if not self._stack then return answer(self) end
  local hold_ref, owners = self._hold_ref, self._hold.owners
  local line = owners.line
  local kept, last, passed
  -- Releasing a hold whose lease has expired returns the loss, even if no event
  -- has reported it yet.
  if line then
    kept, last, passed = line:release(hold_ref, confirm)
  else
    kept, last = hold_ref:release(confirm)
  end
  if kept then leave(self, last) end
  if line and last then line:released(hold_ref, passed) end
  Owners.forget(self)
  if confirm and last and kept and not owners.engine.state.is.closed then
    return expect_removal(self)
  end
  return answer(self)
end

--- After a release, delivers its trace events. If the hold was lost, also calls
-- its listeners. Listeners may wait, so they run outside of the release, when
-- nothing is left that needs protection.
function guards.tell_end(self)
  local engine = self._hold.owners.engine
  if engine.meters.untold[1] then engine.meters:tell() end
  if self._hold_ref:state() == "lost" and not engine.state.is.closed then
    engine.events:lose(self)
  end
end

--- Suspends the caller until a server confirms a release. `wait` is the wait
-- that give_back has returned. Returns true, or `nil, message, code`.
function guards.await_removal(self, wait)
  if not wait.done then
    local adapters = wait.engine.adapters
    local adapter, scope = adapters:for_waiting()
    waits.limit(wait, (adapters:limit(nil, scope)))
    waits.suspend(wait, adapter, scope)
    wait.code = wait.code or not wait.done and "closed" -- session ends soon
  end
  if not wait.code then return true end
  if wait.code == "closed" then
    return reasons.of_order(wait, "the release of", self.path)
  end
  return errors.refusal(wait.code, "ZooKeeper refused to release %s: %s",
    self.path, wait.reason)
end

--- Releases the lock. Returns `true` as soon as the release is guaranteed. With
-- `{ wait = true }`, it first waits until a server has confirmed the release.
-- If the hold was lost before, returns `nil, message, "lost"`.
function Guard:release(how)
  local confirm = options.read_release(how)
  local done, message, code = guards.give_back(self, confirm)
  guards.tell_end(self)
  if done and done ~= true then return guards.await_removal(self, done) end
  return done, message, code
end

--- Returns whether this process provably holds the lock, by its own clock,
-- without I/O. Programs call it often. So it checks its own arguments, because
-- a wrapper function would be slower.
function Guard:is_held(surplus)
  if surplus ~= nil or getmetatable(self) ~= Guard then
    check.refuse(Guard, "guard:is_held()", self, surplus)
  end
  return self._hold_ref:is_held()
end

--- Returns for how many seconds is_held() stays true if no server replies.
function Guard:lease()
  if not self:is_held() then return 0 end
  return self._hold_ref:lease()
end

--- Asks a server whether the session still holds the lock.  Returns `true`
-- if it does; otherwise `nil, message, code`.
function Guard:verify()
  local engine = self._hold.owners.engine
  if engine.state.is.closed then
    return errors.refusal("closed", "the session of the hold of %s is closed",
      self.path)
  end
  local state, asked = self:state(), nil
  if state == "released" then
    return errors.refusal("lost", "the hold of %s was released", self.path)
  elseif not self._stack then
    return lost(self)
  elseif state ~= "lost" then
    local seen, code, reason = questions.read(engine, self._hold_ref:node())
    -- If the node is missing, or another hold's, the hold is lost from now on.
    if seen then self._hold_ref:compare(seen.token) end
    if seen and engine.state.is.closed then code = "closed" end
    asked = { engine = engine, code = code, reason = reason }
  end
  local message, code = guards.refuse(self)
  if message then return nil, message, code end
  if asked.code then
    return reasons.of_question(asked, "whether we hold", self.path)
  elseif not self:is_held() then
    return lost(self)
  end
  return true
end

--- Returns the fencing token: 19 digits, a number that grows with every new
-- hold.
function Guard:token()
  return self._hold_ref:token()
end

function Guard:token_number()
  return self._hold_ref:token_number()
end

--- Returns the guard's state: "held", "suspended", "released" or "lost".
function Guard:state()
  return self._hold_ref:state()
end

--- Returns why the hold was lost: a key of errors.losses. Returns nil if the
-- hold is not lost.
function Guard:reason()
  if self:state() ~= "lost" then return nil end
  return self._hold_ref:reason()
end

-- Adds a callback for an event of the hold. Also arms the adapter, so that the
-- loop calls step().
local function listen(self, event, fn)
  local hold = self._hold
  local adapters = hold.owners.engine.adapters
  if hold.listeners == NO_LISTENERS then hold.listeners = {} end
  table.insert(hold.listeners, { guard = self, event = event, fn = fn,
    scope = adapters:scope() })
  adapters:listen(hold)
end

--- Returns a list of the hold's callbacks for an event.
function guards.listeners(guard, event)
  local list = {}
  for _, listener in ipairs(guard._hold.listeners) do
    if listener.event == event then list[#list + 1] = listener end
  end
  return list
end

--- Registers `fn` for the loss of the hold. It is called once, as
-- `fn(guard, reason, message)`, in step() or in the call that finds the loss.
-- If the hold is already lost, calls `fn` at once.
function Guard:on_lost(fn)
  check.callback(fn, "argument 1 of on_lost")
  local state = self:state()
  if state == "lost" then
    local _, message = lost(self)
    fn(self, self:reason(), message)
  elseif state ~= "released" then
    listen(self, "lost", fn)
  end
  return self
end

--- Registers `fn`. step() calls `fn(guard)` once, when a client first asks this
-- holder to release the lock. If a client has already asked, calls it in the
-- next step().
function Guard:on_revoke(fn)
  check.callback(fn, "argument 1 of on_revoke")
  local hold, state = self._hold, self:state()
  if state == "lost" or state == "released" then return self end
  if hold.is_revoked then
    hold.owners.engine.events:later(function() fn(self) end)
  else
    listen(self, "revoked", fn)
    self._hold_ref:watch()
  end
  return self
end

--- Returns the number of this hold's turn (option `local_turns`): how many
-- holds have used the same node before.
function Guard:turn()
  return self._hold_ref:turn()
end

check.methods(Guard, [[
  guard:release(options)
  guard:lease()
  guard:verify()
  guard:token()
  guard:token_number()
  guard:state()
  guard:reason()
  guard:on_lost(fn)
  guard:on_revoke(fn)
  guard:turn()
]])

Guard.__close = function(self) self:release() end

function Guard:__tostring()
  return errors.describe("zklock guard of %s (%s)", self.path, self:state())
end

return guards

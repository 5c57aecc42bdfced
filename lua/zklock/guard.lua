--- Guard: the user's object for a granted lock. A re-entry makes one more guard
-- of the same hold. Each guard has a hold reference (`_hold_ref`), a userdata.
-- So the collector releases the hold reference together with the guard, in
-- every Lua version.
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

-- Makes a guard. A session may have thousands of guards, so a guard has only
-- four fields (see Hold.new).
function guards.new(hold, hold_ref)
  return setmetatable({
    _hold = hold,
    _hold_ref = hold_ref,
    _outcome = false, -- "released" or "lost" when the guard is over
    _stack = false, -- the owner's stack of guards: Owners:push
  }, Guard)
end

--- Makes one more guard of the hold of `guard`, for a re-entry. `hold_ref`: an
-- empty hold reference, which this function fills for the new guard.
function guards.again(guard, hold_ref)
  return guards.new(guard._hold, guard._hold_ref:again(hold_ref))
end

function guards.hold_ref(guard) return guard._hold_ref end

--- Returns whether `guard` is a guard of a lock at the path of `owners`
-- (owner.lua), in the same session.
function guards.is_of(guard, owners)
  return getmetatable(guard) == Guard and guard._hold.owners == owners
end

local function lost(self)
  return errors.lost(self.path, self:reason())
end

--- Returns whether the guard was released, even if its hold was already lost. A
-- loss alone does not count.
function guards.is_over(guard) return guard._outcome ~= false end

--- Returns why the hold is lost, or false: see Hold:find_loss.
function guards.find_loss(self)
  return self._hold:find_loss(self._hold_ref)
end

--- If the hold is lost, calls its listeners, and returns true and `nil,
-- message, "lost"`; otherwise returns false.
function guards.refuse(self)
  local hold = self._hold
  local reason = hold:find_loss(self._hold_ref)
  if not reason then return false end
  hold.owners.engine.events:lose(hold, self._hold_ref, reason)
  return true, lost(self)
end

-- Returns the result of release() for a guard that was released or lost.
local function answer(self)
  if self._outcome == "lost" then return lost(self) end
  return true
end

-- Begins and returns a wait, which ends when a server confirms that the node is
-- deleted.
local function expect_removal(self)
  local hold = self._hold
  local engine = hold.owners.engine
  local wait = waits.new(engine, engine.waits.removals, self._hold_ref:number())
  waits.enter(wait)
  return wait
end

-- Removes the guard from its owner's stack and from its hold. `last`: whether
-- it was the hold's last guard; the hold then ends. `reason`: why the hold is
-- lost; nil or false if it is not lost.
local function leave(self, last, reason)
  local hold, stack = self._hold, Owners.forget(self)
  local owners = hold.owners
  if stack then hold:stand_on(stack) end
  if reason then
    hold.lost = hold.lost or reason
    return
  end
  if last and hold:finish(self._hold_ref) then
    owners.engine.meters:finish(owners.path, self._hold_ref)
  end
  hold:forget_listeners(self)
end

--- Releases the guard, and returns the results of release(). If `confirm` is
-- true and a server must still confirm the release, returns a wait instead, for
-- await_removal. If the hold was lost, its listeners are not called here, but
-- in tell_end.
function guards.give_back(self, confirm)
  local hold = self._hold
  local engine = hold.owners.engine
  if self._outcome then return answer(self) end
  if engine.state.is.closed then
    Owners.forget(self)
    self._outcome = hold.lost and "lost" or "released"
    return answer(self)
  end
  -- Releasing a hold whose lease has expired returns the loss, even if no event
  -- has reported it yet.
  local hold_ref, line = self._hold_ref, hold.owners.line
  local kept, last, passed
  if line then
    kept, last, passed = line:release(hold_ref, confirm)
  else
    kept, last = hold_ref:release(confirm)
  end
  local reason = hold.lost or not kept and hold_ref:reason()
  leave(self, last, reason)
  if line and last then line:released(hold_ref, passed) end
  -- Sets this field last. So if a debug hook interrupts this call, the next
  -- call releases again.
  self._outcome = reason and "lost" or "released"
  -- `line:released` can run a callback of the lock's next holder. The callback
  -- may have closed the session, so check that again.
  if confirm and last and not reason and not engine.state.is.closed then
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
  if self._outcome == "lost" and not engine.state.is.closed then
    engine.events:lose(self._hold, self._hold_ref)
  end
end

--- Suspends the caller until a server confirms a release. `wait` is the wait
-- that give_back has returned. Returns true, or `nil, message, code`.
function guards.await_removal(self, wait)
  if not wait.done then
    local adapters = wait.engine.adapters
    local adapter, scope = adapters:for_waiting()
    waits.limit(wait, adapters:limit(scope))
    waits.suspend(wait, adapter, scope)
    wait.code = wait.code or not wait.done and "closed" -- session ends soon
  end
  if wait.code then return reasons.of_removal(wait, self.path) end
  return true
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
  return not self._outcome and self._hold_ref:is_held()
end

--- Returns for how many seconds is_held() stays true if no server replies.
function Guard:lease()
  if not self:is_held() then return 0 end
  return self._hold_ref:lease()
end

-- Asks a server whether the hold's node exists. If it does not, or another hold
-- has created it, the hold is lost from now on. Returns nil, or an error code
-- and a reason if no server has answered.
local function ask(self, engine)
  local hold_ref = self._hold_ref
  if self._hold.lost or hold_ref:state() == "lost" then return nil end
  local seen, code, reason = questions.read(engine, hold_ref:node())
  if not seen then return code, reason end
  hold_ref:compare(seen.token)
  return engine.state.is.closed and "closed"
end

--- Asks a server whether the session still holds the lock.  Returns `true`
-- if it does; otherwise `nil, message, code`.
function Guard:verify()
  local engine = self._hold.owners.engine
  if engine.state.is.closed then
    return errors.refusal("closed", "the session of the hold of %s is closed",
      self.path)
  end
  if self._outcome == "released" then
    return errors.refusal("lost", "the hold of %s was released", self.path)
  end
  if self._outcome == "lost" then return lost(self) end
  local code, reason = ask(self, engine)
  local done, _, message, word = guards.refuse(self)
  if done then return nil, message, word end
  if code == "disconnected" then
    return errors.refusal("disconnected", "no server could be asked about the "
      .. "hold of %s%s", self.path, reasons.last_error(engine))
  elseif code == "closed" then
    return errors.refusal("closed", "the session of the hold of %s was closed",
      self.path)
  elseif code then
    return reasons.of_question({ engine = engine, code = code,
      reason = reason }, "whether we hold", self.path)
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
  if self._outcome then return self._outcome end
  if self._hold.lost then return "lost" end
  if self._hold.owners.engine.state.is.closed then return "released" end
  return self._hold_ref:state()
end

--- Returns why the hold was lost: a key of errors.losses. Returns nil if the
-- hold is not lost.
function Guard:reason()
  if self:state() ~= "lost" then return nil end
  return self._hold.lost or self._hold_ref:reason()
end

--- Registers `fn` for the loss of the hold. It is called once, as
-- `fn(guard, reason, message)`, in step() or in the call that finds the loss.
-- If the hold is already lost, calls `fn` at once.
function Guard:on_lost(fn)
  check.callback(fn, "argument 1 of on_lost")
  if self:state() == "lost" then
    local _, message = lost(self)
    fn(self, self:reason(), message)
  elseif not self._outcome then
    self._hold:on_lost(self, fn)
  end
  return self
end

--- Registers `fn`. step() calls `fn(guard)` once, when a client first asks this
-- holder to release the lock.
function Guard:on_revoke(fn)
  check.callback(fn, "argument 1 of on_revoke")
  local hold = self._hold
  if self._outcome or hold.lost or hold.owners.engine.state.is.closed then
    return self
  end
  hold:on_revoke(self, fn)
  if hold.revocation then self._hold_ref:watch() end
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

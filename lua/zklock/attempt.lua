--- Attempt: one acquisition of one lock. An attempt is the request, with the
-- user's options; the wait for the grant (wait.lua); and the cleanup handler
-- (protect.lua) of the call that acquires. If the caller does not get the
-- guard, the attempt releases what it has acquired.
local core = require "zklock.core"
local guards = require "zklock.guard"
local options = require "zklock.options"
local reasons = require "zklock.reasons"
local refusal = require "zklock.errors".refusal
local turns = require "zklock.turns"
local waits = require "zklock.wait"

local Attempt = waits.class()

Attempt.refusal = "timeout" -- the code if the lock is not free; or "busy"
Attempt.gathers = false -- true if the attempt enters a double barrier
Attempt.asked = nil -- the user's timeout for all parts of a multi

function Attempt:finish()
  if self.fine then return end
  waits.abandon(self)
  if self.guard then
    guards.give_back(self.guard)
    guards.tell_end(self.guard)
  end
end

-- The constructor makes room for the fields that most attempts set, so that Lua
-- allocates the table once. A refusal or the line of local turns (turns.lua)
-- sets more fields later.
function Attempt.new()
  return setmetatable({
    engine = false,
    terms = false,
    number = false, -- the number by which events find the attempt
    adapter = false,
    endless = false,
    fine = false,
    done = false,
    code = false,
    hold_ref = false,
    guard = false,
    -- The user's options; nil if not given.
    timeout = nil, data = nil, owner = nil, max_hold = nil,
  }, Attempt)
end

--- Reads `given`, the argument of acquire or of a similar method. `terms`: what
-- all acquisitions of a lock object share (locks.terms). `busy`: "busy" if the
-- method is try_acquire. Returns the attempt.
function Attempt:read(terms, given, busy)
  self.terms, self.engine, self.data = terms, terms.engine, terms.data
  local limit = terms.lock_options.max_hold
  if limit then self.max_hold = limit end
  if not busy then return options.acquire:read_call(given, self) end
  self.timeout, self.refusal = 0, busy
  return options.try:read_call(given, self)
end

local other_side = { read = "write", write = "read" }

-- Handles an owner that holds the other side of the readers-writer lock. A
-- reader that asks for `write` would wait for itself: returns true and the
-- error "deadlock". For a writer that asks for `read`, returns nil and the hold
-- reference to downgrade from. If the hold is lost, returns "lost" and its
-- guard. If the owner does not hold the other side, returns nil.
local function cross(terms, owner)
  local other = terms.owners:top(other_side[terms.kind], owner)
  if not other then
    return nil
  elseif guards.find_loss(other) then
    return "lost", other
  elseif terms.kind == "write" then
    return true, refusal("deadlock", "%s is held for reading by the caller, "
      .. "which waits for itself when it asks for writing", terms.path)
  end
  return nil, guards.hold_ref(other)
end

-- Handles an owner that already holds the lock: returns true and the results of
-- acquire. If the hold is lost, returns "lost" and its guard, because its
-- listeners may not have been called yet. If the owner does not hold the lock,
-- returns nil. If the owner holds the write side and asks for the read side,
-- returns nil and the writer's hold reference.
local function reenter(self)
  local terms, owner = self.terms, self.owner
  local kind = terms.kind
  if kind == "permit" then return nil end -- permits have no re-entry
  local top = terms.owners:top(kind, owner)
  if not top and other_side[kind] then return cross(terms, owner) end
  if not top then return nil end
  if guards.find_loss(top) then
    return "lost", top
  elseif not terms.lock_options.reentrant then
    return true, refusal("deadlock",
      "%s is already held by the caller and not reentrant", terms.path)
  end
  self.hold_ref = core.hold()
  self.guard = guards.again(top, self.hold_ref)
  terms.owners:push(kind, owner, self.guard, self.scope)
  return true, self.guard
end

-- Begins the acquisition. `writer`: the hold reference from which to downgrade,
-- or nil.
local function begin(self, writer)
  local terms, engine = self.terms, self.engine
  local lock_options = terms.lock_options.prepared
  local seconds, patient = engine.adapters:limit(self.timeout, self.scope)
  if patient then self.timeout = seconds end
  self.endless = not seconds
  if writer then
    lock_options = setmetatable({ writer = writer },
      { __index = terms.lock_options })
  end
  local line = terms.lock_options.local_turns > 0 and turns.line(terms)
  local hold_ref = core.hold()
  self.hold_ref = hold_ref
  if line and patient and line:is_taken() then
    self.number = engine.core:stand(hold_ref, seconds)
    line:join(self)
  else
    local _, number = engine.core:acquire(terms.path, seconds, patient,
      self.data, self.max_hold, lock_options, hold_ref)
    if line and not line:is_taken() then line:lead(number) end
    self.number = number
  end
end

-- Calls the trace callback for the beginning of a wait. The callback may call
-- step(), close the session or wait. Meanwhile an event or the end of the nginx
-- request can end the wait. So both must find the wait: it is registered for
-- them before the callback runs.
local function announce(self, adapter)
  if adapter then waits.prepare(self, adapter) end
  waits.enter(self)
  self.engine.meters:begin(self.terms, self.hold_ref, self.timeout)
end

-- Returns the error of a refused attempt, and counts the refusal. Counts it
-- only once: the trace callback may call step(), which may call this function
-- again for the same attempt.
local function refuse(self)
  local _, message, code = reasons.of_wait(self)
  if not self.counted then
    self.counted = true
    self.engine.meters:refuse(self.terms, self.hold_ref, code)
  end
  return nil, message, code
end

-- Returns the outcome of an attempt whose wait is over: a guard, or nil,
-- message, code.
local function conclude(self)
  local terms = self.terms
  if self.engine.state.is.closed then self.code = self.code or "closed" end
  if self.code then return refuse(self) end
  local guard = guards.new(self)
  self.guard = guard
  terms.owners:push(terms.kind, self.owner, guard, self.scope)
  self.engine.meters:grant(terms, self.hold_ref)
  return guard
end

-- Turns the results of reenter() into the results of acquire, and counts a
-- refusal.
local function answer(terms, done, guard, message, code)
  if done == "lost" then
    terms.engine.meters:refuse(terms, nil, "lost")
    return nil, guards.refuse(guard)
  end
  if not guard then terms.engine.meters:refuse(terms, nil, code) end
  return guard, message, code
end

--- Acquires the lock. Suspends the caller until the wait is over. Returns a
-- guard, or nil, message, code. If the call is interrupted, Attempt:finish
-- cleans up.
function Attempt:acquire()
  local engine = self.engine
  engine:check_open()
  local adapter, scope = engine.adapters:for_waiting()
  if self.owner == nil then self.owner = engine.adapters:owner(adapter) end
  if scope then self.scope = scope end
  local done, guard, message, code = reenter(self)
  if done then return answer(self.terms, done, guard, message, code) end
  begin(self, guard)
  if engine.meters.trace then announce(self, adapter) end
  waits.suspend_within(self, adapter)
  return conclude(self)
end

--- Begins the acquisition without suspending the caller. Returns the attempt,
-- or false if the result is known without a wait. Later calls `callback` with
-- the outcome. If `scope` is an nginx request that has ended, does not call it.
function Attempt:begin(callback)
  local engine, done, guard, message, code = self.engine, nil, nil, nil, nil
  if self.owner == nil then
    self.owner = {}
  else
    done, guard, message, code = reenter(self)
  end
  if done then
    engine.events:later(function()
      callback(answer(self.terms, done, guard, message, code))
    end, self.scope)
    return false
  end
  begin(self, guard)
  local item = { fn = callback, scope = false }
  -- Events can end the wait from here on. The trace callback comes later, in
  -- case a debug hook interrupts it. If a hook interrupts the function below,
  -- the guard may already exist when it is called again.
  waits.listen(self, self.scope, function()
    if self.guard then
      engine.events:call(item, self.guard)
    elseif item.fn then
      engine.events:call(item, conclude(self))
    end
  end)
  if engine.meters.trace then announce(self) end
  return self
end

return Attempt

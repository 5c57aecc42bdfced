--- Attempt: one acquisition of one lock. An attempt is also the cleanup handler
-- (protect.lua) of the call that acquires. If the caller does not get the
-- guard, the attempt releases what it has acquired: `hold_ref`, `guard` and
-- `wait`.
--
-- Its inputs are `terms` and `request`. `terms`: what all acquisitions of a
-- lock object share (locks.terms). `request`: the options of this acquisition
-- (options.read_request).
local core = require "zklock.core"
local guards = require "zklock.guard"
local protect = require "zklock.protect"
local reasons = require "zklock.reasons"
local refusal = require "zklock.errors".refusal
local turns = require "zklock.turns"
local waits = require "zklock.wait"

local Attempt = protect.class()

function Attempt:finish()
  if self.fine then return end
  local wait = self.wait
  if wait and waits.suspends(wait) then
    wait:finish()
  elseif wait then
    waits.leave(wait)
  end
  if self.guard then
    guards.give_back(self.guard)
    guards.tell_end(self.guard)
  end
  -- `true`: an event reports when the node is deleted. This event continues the
  -- line of local turns (turns.lua).
  if self.hold_ref then self.hold_ref:release(true) end
  if wait then wait.terms.waiters[wait] = nil end
end

function Attempt.new()
  return setmetatable({ hold_ref = false, guard = false, wait = false,
    fine = false }, Attempt)
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
local function reenter(attempt, terms, owner, scope)
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
  attempt.hold_ref = core.hold()
  local guard = guards.again(top, attempt.hold_ref)
  attempt.guard = guard
  terms.owners:push(kind, owner, guard, scope)
  return true, guard
end

local function begin(attempt, terms, request, writer)
  local engine, lock_options = terms.engine, terms.lock_options.prepared
  local patient, seconds = request.timeout ~= 0, request.timeout
  if not patient then seconds = engine:patience() end
  if not seconds then
    seconds = engine.adapters:limit(request.scope)
    request.timeout = seconds
  end
  if writer then
    lock_options = setmetatable({ writer = writer },
      { __index = terms.lock_options })
  end
  local hold_ref, line, stands = core.hold(), false, false
  local number, _
  attempt.hold_ref = hold_ref
  if terms.lock_options.local_turns > 0 then
    line = turns.line(terms.owners)
    stands = patient and line:is_taken()
  end
  if stands then
    number = engine.core:stand(hold_ref, seconds)
  else
    _, number = engine.core:acquire(terms.path, seconds, patient,
      request.data, request.max_hold, lock_options, hold_ref)
    if line and not line:is_taken() then line:lead(number) end
  end
  local wait = waits.of_acquisition(terms, request, hold_ref, number)
  if request.scope then wait.scope = request.scope end
  wait.endless = not seconds
  attempt.wait = wait
  if stands then line:join(wait) end
  terms.waiters[wait] = true
  if request.taking then request.taking.wait = wait end
  return wait
end

-- Calls the trace callback for the beginning of a wait. The callback may call
-- step(), close the session or wait. Meanwhile an event or the end of the nginx
-- request can end the wait. So both must find the wait: it is registered for
-- them before the callback runs.
local function announce(terms, request, wait, adapter)
  if adapter then waits.prepare(wait, adapter) end
  waits.enter(wait)
  terms.engine.meters:begin(terms, wait.hold_ref, request.timeout)
end

-- Returns the error of a refused wait, and counts the refusal. Counts it only
-- once: the trace callback may call step(), which may call this function again
-- for the same wait.
local function refuse(terms, request, wait)
  local _, message, code = reasons.of_wait(terms.path, request, wait)
  if not wait.counted then
    wait.counted = true
    terms.engine.meters:refuse(terms, wait.hold_ref, code)
  end
  return nil, message, code
end

-- Returns the outcome of a wait that is over: a guard, or nil, message, code.
local function finish(attempt, terms, request, wait)
  terms.waiters[wait] = nil
  if terms.engine.state.is.closed then wait.code = wait.code or "closed" end
  if wait.code then return refuse(terms, request, wait) end
  wait.taken = true
  local guard = guards.new(wait, terms.owners)
  attempt.guard = guard
  terms.owners:push(terms.kind, request.owner, guard, wait.scope)
  terms.engine.meters:grant(terms, wait.hold_ref)
  return guard
end

-- Turns the results of reenter() into the results of acquire, and counts a
-- refusal.
local function answer(terms, done, guard, message, code)
  if done == "lost" then
    terms.engine.meters:refuse(terms, nil, "lost")
    return select(2, guards.refuse(guard))
  end
  if not guard then terms.engine.meters:refuse(terms, nil, code) end
  return guard, message, code
end

--- Acquires a lock. Suspends the caller until the wait is over. Returns a
-- guard, or nil, message, code. If the call is interrupted, Attempt:finish
-- cleans up.
function Attempt.acquire(attempt, terms, request)
  local engine = terms.engine
  engine:check_open()
  local adapters = engine.adapters
  local adapter, scope = adapters:for_waiting()
  if request.owner == nil then request.owner = adapters:owner(adapter) end
  if scope then request.scope = scope end
  local done, guard, message, code =
    reenter(attempt, terms, request.owner, request.scope)
  if done then return answer(terms, done, guard, message, code) end
  local wait = begin(attempt, terms, request, guard)
  if engine.meters.trace then announce(terms, request, wait, adapter) end
  waits.suspend_within(wait, adapter)
  return finish(attempt, terms, request, wait)
end

-- Calls the user's callback with the outcome of the wait. If a debug hook has
-- interrupted an earlier call of this function, the guard may already exist.
-- This call then passes that guard.
local function deliver(attempt, terms, request, item)
  local wait, events = attempt.wait, terms.engine.events
  if attempt.guard then
    events:call(item, attempt.guard)
  elseif item.fn then
    events:call(item, finish(attempt, terms, request, wait))
  end
end

-- Begins the wait of an attempt whose caller is not suspended; `callback` gets
-- the outcome. Events can end the wait once waits.listen has registered it.
-- This happens before the trace callback, in case a debug hook interrupts that
-- callback.
local function begin_alone(attempt, terms, request, callback, writer)
  local wait = begin(attempt, terms, request, writer)
  local item = { fn = callback, scope = false }
  waits.listen(wait, request.scope, function()
    deliver(attempt, terms, request, item)
  end)
  if terms.engine.meters.trace then announce(terms, request, wait) end
  return wait
end

--- Begins an acquisition without suspending the caller. Returns its wait, or
-- false if the result is known without a wait. Later calls `callback` with the
-- outcome. If `request.scope` is an nginx request that has ended, does not call
-- it.
function Attempt.begin(terms, request, callback)
  local attempt = Attempt.new()
  if request.owner == nil then
    request.owner = {}
    return begin_alone(attempt, terms, request, callback)
  end
  local done, guard, message, code =
    reenter(attempt, terms, request.owner, request.scope)
  if not done then
    return begin_alone(attempt, terms, request, callback, guard)
  end
  terms.engine.events:later(function()
    callback(answer(terms, done, guard, message, code))
  end, request.scope)
  return false
end

return Attempt

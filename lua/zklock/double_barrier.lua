--- Double barrier: a member's enter() blocks until all members have entered.
-- Its leave() blocks until all members have called leave().
local Attempt = require "zklock.attempt"
local check = require "zklock.check"
local errors = require "zklock.errors"
local guards = require "zklock.guard"
local locks = require "zklock.lock"
local options = require "zklock.options"
local protect = require "zklock.protect"
local reasons = require "zklock.reasons"
local new_ticket = require "zklock.ticket"
local node_waits = require "zklock.node_waits"
local waits = require "zklock.wait"

local DoubleBarrier = {}
DoubleBarrier.__index = DoubleBarrier

local double_barriers = {}

function double_barriers.new(engine, path, n, given)
  return setmetatable({
    path = path,
    _terms = locks.terms(engine, path, "double barrier", "member", given, n),
  }, DoubleBarrier)
end

-- Entering.

local function read_enter(self, attempt, how)
  attempt.gathers = true
  return attempt:read(self._terms, how)
end

--- Waits until all members have entered; returns a guard, or `nil, message,
-- code`.
DoubleBarrier.enter = protect.method(Attempt, function(attempt, self, how)
  return read_enter(self, attempt, how):acquire()
end)

--- Begins to enter, and returns a ticket at once; step() calls `callback(guard,
-- message, code)` with the outcome.
function DoubleBarrier:enter_async(how, callback)
  how, callback = check.function_last(how, callback,
    "enter_async([options,] fn)")
  return locks.begin(read_enter(self, Attempt.new(), how), callback)
end

-- Leaving.

-- The cleanup handler (protect.lua) of leave(). If a task is killed while it
-- waits in leave(), the other members would still wait for it. So the handler
-- then releases the task's guard.
local Leaving = protect.class()

function Leaving:finish()
  if self.fine or not self.guard then return end
  guards.give_back(self.guard)
  guards.tell_end(self.guard)
end

local function find(self, how)
  local terms = self._terms
  terms.engine:check_open()
  local given = options.leave:read_call(how)
  local guard = given.guard
  if guard == nil then
    guard = terms.owners:top(terms.kind, terms.engine.adapters:owner())
    if not guard then
      errors.misuse("%s was not entered by the calling task", self.path)
    end
  elseif not guards.is_of(guard, terms.owners) then
    errors.misuse("option 'guard' must be what enter has given, of %s",
      self.path)
  end
  return guard, given.timeout
end

local function begin(self, scope, guard, timeout)
  local engine = self._terms.engine
  local wait = node_waits.new(engine, scope, timeout,
    function(seconds, patient, awaiting)
      return engine.core:depart(guards.hold_ref(guard), seconds, patient,
        awaiting)
    end)
  wait.of = self._terms
  return wait
end

-- Releases the guard. Returns nil, message, "lost" if the hold was lost;
-- otherwise returns the result of leave(). `wait`: the wait for the other
-- members, which is over.
local function outcome(self, guard, wait)
  local kept, message, word = guards.give_back(guard)
  guards.tell_end(guard)
  if not kept then return nil, message, word end
  if not wait.code then return true end
  return reasons.of_node_wait(wait,
    ("the other members of %s to leave"):format(self.path))
end

--- Waits until all members have called leave(). Returns true, or `nil, message,
-- code`. After either result, the caller is no longer a member.
DoubleBarrier.leave = protect.method(Leaving, function(leaving, self, how)
  local guard, timeout = find(self, how)
  local adapter, scope = self._terms.engine.adapters:for_waiting()
  if guards.find_loss(guard) then return guard:release() end
  leaving.guard = guard
  local wait = begin(self, scope, guard, timeout)
  waits.suspend(wait, adapter, scope)
  return outcome(self, guard, wait)
end)

--- Begins to leave, and returns a ticket at once, whose cancel() ends only the
-- wait. When all members leave or the
-- wait fails, step() calls `callback(true)` or `callback(nil, message, code)`.
function DoubleBarrier:leave_async(how, callback)
  how, callback = check.function_last(how, callback,
    "leave_async([options,] fn)")
  local guard, timeout = find(self, how)
  local engine = self._terms.engine
  local ticket = new_ticket(false)
  if guards.find_loss(guard) then
    engine.events:later(function() callback(guard:release()) end)
    return ticket
  end
  local scope = engine.adapters:scope()
  ticket._it = node_waits.enter(begin(self, scope, guard, timeout), scope,
    callback, function(wait) return outcome(self, guard, wait) end)
  return ticket
end

--- Ends with "cancelled" every wait that was begun through this object. A
-- member that waits in enter() does not become a member. A member that waits in
-- leave() is no longer a member.
function DoubleBarrier:cancel()
  locks.cancel(self._terms)
end

check.methods(DoubleBarrier, [[
  double_barrier:enter(timeout or options)
  double_barrier:enter_async(timeout or options, fn)
  double_barrier:leave(timeout or options)
  double_barrier:leave_async(timeout or options, fn)
  double_barrier:cancel()
]])

function DoubleBarrier:__tostring()
  return errors.describe("zklock %s %s", self._terms.owners.signature,
    self.path)
end

return double_barriers

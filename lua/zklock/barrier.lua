--- Barrier: a node that blocks all waiters until a process lifts the barrier.
local check = require "zklock.check"
local errors = require "zklock.errors"
local options = require "zklock.options"
local Owners = require "zklock.owner"
local questions = require "zklock.questions"
local reasons = require "zklock.reasons"
local new_ticket = require "zklock.ticket"
local node_waits = require "zklock.node_waits"
local waits = require "zklock.wait"

local Barrier = {}
Barrier.__index = Barrier

local barriers = {}

function barriers.new(engine, path)
  return setmetatable({
    path = path,
    _engine = engine,
    _owners = Owners.of(engine, path, "barrier"),
  }, Barrier)
end

--- Sets the barrier: later calls of wait() block until it is lifted. Returns
-- two values: true, and whether this call has set the barrier; false if it was
-- already set.
function Barrier:set()
  return questions.set(self._engine:check_open(), self.path)
end

--- Lifts the barrier, which ends all waits for it. Returns two values: true,
-- and whether the barrier was set before.
function Barrier:lift()
  return questions.lift(self._engine:check_open(), self.path)
end

--- Asks a server whether the barrier is set; returns true or false.
function Barrier:is_set()
  return questions.exists(self._engine:check_open(), self.path)
end

local function outcome(self, wait)
  if not wait.code then return true end
  return reasons.of_node_wait(wait,
    ("the barrier %s to be lifted"):format(self.path))
end

local function begin(self, scope, timeout)
  local wait = node_waits.prepare(self._engine, scope, "gone", self.path,
    timeout)
  wait.of = self
  return wait
end

--- Waits until the barrier is lifted; returns at once if it is not set. Returns
-- true, or `nil, message, code`.
function Barrier:wait(how)
  local timeout = options.wait:read_call(how).timeout
  local adapter, scope = self._engine:check_open().adapters:for_waiting()
  local wait = begin(self, scope, timeout)
  waits.suspend(wait, adapter, scope)
  return outcome(self, wait)
end

--- Begins to wait, and returns a ticket at once. When the wait ends, step()
-- calls `callback(true)` or `callback(nil, message, code)`.
function Barrier:wait_async(how, callback)
  how, callback = check.function_last(how, callback,
    "wait_async([options,] fn)")
  local timeout = options.wait:read_call(how).timeout
  local scope = self._engine:check_open().adapters:scope()
  return new_ticket(node_waits.enter(begin(self, scope, timeout), scope,
    callback, function(wait) return outcome(self, wait) end))
end

--- Ends every wait that was begun through this object, with "cancelled".
function Barrier:cancel()
  waits.cancel_of(self._engine:check_open(), self)
end

check.methods(Barrier, [[
  barrier:set()
  barrier:lift()
  barrier:is_set()
  barrier:wait(timeout or options)
  barrier:wait_async(timeout or options, fn)
  barrier:cancel()
]])

function Barrier:__tostring()
  return errors.describe("zklock barrier %s", self.path)
end

return barriers

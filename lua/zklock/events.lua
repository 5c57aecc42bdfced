--- Events: passes the I/O thread's decisions on to waits and listeners.
-- Callbacks run only in step(), in the thread that owns the Lua state.
--
-- Each event is first *noted*: this file puts the event's work into the list
-- `due`. Only then does the C core drop the event. The work is `{ fn, ... }`,
-- or a wait that must end. It stays in `due` until it is done. At any time, a
-- debug hook can raise an error, and a callback can call step(). So it must be
-- harmless to note an event twice, or to do its work twice.
local errors = require "zklock.errors"
local guards = require "zklock.guard"
local loops = require "zklock.loop"
local turns = require "zklock.turns"
local waits = require "zklock.wait"

local Events = {}
Events.__index = Events

--- Makes the object that dispatches a session's events. `on_event`: the option
-- of connect.
function Events.new(engine, on_event)
  return setmetatable({
    engine = engine,
    on_event = on_event,
    listeners = {}, -- listeners by the event's name
    due = {},
    untold = {}, -- a guard of each lost hold that only step() can report
    farewell = false, -- the called listeners of "closed"
  }, Events)
end

function Events:on(event, fn)
  self.listeners[event] = self.listeners[event] or {}
  table.insert(self.listeners[event], fn)
end

-- The list `due`.

-- The most work that run_due does at once. Callbacks can cause new work without
-- end: for example, they can pass a lock to each other by local turns
-- (turns.lua). So an unlimited step() might never return.
local MOST = 64

local function run_due(self)
  local due = self.due
  for _ = 1, MOST do
    local item = due[1]
    if not item then return end
    if item.number then -- a wait
      waits.finish(item)
    else
      item[1](self, item[2], item[3], item[4])
    end
    if due[1] == item then table.remove(due, 1) end
  end
end

local function forget(due, item)
  for i = #due, 1, -1 do
    if due[i] == item then table.remove(due, i) end
  end
end

-- Does the work `item` at once. `item` is in the list `due` meanwhile. So if a
-- debug hook interrupts the work, the next step() repeats it.
local function do_now(self, item)
  local due = self.due
  table.insert(due, item)
  item[1](self, item[2], item[3], item[4])
  forget(due, item)
end

local function call_later(self, item)
  self.engine.callbacks:call(item)
  if item.adapter then self.engine.adapters:attend(item.adapter, item, nil) end
end

--- Defers a callback to the next step(). `scope`: an nginx request; if it has
-- ended by then, the callback is not called. nil stands for the caller's
-- request, false for no request.
function Events:later(fn, scope)
  local adapters = self.engine.adapters
  if scope == nil then scope = adapters:scope() end
  local item = { fn = fn, scope = scope, adapter = false }
  item.adapter = adapters:expect(item)
  table.insert(self.due, { call_later, item })
  self.engine.core:nudge()
end

local function may_call(self)
  return loops.allows_callbacks(self.engine.adapters.loop)
end

--- Calls a callback at once; if no callback is allowed to run now, the next
-- step() calls it.
function Events:call(item, ...)
  if may_call(self) then return self.engine.callbacks:call(item, ...) end
  local n, given, fn = select("#", ...), { ... }, item.fn
  item.fn = false
  self:later(function() fn((table.unpack or unpack)(given, 1, n)) end,
    item.scope or false)
end

-- The work of events.

local function end_openings(self, code)
  for _, wait in ipairs(waits.list(self.engine.waits)) do
    if wait.opening then
      wait.code = code
      waits.finish(wait)
    end
  end
end

local function fail(self, code, wants)
  local state = self.engine.state
  if not state:enter("failed", code) then return end
  state.wants = wants or false
  end_openings(self, code)
end

-- Reports a lost hold: logs and counts the loss, and calls each listener. Logs
-- and counts only in the first call for this hold. `guard`: any guard of the
-- hold.
local function tell_loss(self, guard, listeners)
  local callbacks, hold = self.engine.callbacks, guard._hold
  local path, reason = hold.owners.path, guard._hold_ref:reason()
  local is_told = hold.is_told
  hold.is_told = true
  self.untold[hold] = nil
  if not is_told then
    callbacks:report("warn", ("the hold of %s was lost%s"):format(path,
      errors.because(reason)))
    self.engine.meters:finish(path, guard._hold_ref, reason)
    self.engine.meters:tell()
  end
  local _, message = errors.lost(path, reason)
  for _, listener in ipairs(listeners) do
    callbacks:call(listener, listener.guard, reason, message)
  end
  self.engine.adapters:unlisten(hold)
end

local function tell_revoked(self, guard, listeners)
  guard._hold.is_revoked = true
  for _, listener in ipairs(listeners) do
    self.engine.callbacks:call(listener, listener.guard)
  end
end

local none = {}

local function listeners_of(self, event)
  local listeners = {}
  for _, fn in ipairs(self.listeners[event] or none) do
    listeners[#listeners + 1] = { fn = fn }
  end
  listeners[#listeners + 1] = { fn = self.on_event }
  return listeners
end

local function tell(self, event, listeners)
  for _, listener in ipairs(listeners) do
    self.engine.callbacks:call(listener, event, self.engine.session)
  end
end

local function tell_state(self, name, event, listeners)
  if not self.engine.state:enter(name) then return end
  tell(self, event, listeners)
  if name == "connected" then end_openings(self, false) end
end

local function report(self, level, message)
  self.engine.callbacks:report(level, message)
end

local function finish_scope(_, scope) scope:finish() end

-- Maps each kind of event to its handler: a function that returns the event's
-- work, or nothing. The C core keeps the event until its work is noted. So if a
-- handler raises an error because memory is short, the event is not lost.
local handlers = {}

function handlers.granted(engine, number)
  local wait = waits.find(engine, number)
  if not wait then turns.left(engine, number) end
  return wait
end

function handlers.refused(engine, number, code, ahead, reason, blocker, holds,
    cut, session)
  local wait = waits.find(engine, number)
  turns.left(engine, number)
  if not wait then return end
  wait.code, wait.ahead, wait.reason = code, ahead, reason
  wait.blocker, wait.blocker_session = blocker, session
  wait.blocker_holds, wait.blocker_cut = holds or nil, cut or nil
  return wait
end

function handlers.answered(engine, number, code, reason, found)
  local wait = waits.find(engine, number)
  if not wait then return end
  wait.code, wait.reason = code, reason
  wait.found = found
  return wait
end

-- A hold's node was deleted after the release: ends the wait for this
-- confirmation. If the server refused to delete the node, `code` and `reason`
-- are its error, and the node still exists.
function handlers.gone(engine, number, root, code, reason)
  turns.left(engine, root)
  local wait = waits.find(engine, number)
  if not wait then return end
  wait.code, wait.reason = code, reason
  return wait
end

-- Returns a guard of the hold with this number. Returns nil if there is none.
-- Returns nil after close, too, because then no listener of a hold may be
-- called any more.
local function guard_of(engine, number)
  return not engine.state.is.closed and engine.holds[number] or nil
end

function handlers.lost(engine, number, root)
  turns.left(engine, root)
  local guard = guard_of(engine, number)
  return guard and not guard._hold.is_told
    and { tell_loss, guard, guards.listeners(guard, "lost") }
end

function handlers.revoked(engine, number)
  local guard = guard_of(engine, number)
  return guard
    and { tell_revoked, guard, guards.listeners(guard, "revoked") }
end

local function state_item(engine, name)
  local event = name
  if name == "connected" and engine.state:is_same_session() then
    event = "reconnected"
  end
  return { tell_state, name, event, listeners_of(engine.events, event) }
end

function handlers.state(engine, name)
  local state = engine.state
  if name == "closed" or not state:may_enter(name)
      or name == "suspended" and state.is.name == name then
    return nil
  end
  return state_item(engine, name)
end

-- The first connection has failed. `code`: why it failed; `wants`: what the
-- servers require.
function handlers.failed(engine, code, wants)
  return engine.state:may_enter "failed" and { fail, code, wants }
end

function handlers.log(_, level, message)
  return { report, level, message }
end

-- The nginx request of scope `number` has ended: ends its waits and holds.
function handlers.ended(engine, number)
  local scope = engine.scopes[number]
  return scope and { finish_scope, scope }
end

local function give_up(self) turns.give_up(self.engine) end

-- The deadlines of some waits in local queues (turns.lua) may have passed.
-- Sends these waits to the C core, which ends them. Does this only after this
-- event was noted, because until then the core posts no other alarm. Otherwise
-- an alarm for a later deadline could be missing.
function handlers.alarm() return { give_up } end

function handlers.closed(engine)
  engine.state:enter "ended"
end

local function dispatch(self, kind, ...)
  if not kind then return false end
  local engine = self.engine
  engine.core:noted(self.due, handlers[kind](engine, ...) or nil)
  return kind
end

--- Processes all events and calls the callbacks that are due. Raises only
-- errors that a debug hook has raised.
function Events:step()
  local engine = self.engine
  local state, handle = engine.state, engine.core
  -- Reports the trace events that an interrupted release has not reported.
  if engine.meters.untold[1] then engine.meters:tell() end
  repeat
    if self.due[1] then run_due(self) end
  until state.is.left
    or not dispatch(self, handle:next(engine.adapters.host_reads))
  if self.due[1] and not state.is.left then handle:nudge() end
end

--- Ends a wait in a local queue (turns.lua) that has got the hold. If a task
-- waits, its loop wakes it at once; a callback runs in the next step().
function Events:tell_turn(wait)
  if not wait.callback then return waits.finish(wait) end
  table.insert(self.due, wait)
  self.engine.core:nudge()
end

--- Called when a call, such as release(), finds that a hold is lost. Calls the
-- hold's listeners before that call returns. If callbacks must not run now, the
-- C core's later event "lost" calls them. If step() has not yet reported that
-- the session is suspended, first reports this. `guard`: any guard of the hold.
function Events:lose(guard)
  local engine, hold = self.engine, guard._hold
  if hold.is_told then return end
  if not may_call(self) then
    self.untold[hold] = guard -- keeps it for the event
    engine.holds[guard._hold_ref:number()] = guard
    return
  end
  if engine.state.is.name == "connected" and engine.core:state() == "suspended"
  then
    do_now(self, state_item(engine, "suspended"))
  end
  do_now(self, { tell_loss, guard, guards.listeners(guard, "lost") })
end

--- Finds all lost holds, and calls their listeners.
function Events:tell_losses()
  local list, lost = guards.list(self.engine), {}
  for _, guard in ipairs(list) do lost[guard] = guards.find_loss(guard) end
  for _, guard in ipairs(list) do
    if lost[guard] then self:lose(guard) end
  end
end

-- Counts the end of each hold that is not lost in the metrics. Removes these
-- holds from `engine.holds`, so later events do not find them and count them
-- again.
local function finish_holds(engine)
  for _, guard in ipairs(guards.list(engine)) do
    local hold_ref = guard._hold_ref
    if not hold_ref:reason() then
      engine.holds[hold_ref:number()] = nil
      engine.meters:finish(guard.path, hold_ref)
    end
  end
  engine.meters:tell()
end

--- Ends all waits and calls the listeners of "closed", after the session was
-- closed.  Calling it again does nothing.
function Events:tell_closed()
  self:tell_losses() -- losses before the close come first
  finish_holds(self.engine)
  for _, wait in ipairs(waits.list(self.engine.waits)) do
    if not wait.opening then
      wait.code = "closed"
      table.insert(self.due, wait)
    end
  end
  while self.due[1] do run_due(self) end
  self.farewell = self.farewell or listeners_of(self, "closed")
  tell(self, "closed", self.farewell)
  end_openings(self, "closed")
end

return Events

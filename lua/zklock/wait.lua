--- Waits: how a task is suspended until an event ends its wait.
--
-- `engine.waits` has all waits of a session by number, in which events find
-- them: acquisitions, questions, node waits, waits for the deletion of a
-- released hold's node, waits for the first connection, and pauses.
--
-- There are many waits; they come and go in the order of their numbers. So they
-- are spread over PLACES tables, by number. Lua reuses the slots of removed
-- entries only when it rehashes a table. If one full table (64 tasks, say) had
-- all waits, Lua would rehash the table for each new wait.
local core = require "zklock.core"
local protect = require "zklock.protect"

local waits = {}

local PLACES = 64

-- A wait with the field `left` checks the clock after at most this many
-- seconds. It cannot rely on the loop's timers: while the machine sleeps, they
-- stop, but the clock goes on. Few waits have this field, so the checks are
-- cheap. The deadlines of acquisitions are kept by the I/O thread, whose timer
-- counts sleep.
local LONGEST = 1

-- A wait object is also the cleanup handler (see protect.lua) of the call that
-- it suspends. The class holds the defaults of the following fields, because
-- most waits never set them.
local Wait = protect.class()

Wait.callback = false -- called at the end, if no task is suspended
Wait.scope = false -- the nginx request whose end cancels the wait
Wait.left = false -- a function: returns how many seconds are left
Wait.opening = false -- true for a wait for the first connection
Wait.of = false -- the object whose cancel() ends the wait
Wait.hold_ref = false -- a grant fills it; its release ends the wait
-- Fields of acquisitions (attempt.lua):
Wait.terms = false -- the terms of the lock
Wait.guard = false -- the guard, after the grant
Wait.counted = false -- the meters have counted the refusal
Wait.line = false -- the line of local turns; `after`: the next wait
Wait.after = false
-- The outcome of the wait. An event sets these fields, and sets them again if
-- its handler raises an error.
Wait.reason = false
Wait.ahead = false
Wait.blocker = false
Wait.blocker_holds = false
Wait.blocker_cut = false
Wait.blocker_session = false -- with "conflict": the session of the blocker
Wait.found = false -- the result of a question

--- Returns a class of waits with the same fields and methods.
function waits.class()
  local class = protect.class()
  for name, value in pairs(Wait) do class[name] = value end
  class.__index = class
  return class
end

--- Returns empty tables of waits, for a new session.
function waits.tables()
  local tables = {}
  for i = 1, PLACES do tables[i] = {} end
  return tables
end

--- Returns the wait with this number, or nil.
function waits.find(engine, number)
  return engine.waits[number % PLACES + 1][number]
end

--- Returns any one of the waits, or nil if there is none.
function waits.any(tables)
  for i = 1, PLACES do
    local _, wait = next(tables[i])
    if wait then return wait end
  end
  return nil
end

local function is_earlier(one, other) return one.number < other.number end

--- Returns all waits, in the order of their numbers.
function waits.list(tables)
  local list = {}
  for i = 1, PLACES do
    for _, wait in pairs(tables[i]) do list[#list + 1] = wait end
  end
  table.sort(list, is_earlier)
  return list
end

local numbers = 0 -- the last number of a wait that no event ends

--- Makes a wait. `number`: the number by which events find the wait; nil if
-- other code ends the wait. The constructor sets all fields that most waits
-- need, so that the end of the wait needs no memory.
function waits.new(engine, number)
  if not number then
    numbers = numbers - 1
    number = numbers
  end
  return setmetatable({
    engine = engine,
    number = number,
    adapter = false, -- suspends the task, or calls the callback
    endless = false, -- true if the wait has no time limit
    fine = false, -- true if no error has ended the call
    done = false,
    code = false,
  }, Wait)
end

--- Adds the wait to the table in which events find it.
function waits.enter(wait)
  wait.engine.waits[wait.number % PLACES + 1][wait.number] = wait
end

--- Adds a wait whose caller is not suspended to its table. When the wait ends,
-- step() calls `callback(wait)`. If a debug hook raises an error in this call,
-- the next step() repeats it. `scope`: the nginx request whose end ends the
-- wait, or nil.
function waits.listen(wait, scope, callback)
  if scope then
    wait.scope = scope
    scope.waits[wait] = true
  end
  wait.callback = callback
  wait.adapter = wait.engine.adapters:expect(wait)
  waits.enter(wait)
  return wait
end

-- Removes the wait from its table. A wait for the deletion of a hold's node has
-- the same number as the hold's acquisition, whose end can be repeated.
local function leave(wait)
  local number = wait.number
  local place = wait.engine.waits[number % PLACES + 1]
  if place[number] == wait then place[number] = nil end
end

--- Ends the wait: wakes its task or calls its callback.  Repeating it is
-- harmless.
function waits.finish(wait)
  leave(wait)
  wait.done = true
  local adapter, scope = wait.adapter, wait.scope
  if wait.callback then
    if not scope then
      wait.callback(wait)
    elseif not scope:has_ended() then
      scope.waits[wait] = nil
      wait.callback(wait)
    end
    if adapter then wait.engine.adapters:attend(adapter, wait, nil) end
  elseif adapter then
    adapter.wake(wait)
  end
end

--- Cancels the wait of an acquisition or for a node: it ends with "cancelled",
-- unless its result came first.
function Wait:cancel()
  if self.done or not self.number or self.engine.state.is.closed then return end
  if self.line then self.line:send(self) end
  self.hold_ref:cancel()
end

--- Cancels the waits of an object, in the order in which they began. `of`: the
-- terms of a lock, or another object that is the field `of` of its waits.
function waits.cancel_of(engine, of)
  for _, wait in ipairs(waits.list(engine.waits)) do
    if wait.terms == of or wait.of == of then wait:cancel() end
  end
end

--- Sets the time limit of a wait: this many seconds from now; nil for no limit.
function waits.limit(wait, seconds)
  local deadline = seconds and core.now() + seconds
  wait.endless = not seconds
  if not seconds then return end
  wait.left = function() return deadline - core.now() end
end

--- Ends all waits that have no time limit and belong to no client's request.
-- Cancels acquisitions and node waits at once. Gives waits for a server's
-- confirmation a time limit of `seconds`.
function waits.end_endless(tables, seconds)
  for _, wait in ipairs(waits.list(tables)) do
    local is_endless = wait.endless and not (wait.scope and wait.scope.client)
    if is_endless and wait.hold_ref then
      wait:cancel()
    elseif is_endless then
      waits.limit(wait, seconds)
      if wait.adapter then wait.adapter.wake(wait) end
    end
  end
end

-- Called when the wait is over: its task and its nginx request no longer need
-- events.
local function detach(wait)
  local adapter, scope = wait.adapter, wait.scope
  if scope then scope.waits[wait] = nil end
  if adapter then wait.engine.adapters:attend(adapter, wait, nil) end
  if not wait.done then leave(wait) end
  if wait.line then wait.line:drop(wait) end
end

--- Ends a wait whose outcome no caller will get: releases its hold reference,
-- and counts an acquisition as cancelled.
function waits.abandon(wait)
  if wait.number then detach(wait) end
  if not wait.hold_ref or wait.guard then return end
  wait.done = true -- a later cancel has no effect
  wait.hold_ref:release(true) -- an event continues the line of turns
  local engine, terms = wait.engine, wait.terms
  if not (wait.number and terms) or wait.counted or engine.state.is.left then
    return
  end
  wait.counted = true
  -- The caller may be in the middle of an operation, which the trace callback
  -- must not interrupt. So step() calls this callback later.
  engine.meters:refuse(terms, wait.hold_ref, "cancelled", true)
  if engine.meters.trace then engine.core:nudge() end
end

-- Called when the task's suspension ends; removes the wait. If `fine` is set,
-- the wait ended normally. Otherwise the task was killed or an error was
-- raised, and this function abandons the wait.
function Wait:finish()
  if self.fine then detach(self) else waits.abandon(self) end
end

-- Adds the wait to its table, and lets the adapter suspend the task until the
-- wait ends.
local function turn(wait, adapter)
  waits.enter(wait)
  wait.engine.adapters:attend(adapter, wait, true)
  -- The caller can be a callback of an event. The event that ends this wait may
  -- have come together with that event. Without this step(), the callback could
  -- wait for ever.
  if wait.line and wait.engine.core:is_behind() then
    wait.engine.events:step()
  end
  while not wait.done do
    -- Timers accept no negative time: after a pause of the process, the
    -- deadline may have passed.
    adapter.wait(wait, wait.left
      and math.max(0, math.min(wait.left(), LONGEST)) or nil)
    -- An adapter that does not watch the descriptor itself returns from time to
    -- time. Events may have come meanwhile.
    if not wait.done then wait.engine.events:step() end
    if wait.left and wait.left() <= 0 then break end
  end
end

--- Makes `wait` belong to the running task and to its nginx request, which is
-- `wait.scope`. A caller that runs user code before it suspends the task must
-- call this first.
function waits.prepare(wait, adapter)
  local scope = wait.scope
  wait.adapter = adapter
  if scope then scope.waits[wait] = true end
end

--- Suspends the running task until the wait is done or its time is over.
-- `adapter`, `scope`: the results of adapters:for_waiting().
function waits.suspend(wait, adapter, scope)
  if scope then wait.scope = scope end
  waits.prepare(wait, adapter)
  protect.call(adapter.blocks, wait, turn, wait, adapter)
end

--- Suspends the running task. For callers that are protected themselves
-- (protect.lua). If an error or the end of the coroutine interrupts this call,
-- the caller must call waits.abandon(wait).
function waits.suspend_within(wait, adapter)
  if not wait.adapter then waits.prepare(wait, adapter) end
  if not wait.done then turn(wait, adapter) end
  detach(wait)
end

-- Pauses: waits for some time, in any loop. Closing the session ends a pause
-- early, with the code "closed".

--- Makes a pause that ends this number of seconds from now.
function waits.pause(engine, seconds)
  local pause = waits.new(engine)
  waits.limit(pause, seconds)
  return pause
end

--- Suspends the running task until the pause is over. Meanwhile step() still
-- processes events.
function waits.take(pause)
  if pause.done then return end
  waits.suspend(pause, pause.engine.adapters:for_waiting())
end

return waits

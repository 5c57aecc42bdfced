--- Waits: how a task is suspended until an event ends its wait.
--
-- `engine.waits` has tables of waits by number, in which events find them.
-- `answers` is for acquisitions and questions, and `removals` for the deletion
-- of released holds' nodes. `openings` is for the first connection, and
-- `pauses` for the end of a time.
--
-- There are many waits for answers; they come and go in the order of their
-- numbers. So they are spread over PLACES tables, by number. Lua reuses the
-- slots of removed entries only when it rehashes a table. If one full table (64
-- tasks, say) had all waits, Lua would rehash the table for each new wait.
local core = require "zklock.core"
local protect = require "zklock.protect"

local waits = {}

local PLACES = 64

-- A wait with the field `timeout` checks the clock after at most this many
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
Wait.timeout = false -- a function: returns how many seconds are left
-- Fields of acquisitions:
Wait.hold_ref = false -- the hold reference that a grant fills
Wait.terms = false -- the terms of the lock
Wait.taken = false -- the reference has passed to a guard
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

--- Returns empty tables of waits, for a new session.
function waits.tables()
  local answers = {}
  for i = 1, PLACES do answers[i] = {} end
  return { answers = answers, removals = {}, openings = {}, pauses = {} }
end

--- Returns the wait for the answer with this number, or nil.
function waits.find(engine, number)
  return engine.waits.answers[number % PLACES + 1][number]
end

--- Returns any one of the waits for an answer, or nil if there is no such wait.
function waits.any(answers)
  for i = 1, PLACES do
    local _, wait = next(answers[i])
    if wait then return wait end
  end
  return nil
end

--- Returns whether there is any wait.
function waits.exist(tables)
  return next(tables.openings) or waits.any(tables.answers)
    or next(tables.removals) or next(tables.pauses)
end

--- Makes a wait. `among`: the table in which events find the wait, by its
-- number. Without `number`, the wait itself is the key. The constructor sets
-- all fields that most waits need, so that the end of the wait needs no memory.
-- There are eight: with a ninth, Lua would double the table.
function waits.new(engine, among, number)
  local wait = setmetatable({
    engine = engine,
    among = among,
    number = number or false,
    adapter = false, -- suspends the task, or calls the callback
    endless = false, -- true if the wait has no time limit
    fine = false, -- true if no error has ended the wait
    done = false,
    code = false,
  }, Wait)
  if not number then wait.number = wait end
  return wait
end

--- Makes the wait for the answer with this number.
function waits.for_answer(engine, number)
  return waits.new(engine, engine.waits.answers[number % PLACES + 1], number)
end

--- Makes the wait of an acquisition. The wait's table has room for sixteen
-- fields. A refusal or the line of local turns (turns.lua) sets more fields
-- later.
function waits.of_acquisition(terms, request, hold_ref, number)
  local engine = terms.engine
  return setmetatable({
    engine = engine,
    among = engine.waits.answers[number % PLACES + 1],
    number = number,
    adapter = false,
    endless = false,
    fine = false,
    done = false,
    code = false,
    hold_ref = hold_ref,
    terms = terms,
    request = request,
    taken = false,
  }, Wait)
end

--- Adds the wait to its table, in which events find it. If no other object
-- refers to the wait, Lua collects the wait, and thereby ends it.
function waits.enter(wait)
  wait.among[wait.number] = wait
end

--- Adds a wait whose caller is not suspended to its table. When the wait ends,
-- step() calls `callback(wait)`. If a debug hook raises an error in this call,
-- the next step() repeats it. `scope`: the nginx request whose end ends the
-- wait, or nil.
function waits.listen(wait, scope, callback)
  if scope then
    wait.scope = scope
    scope:add(scope.waits, wait)
  end
  wait.callback = callback
  wait.adapter = wait.engine.adapters:expect(wait)
  waits.enter(wait)
  return wait
end

local function leave(wait)
  wait.among[wait.number] = nil
  if wait.line then wait.line:drop(wait) end
end
waits.leave = leave

--- Ends the wait: wakes its task or calls its callback.  Repeating it is
-- harmless.
function waits.finish(wait)
  wait.among[wait.number] = nil
  wait.done = true
  local adapter, scope = wait.adapter, wait.scope
  if wait.callback then
    if not scope then
      wait.callback(wait)
    elseif not scope:has_ended() then
      scope:remove(scope.waits, wait)
      wait.callback(wait)
    end
    if adapter then wait.engine.adapters:attend(adapter, wait, nil) end
  elseif adapter then
    adapter.wake(wait)
  end
end

--- Cancels the wait of an acquisition: it ends with "cancelled", unless it was
-- already granted.
function waits.cancel(wait)
  if wait.done or wait.engine.state.is.closed then return end
  if wait.line then wait.line:send(wait) end
  wait.hold_ref:cancel()
end

local function is_earlier(one, other) return one.number < other.number end

--- Cancels the waits of a set, in the order in which they began.
function waits.cancel_all(set)
  local list = {}
  for wait in pairs(set) do list[#list + 1] = wait end
  table.sort(list, is_earlier)
  for _, wait in ipairs(list) do waits.cancel(wait) end
end

--- Sets the time limit of a wait: this many seconds from now; nil for no limit.
function waits.limit(wait, seconds)
  local deadline = seconds and core.now() + seconds
  wait.endless = not seconds
  if not seconds then return end
  wait.timeout = function() return deadline - core.now() end
end

local function is_endless(wait)
  local scope = wait.scope
  return wait.endless and not (scope and scope.client)
end

--- Ends all waits that have no time limit and belong to no client's request.
-- Cancels acquisitions at once. Gives waits for a server's confirmation a time
-- limit of `seconds`.
function waits.end_endless(tables, seconds)
  for _, place in ipairs(tables.answers) do
    for _, wait in pairs(place) do
      if is_endless(wait) then waits.cancel(wait) end
    end
  end
  for _, wait in pairs(tables.removals) do
    if is_endless(wait) then
      waits.limit(wait, seconds)
      if wait.adapter then wait.adapter.wake(wait) end
    end
  end
end

-- Ends a wait whose outcome no caller will get: releases its hold reference,
-- and counts the acquisition as cancelled.
local function abandon(wait)
  leave(wait)
  if not wait.hold_ref or wait.taken then return end
  wait.done = true -- a later cancel has no effect
  wait.hold_ref:release(true) -- an event continues the line of turns
  local engine, terms = wait.engine, wait.terms
  if not terms or wait.counted or engine.state.is.left then return end
  wait.counted = true
  -- The caller may be in the middle of an operation, which the trace callback
  -- must not interrupt. So step() calls this callback later.
  engine.meters:abandon(terms, wait.hold_ref)
  if engine.meters.trace then engine.core:nudge() end
end

-- Called when the task's suspension ends; removes the wait. If `fine` is set,
-- the wait ended normally. Otherwise the task was killed or an error was
-- raised, and this function abandons the wait.
function Wait:finish()
  if self.scope then self.scope:remove(self.scope.waits, self) end
  self.engine.adapters:attend(self.adapter, self, nil)
  if self.fine then leave(self) else abandon(self) end
end

-- Adds the wait to its table (waits.enter), and lets the adapter suspend the
-- task until the wait ends.
local function turn(wait, adapter)
  wait.among[wait.number] = wait
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
    adapter.wait(wait, wait.timeout
      and math.max(0, math.min(wait.timeout(), LONGEST)) or nil)
    -- An adapter that does not watch the descriptor itself returns from time to
    -- time. Events may have come meanwhile.
    if not wait.done then wait.engine.events:step() end
    if wait.timeout and wait.timeout() <= 0 then break end
  end
end

--- Makes `wait` belong to the running task and to its nginx request, which is
-- `wait.scope`. A caller that runs user code before it suspends the task must
-- call this first.
function waits.prepare(wait, adapter)
  local scope = wait.scope
  wait.adapter = adapter -- from now on wait:finish() must be called
  if scope then scope:add(scope.waits, wait) end
end

--- Returns whether a task is suspended in this wait, or soon will be.
function waits.suspends(wait) return wait.adapter and not wait.callback end

--- Suspends the running task until the wait is done or its time is over.
-- `adapter`, `scope`: the results of adapters:for_waiting().
function waits.suspend(wait, adapter, scope)
  if scope then wait.scope = scope end
  waits.prepare(wait, adapter)
  protect.call(adapter.blocks, wait, turn, wait, adapter)
end

--- Suspends the running task. For callers that are protected themselves
-- (protect.lua). If an error or the end of the coroutine interrupts this call,
-- the caller must call wait:finish().
function waits.suspend_within(wait, adapter)
  if not wait.adapter then waits.prepare(wait, adapter) end
  if not wait.done then turn(wait, adapter) end
  wait.fine = true
  wait:finish()
end

--- Ends a wait without a result. Called when its task, if it has one, will
-- never continue.
function waits.abandon(wait)
  if waits.suspends(wait) then return wait:finish() end
  abandon(wait)
  if wait.adapter then wait.engine.adapters:attend(wait.adapter, wait, nil) end
end

return waits

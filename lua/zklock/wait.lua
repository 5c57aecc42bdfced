--- Waits: what events are to end, and how a task is suspended until then.
--
-- `engine.waits` has tables of them, by number, for events to find them:
-- `answers`, to acquisitions and questions; `removals`, of nodes whose hold was
-- released; `openings`, of the first connection; `pauses`, of time to pass.
--
-- Answers are many, and come and go in the order of their numbers: so they are
-- in PLACES tables, by the rest of the number.  In one table each that comes
-- would have the whole of it made anew, whenever as many wait as it has room
-- for (64 tasks, say): what has gone leaves no room behind until then.
local core = require "zklock.core"
local protect = require "zklock.protect"

local waits = {}

local PLACES = 64

-- The timers of a loop do not count the time that the machine sleeps, and the
-- clock of `timeout` does: so a wait that has one looks at the clock after so
-- many seconds.  (They are few: the deadlines of acquisitions are the I/O
-- thread's, whose timer counts sleep.)
local LONGEST = 1

-- A wait is the closing of the task that it suspends, and the item in `due`
-- that ends it (events.lua).  Most waits never need the fields that are here.
local Wait = protect.class()

Wait.callback = false -- in place of a task to be woken
Wait.scope = false -- it ends with that request
Wait.timeout = false -- a function: how many seconds are left
-- Of an acquisition.
Wait.share = false -- what it may be granted
Wait.terms = false -- what it is asked for with
Wait.taken = false -- its share has become a guard's
Wait.counted = false -- the meters have counted its refusal
Wait.line = false -- in which it stands; `after` is behind it: turns.lua
Wait.after = false
-- Its end: what handlers note (an event is told again if they raise).
Wait.reason = false
Wait.ahead = false
Wait.rival = false
Wait.rival_holds = false
Wait.rival_cut = false
Wait.rival_session = false -- its owner, with "conflict"
Wait.found = false -- what a question has found
Wait.detail = false -- and what is to be said of that

--- The tables of a session that has just been made.
function waits.tables()
  local answers = {}
  for i = 1, PLACES do answers[i] = {} end
  return { answers = answers, removals = {}, openings = {}, pauses = {} }
end

--- That of `tables.answers` for this number.
function waits.place(answers, number)
  return answers[number % PLACES + 1]
end

--- Who waits for an answer, if anybody does.
function waits.any(answers)
  for i = 1, PLACES do
    local _, wait = next(answers[i])
    if wait then return wait end
  end
  return nil
end

--- Is anybody waiting?
function waits.exist(tables)
  return next(tables.openings) or waits.any(tables.answers)
    or next(tables.removals) or next(tables.pauses)
end

--- A wait.  What its end is to be noted in is there from the beginning: then no
-- memory is needed.  Without a number it is its own.  (A table of Lua's has
-- room for eight fields before it doubles.)
function waits.new(engine, among, number)
  local wait = setmetatable({
    engine = engine,
    among = among, -- the table that it is in
    number = number or false,
    adapter = false, -- what suspends or calls back who waits
    endless = false, -- it has no limit in time
    fine = false, -- it was not ended by an error
    done = false,
    code = false,
  }, Wait)
  if not number then wait.number = wait end
  return wait
end

--- The wait of an acquisition.  (A refusal, or a line, fits into the sixteen
-- fields that it has room for.)
function waits.of_acquisition(terms, request, share, number)
  local engine = terms.engine
  return setmetatable({
    engine = engine,
    among = waits.place(engine.waits.answers, number),
    number = number,
    adapter = false,
    endless = false,
    fine = false,
    done = false,
    code = false,
    share = share,
    terms = terms,
    request = request,
    taken = false,
  }, Wait)
end

--- From now on events find it.  What they do not, the collector ends.
function waits.enter(wait)
  wait.among[wait.number] = wait
end

--- The same for who is not suspended: `callback(wait)` hears of its end, from
-- step(); again, if a hook has raised meanwhile.  `scope`: the request that it
-- ends with, if there is one.
function waits.listen(wait, scope, callback)
  if scope then
    wait.scope = scope
    scope:add(scope.waits, wait)
  end
  wait.callback = function()
    if scope then scope:remove(scope.waits, wait) end
    callback(wait)
  end
  wait.adapter = wait.engine.adapters:expect(wait)
  waits.enter(wait)
  return wait
end

local function leave(wait)
  wait.among[wait.number] = nil
  if wait.line then wait.line:drop(wait) end
end
waits.leave = leave

--- It is over: whoever waits is woken, or called.  Twice does no harm.
function waits.finish(wait)
  wait.among[wait.number] = nil
  wait.done = true
  local adapter = wait.adapter
  if wait.callback then
    if not (wait.scope and wait.scope:has_ended()) then wait.callback() end
    if adapter then wait.engine.adapters:attend(adapter, wait, nil) end
  elseif adapter then
    adapter.wake(wait)
  end
end

Wait[1] = function(_, _, _, _, wait) waits.finish(wait) end

--- Ends a wait for a grant; it hears "cancelled" unless the grant was first.
function waits.cancel(wait)
  if wait.done or wait.engine.state.is.closed then return end
  if wait.line then wait.line:send(wait) end
  wait.share:cancel()
end

local function is_earlier(one, other) return one.number < other.number end

--- The same for those of a set, in the order in which they were begun.
function waits.cancel_all(set)
  local list = {}
  for wait in pairs(set) do list[#list + 1] = wait end
  table.sort(list, is_earlier)
  for _, wait in ipairs(list) do waits.cancel(wait) end
end

--- From now on it lasts so many seconds at most; nil: as long as it takes.
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

--- Ends what neither a limit nor a client's request would end: at once; or,
-- where the servers' word is waited for, within so many seconds.
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

-- Nobody will hear of its outcome.
local function abandon(wait)
  leave(wait)
  if not wait.share or wait.taken then return end
  wait.done = true -- a cancel comes too late
  wait.share:release(true) -- and its line is told by an event
  local engine, terms = wait.engine, wait.terms
  if not terms or wait.counted or engine.state.is.left then return end
  wait.counted = true
  -- (Whoever ends it may be in the middle of something: step() tells of it.)
  engine.meters:abandon(terms, wait.share)
  if engine.meters.trace then engine.core:nudge() end
end

-- Its task goes on, or never will.
function Wait:finish()
  if self.scope then self.scope:remove(self.scope.waits, self) end
  self.engine.adapters:attend(self.adapter, self, nil)
  if self.fine then leave(self) else abandon(self) end
end

-- How long an adapter may wait; nil: without end.  (A process may stand still
-- before it begins, and timers take what is below zero for anything.)
local function time_for(wait)
  return wait.timeout
    and math.max(0, math.min(wait.timeout(), LONGEST)) or nil
end

-- Only here does it enter: see waits.enter.
local function turn(wait, adapter)
  waits.enter(wait)
  wait.engine.adapters:attend(adapter, wait, true)
  -- (A callback that waits: for what is told with what it was called for?)
  if wait.line and wait.engine.core:is_behind() then
    wait.engine.events:step()
  end
  while not wait.done do
    adapter.wait(wait, time_for(wait))
    -- An early return of an adapter that does not watch the fd by itself.
    if not wait.done then wait.engine.events:step() end
    if wait.timeout and wait.timeout() <= 0 then break end
  end
end

--- From now on it is the running task's, which is to be suspended, and ends
-- with its request: for who runs code of the user's before that.
function waits.prepare(wait, adapter)
  local scope = wait.scope or wait.engine.adapters:scope(adapter)
  if scope then wait.scope = scope end
  wait.adapter = adapter -- from now on it is to be finished
  if scope then scope:add(scope.waits, wait) end
end

--- Is a task suspended in this wait, or about to be?
function waits.suspends(wait) return wait.adapter and not wait.callback end

--- Suspends the running task until `wait.done`, or until its own timeout.
function waits.suspend(wait, adapter)
  waits.prepare(wait, adapter)
  protect.call(adapter.blocks, wait, turn, wait, adapter)
end

--- The same for a caller that is protected already, and that calls
-- wait:finish() if this does not get through (waits.suspends).
function waits.suspend_within(wait, adapter)
  if not wait.adapter then waits.prepare(wait, adapter) end
  if not wait.done then turn(wait, adapter) end
  wait.fine = true
  wait:finish()
end

--- Ends a wait whose task, if it has one, will never go on.
function waits.abandon(wait)
  if waits.suspends(wait) then return wait:finish() end
  abandon(wait)
  if wait.adapter then wait.engine.adapters:attend(wait.adapter, wait, nil) end
end

return waits

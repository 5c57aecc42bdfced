--- Waits: what events are to end, and how a task is suspended until then.
--
-- `engine.waits` has three tables of them, by number, for events to find them:
-- `answers`, to acquisitions and questions; `removals`, of nodes whose hold was
-- released; `openings`, of the first connection.
local protect = require "zklock.protect"

local waits = {}

--- The tables of a session that has just been made.
function waits.tables()
  return { answers = {}, removals = {}, openings = {} }
end

--- Is anybody waiting?
function waits.exist(tables)
  return next(tables.openings) or next(tables.answers)
    or next(tables.removals)
end

--- A wait.  What its end is to be noted in is there from the beginning: then no
-- memory is needed.  Without a number it is its own.
function waits.new(engine, among, number)
  local wait = {
    engine = engine,
    among = among, -- one of the three tables
    number = number,
    adapter = false, -- what suspends or calls back who waits
    callback = false, -- in place of a task to be woken
    closing = false, -- of the task that is suspended
    scope = false, -- it ends with that request
    timeout = false, -- a function: how many seconds are left
    path = false, -- of the node, in `removals`
    -- Of an acquisition.
    share = false, -- what it may be granted
    owner = false,
    waiters = false, -- those of the lock object, it among them
    taken = false, -- its share has become a guard's
    -- Its end.
    done = false,
    code = false,
    reason = false,
    ahead = false,
    rival = false,
    rival_holds = false,
    rival_cut = false,
    found = false, -- what a question has found
    detail = false, -- and what is to be said of that
  }
  wait.number = number or wait
  return wait
end

--- From now on events find it.  What they do not, the collector ends.
function waits.enter(wait)
  wait.among[wait.number] = wait
end

local function leave(wait)
  wait.among[wait.number] = nil
end

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

--- Ends a wait for a grant; it hears "cancelled" unless the grant was first.
function waits.cancel(wait)
  if not wait.done and not wait.engine.state.is.closed then
    wait.share:cancel()
  end
end

local Closing = protect.class()

local function abandon(wait)
  leave(wait)
  if wait.share and not wait.taken then wait.share:release() end
end

function Closing:finish()
  local wait = self.wait
  if wait.scope then wait.scope:remove(wait.scope.waits, wait) end
  wait.engine.adapters:attend(self.adapter, wait, nil)
  if self.fine then leave(wait) else abandon(wait) end
end

-- Only here does it enter: see waits.enter.
local function turn(wait, adapter)
  wait.adapter = adapter
  waits.enter(wait)
  wait.engine.adapters:attend(adapter, wait, true)
  while not wait.done do
    adapter.wait(wait, wait.timeout and wait.timeout() or nil)
    -- An early return of an adapter that does not watch the fd by itself.
    if not wait.done then wait.engine.events:step() end
    if wait.timeout and wait.timeout() <= 0 then break end
  end
end

--- Suspends the running task until `wait.done`, or until its own timeout.
function waits.suspend(wait, adapter)
  wait.scope = wait.scope or wait.engine.adapters:scope(adapter)
  wait.closing = setmetatable({ wait = wait, adapter = adapter }, Closing)
  if wait.scope then wait.scope:add(wait.scope.waits, wait) end
  protect.call(adapter.blocks, wait.closing, turn, wait, adapter)
end

--- Ends a wait whose task, if it has one, will never go on.
function waits.abandon(wait)
  if wait.closing then return wait.closing:finish() end
  abandon(wait)
  if wait.adapter then wait.engine.adapters:attend(wait.adapter, wait, nil) end
end

return waits

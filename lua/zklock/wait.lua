--- Waiting: how a task is suspended until an event ends its wait.
-- A wait is `{ done=, number=, among=, share=, timeout= }`: `among[number]` is
-- where events look for it, `share` the hold that it may be granted. Should
-- the task be killed or an error be raised meanwhile, the wait ends and
-- nothing of it is left.

-- Only here is the wait entered among those that events reach: what is not,
-- the collector ends.
local function turn(self, adapter, wait)
  wait.adapter = adapter
  if wait.number then wait.among[wait.number] = wait end
  wait.attended = true
  self:_attend(adapter, 1)
  while not wait.done do
    adapter.wait(wait, wait.timeout and wait.timeout() or nil)
    -- An early return of an adapter that does not watch the fd by itself.
    if not wait.done then self:_step() end
    if wait.timeout and wait.timeout() <= 0 then break end
  end
end

local function abandon(wait)
  if wait.number then wait.among[wait.number] = nil end
  if wait.share and not wait.taken then
    wait.share:release()
  end
end

-- What `fn` returns or raises, after `closing:finish()`; `closing.fine` says
-- which.  `blocks`: it never yields.
local function pass(closing, ok, ...)
  closing.fine = ok
  closing:finish()
  if not ok then error((...), 0) end
  return ...
end

local guarded
if _VERSION >= "Lua 5.4" then
  -- `<close>` is for coroutine.close; a coroutine that dies of an error closes
  -- nothing by itself.
  guarded = load([[
    local pass, _, closing = ...
    local _ <close> = closing
    return pass(closing, pcall(select(4, ...)))
  ]], "=zklock.wait")
elseif not jit and _VERSION == "Lua 5.1" then
  -- No yield across pcall here: only a wait that blocks can be protected.
  guarded = function(pass_, blocks, closing, fn, ...)
    if not blocks then return pass_(closing, true, fn(...)) end
    return pass_(closing, pcall(fn, ...))
  end
else
  guarded = function(pass_, _, closing, ...)
    return pass_(closing, pcall(...))
  end
end

local Closing = {}
Closing.__index = Closing

function Closing:finish()
  if self.finished then return end
  self.finished = true
  local scope = self.wait.scope
  if scope then scope:remove(scope.waits, self.wait) end
  if self.wait.attended then self.session:_attend(self.adapter, -1) end
  if not self.fine then abandon(self.wait) end
end

Closing.__close = Closing.finish

local waits = {}

--- Calls `fn(...)`, and then `closing:finish()`, also if it raises or the
-- running task is killed in it.  `closing` has finish, and that as __close.
function waits.guard(adapter, closing, fn, ...)
  return guarded(pass, adapter.blocks, closing, fn, ...)
end

--- Suspends the running task until `wait.done`, or until its own timeout.
function waits.suspend(session, adapter, wait)
  wait.closing = setmetatable({
    session = session, adapter = adapter, wait = wait,
  }, Closing)
  if wait.scope then wait.scope:add(wait.scope.waits, wait) end
  waits.guard(adapter, wait.closing, turn, session, adapter, wait)
end

--- Ends a wait whose task, if it has one, will never go on.
function waits.abandon(wait)
  if wait.closing then
    wait.closing:finish()
  else
    abandon(wait)
    if wait.adapter then wait.lock._session:_attend(wait.adapter, -1) end
  end
end

return waits

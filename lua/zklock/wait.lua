--- Waiting: how a task is suspended until an event ends its wait, and how
-- what has been begun is ended, should the task be killed or an error be
-- raised meanwhile.
--
-- A hook (a debugger's, the one that an interpreter sets upon Ctrl-C) may
-- raise between any two instructions here.  So whatever must be undone hangs
-- on a `closing` before it is done: C calls `closing:finish()` however the
-- call ends, and once more if that was interrupted.  `closing.fine` says that
-- there is nothing to be undone.  Each finish() may be called again.
local core = require "zklock.core"
local loops = require "zklock.loop"

local waits = {}

--- Makes a class of closings; each has finish().
function waits.class()
  local class = { __close = core.close }
  class.__index = class
  return class
end

-- Where C cannot be yielded across there is Lua's own pcall.
local function finish_up(closing, ok, ...)
  closing.fine = ok
  closing:finish()
  if not ok then error((...), 0) end
  return ...
end

local yields_across_c = jit == nil and _VERSION ~= "Lua 5.1"

--- Calls `fn(...)`, and then `closing:finish()`, also if it raises or the
-- running task is killed in it.  `blocks`: it never yields.
function waits.protect(blocks, closing, fn, ...)
  if blocks or yields_across_c then
    return core.protect(closing, fn, ...)
  elseif jit then
    return finish_up(closing, pcall(fn, ...))
  end
  -- No yield across pcall, either: only what blocks can be protected.
  closing.bare = true
  return finish_up(closing, true, fn(...))
end

--- A method `fn(closing, self, ...)`, protected as a whole, with a new closing
-- of `class` for each call.  `loop_of(self, ...)` is the loop in question.
function waits.method(class, loop_of, fn)
  if core.method then return core.method(fn, class) end
  return function(...)
    local closing = setmetatable({}, class)
    local blocks = loops.may_block(loop_of(...))
    return waits.protect(blocks, closing, fn, closing, ...)
  end
end

-- A wait is `{ done=, number=, among=, share=, timeout= }`: `among[number]` is
-- where events look for it, `share` the hold that it may be granted.

local Closing = waits.class()

local function abandon(wait)
  if wait.number then wait.among[wait.number] = nil end
  if wait.share and not wait.taken then wait.share:release() end
end

function Closing:finish()
  local wait = self.wait
  if wait.scope then wait.scope:remove(wait.scope.waits, wait) end
  self.session:_attend(self.adapter, wait, nil)
  if not self.fine then abandon(wait) end
end

-- Only here is the wait entered among those that events reach: what is not,
-- the collector ends.
local function turn(session, adapter, wait)
  wait.adapter = adapter
  if wait.number then wait.among[wait.number] = wait end
  session:_attend(adapter, wait, true)
  while not wait.done do
    adapter.wait(wait, wait.timeout and wait.timeout() or nil)
    -- An early return of an adapter that does not watch the fd by itself.
    if not wait.done then session:_step() end
    if wait.timeout and wait.timeout() <= 0 then break end
  end
end

--- Suspends the running task until `wait.done`, or until its own timeout.
function waits.suspend(session, adapter, wait)
  wait.closing = setmetatable({
    session = session, adapter = adapter, wait = wait,
  }, Closing)
  if wait.scope then wait.scope:add(wait.scope.waits, wait) end
  waits.protect(adapter.blocks, wait.closing, turn, session, adapter, wait)
end

--- Ends a wait whose task, if it has one, will never go on.
function waits.abandon(wait)
  if wait.closing then
    wait.closing:finish()
  else
    abandon(wait)
    if wait.adapter then
      wait.lock._session:_attend(wait.adapter, wait, nil)
    end
  end
end

return waits

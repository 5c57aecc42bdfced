--- Adapters: objects that connect a session to event loops. A session has one
-- adapter for each loop in which the program uses it.
--
-- An adapter is *armed* while its loop watches the session's descriptor. It is
-- armed as long as a task waits, a callback is expected, or a hold has
-- listeners. If callbacks raise errors, step() raises them again, but only one
-- in each call. So an armed adapter stays armed until step() has raised them
-- all.
local loops = require "zklock.loop"

local Adapters = {}
Adapters.__index = Adapters

--- Makes the set of a session's adapters, empty at first. `loop`: the session's
-- option `loop`.
function Adapters.new(engine, loop)
  return setmetatable({
    engine = engine,
    loop = loop,
    by_maker = setmetatable({}, { __mode = "k" }),
    -- Maps each adapter to a record: the waits, callbacks and holds that need
    -- it, and whether it is armed.
    served = setmetatable({}, { __mode = "k" }),
    host_reads = false, -- a loop itself reads the wake-up bytes
    may_leave = false, -- an adapter has is_leaving()
  }, Adapters)
end

function Adapters:of_maker(maker)
  local adapter = self.by_maker[maker]
  if adapter then return adapter end
  local engine = self.engine
  adapter = maker.new and maker.new(engine.session, engine) or maker
  self.served[adapter] = {
    waiting = setmetatable({}, { __mode = "k" }),
    armed = false,
  }
  self.host_reads = self.host_reads or adapter.reads_fd
  self.may_leave = self.may_leave or adapter.is_leaving ~= nil
  self.by_maker[maker] = adapter -- must follow the entry in `served`
  return adapter
end

--- Called at the beginning of each call that may wait. Returns the adapter of
-- the loop that runs the calling code. In nginx, also returns the scope of the
-- running request (ngx/scope.lua).
function Adapters:for_waiting()
  local maker = loops.find(self.loop)
  local adapter = self.by_maker[maker] or self:of_maker(maker)
  if not adapter.blocks then loops.check_fence() end
  return adapter, adapter.scope and adapter.scope() or nil
end

local function known(self)
  return self.by_maker[loops.peek(self.loop)]
end

--- Returns the owner of the holds that the running task acquires: the result of
-- the adapter's owner(). If the adapter has no owner(), the owner is the task
-- itself.
function Adapters:owner(adapter)
  adapter = adapter or known(self)
  if adapter and adapter.owner then return adapter.owner() end
  return loops.task()
end

--- Returns the scope of the caller's request: an object that ends the waits and
-- holds that the request has begun. Returns nil if the loop has no requests
-- (only nginx has them).
function Adapters:scope()
  local adapter = known(self)
  return adapter and adapter.scope and adapter.scope() or nil
end

--- Returns whether the process is about to end, if its loop knows this (only
-- nginx notifies its workers).
function Adapters:is_leaving()
  local adapter = self.may_leave and known(self)
  return adapter and adapter.is_leaving and adapter.is_leaving() or false
end

--- Returns the time limit of a wait, in seconds; nil for no limit. Also returns
-- whether the wait continues after the servers' first replies; with a `timeout`
-- of 0 it does not.
--
-- A wait without a timeout gets a limit only while the process is about to end.
-- A wait of a client's nginx request gets none even then, because the end of
-- the request ends it. `scope`: the request's scope, or nil.
function Adapters:limit(timeout, scope)
  if timeout == 0 then return self.engine:patience(), false end
  if timeout or not self.may_leave or scope and scope.client
      or not self:is_leaving() then
    return timeout, true
  end
  return self.engine:patience(), true
end

-- Arms the adapter if a wait, callback or hold needs it; otherwise disarms it.
local function review(self, adapter)
  local served = self.served[adapter]
  local needed = next(served.waiting) ~= nil
    or served.armed and self.engine.callbacks:has_problems()
  if needed == served.armed or self.engine.state.is.closed then return end
  if needed then
    if adapter.arm then adapter.arm() end
    served.armed = true
  else
    served.armed = false
    if adapter.disarm then adapter.disarm() end
  end
end

--- Records whether `thing`, a wait, a callback or a hold, needs the adapter.
-- `waiting`: true if it needs the adapter from now on, nil if it no longer
-- does. Then arms or disarms the adapter.
function Adapters:attend(adapter, thing, waiting)
  if not (adapter.arm or adapter.disarm) then return end
  self.served[adapter].waiting[thing] = waiting
  review(self, adapter)
end

--- Arms or disarms each adapter as needed. Called after step() has raised the
-- last kept error of a callback. Adapters that stayed armed only because of
-- such errors are disarmed here.
function Adapters:review()
  for adapter in pairs(self.served) do
    if adapter.arm or adapter.disarm then review(self, adapter) end
  end
end

--- Returns the adapter of the running loop, and arms it. The loop then calls
-- step(), which will call the callback of `thing`. Returns nil if no loop calls
-- step(), so that the user's program must call it.
function Adapters:expect(thing)
  local adapter = self:of_maker(loops.peek(self.loop))
  if adapter.blocks then return nil end
  self:attend(adapter, thing, true)
  return adapter
end

--- Keeps the loop's adapter armed for a hold that has listeners, as long as the
-- hold lasts.
function Adapters:listen(hold)
  hold.adapter = hold.adapter or self:expect(hold) or false
end

function Adapters:unlisten(hold)
  if hold.adapter then self:attend(hold.adapter, hold, nil) end
  hold.adapter = false
end

--- Closes all adapters: each loop stops watching the session's descriptor. So
-- the descriptor must still be open.
function Adapters:close()
  for _, adapter in pairs(self.by_maker) do
    if adapter.close then adapter.close() end
  end
end

--- Ends the waits and holds of the running nginx request. Needed for requests
-- whose end nginx does not report.
function Adapters:cleanup()
  for _, adapter in pairs(self.by_maker) do
    if adapter.cleanup then adapter.cleanup() end
  end
end

return Adapters

--- Adapters: a session's adapters, one for each loop that it was used in. They
-- decide whether a loop must watch the session's descriptor.
--
-- A loop must watch it as long as a task waits, a callback is expected, or a
-- hold has listeners: then the loop's adapter is armed. The adapter stays armed
-- until the errors of callbacks are raised, because each step() raises one.
local loops = require "zklock.loop"

local Adapters = {}
Adapters.__index = Adapters

--- `loop`: the session's option `loop`.
function Adapters.new(engine, loop)
  return setmetatable({
    engine = engine,
    loop = loop,
    by_maker = setmetatable({}, { __mode = "k" }),
    -- By adapter: `{ waiting =, holds =, armed = }`.
    served = setmetatable({}, { __mode = "k" }),
    host_reads = false, -- a loop itself reads the bytes of the wake-up
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
    holds = setmetatable({}, { __mode = "k" }),
  }
  self.host_reads = self.host_reads or adapter.reads_fd
  self.may_leave = self.may_leave or adapter.is_leaving ~= nil
  self.by_maker[maker] = adapter -- last: a known adapter is served
  return adapter
end

--- Returns the adapter for a call that must wait. The running code determines
-- the loop.
function Adapters:for_waiting()
  local adapter = self:of_maker(loops.find(self.loop))
  loops.check_fence(adapter)
  return adapter
end

local function known(self)
  return self.by_maker[loops.peek(self.loop)]
end

--- Returns the owner of the holds that the running task acquires.
function Adapters:owner(adapter)
  adapter = adapter or known(self)
  if adapter and adapter.owner then return adapter.owner() end
  return loops.task()
end

--- Returns the scope of the caller's request, if the loop has requests (nginx).
function Adapters:scope(adapter)
  adapter = adapter or known(self)
  return adapter and adapter.scope and adapter.scope() or nil
end

--- Returns whether the process is about to end (a worker of nginx).
function Adapters:is_leaving()
  local adapter = self.may_leave and known(self)
  return adapter and adapter.is_leaving and adapter.is_leaving() or false
end

--- Returns the time limit of a wait without a timeout, in seconds.  There is
-- one only if the process is about to end and no client can end the wait.
function Adapters:limit(scope)
  if scope and scope.client or not self:is_leaving() then return nil end
  return self.engine:patience()
end

-- Arms or disarms an adapter as needed.
local function review(self, adapter)
  local served = self.served[adapter]
  local needed = next(served.waiting) ~= nil or next(served.holds) ~= nil
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

--- Notes whether a task waits for `thing`: true from now on, nil if no longer.
-- Arms or disarms the adapter as needed.
function Adapters:attend(adapter, thing, waiting)
  if not (adapter.arm or adapter.disarm) then return end
  self.served[adapter].waiting[thing] = waiting
  review(self, adapter)
end

--- Arms or disarms each adapter as needed.  Must be called when all errors of
-- callbacks have been raised.
function Adapters:review()
  for adapter in pairs(self.served) do
    if adapter.arm or adapter.disarm then review(self, adapter) end
  end
end

--- Expects a callback for `thing`: returns the adapter that will run it, or nil
-- if the user calls step().
function Adapters:expect(thing)
  local adapter = self:of_maker(loops.peek(self.loop))
  if adapter.blocks then return nil end
  self:attend(adapter, thing, true)
  return adapter
end

--- Keeps the loop watching for a hold's listeners, as long as the hold lasts.
function Adapters:listen(hold)
  if hold.adapter then return end
  local adapter = self:of_maker(loops.peek(self.loop))
  if adapter.blocks then return end
  hold.adapter = adapter
  self.served[adapter].holds[hold] = true
  self:attend(adapter, hold, nil)
end

function Adapters:unlisten(hold)
  local adapter = hold.adapter
  if not adapter then return end
  self.served[adapter].holds[hold] = nil
  self:attend(adapter, hold, nil)
  hold.adapter = false
end

--- Closes all adapters; always before the descriptor is closed.
function Adapters:close()
  for _, adapter in pairs(self.by_maker) do
    if adapter.close then adapter.close() end
  end
end

--- Ends the scopes of a request whose end nginx does not report.
function Adapters:cleanup()
  for _, adapter in pairs(self.by_maker) do
    if adapter.cleanup then adapter.cleanup() end
  end
end

return Adapters

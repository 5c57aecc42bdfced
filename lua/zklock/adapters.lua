--- Adapters: those of one session, one for each loop that it was used in, and
-- whether a loop has to watch the session's descriptor.
--
-- It has to as long as somebody waits, expects a callback, or listens for what
-- may become of a hold: then the adapter is armed.  It stays so until what
-- callbacks have raised is told, for each step() tells one.
local loops = require "zklock.loop"

local Adapters = {}
Adapters.__index = Adapters

--- `loop` is the option.
function Adapters.new(engine, loop)
  return setmetatable({
    engine = engine,
    loop = loop,
    by_maker = setmetatable({}, { __mode = "k" }),
    -- Of each: `{ waiting =, holds =, armed = }`.
    served = setmetatable({}, { __mode = "k" }),
    host_reads = false, -- a loop takes the wake-up's bytes out by itself
    may_leave = false, -- one of them has is_leaving()
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
  self.by_maker[maker] = adapter -- last: what is known is served
  return adapter
end

--- For a call that must wait, by what is running now.
function Adapters:for_waiting()
  local adapter = self:of_maker(loops.find(self.loop))
  loops.check_fence(adapter)
  return adapter
end

local function known(self)
  return self.by_maker[loops.peek(self.loop)]
end

--- Who acquires and releases here.
function Adapters:owner(adapter)
  adapter = adapter or known(self)
  if adapter and adapter.owner then return adapter.owner() end
  return loops.task()
end

--- What ends with the caller's request, if the loop has requests (nginx).
function Adapters:scope(adapter)
  adapter = adapter or known(self)
  return adapter and adapter.scope and adapter.scope() or nil
end

--- Is the process to end when what is under way is done (a worker of nginx)?
function Adapters:is_leaving()
  local adapter = self.may_leave and known(self)
  return adapter and adapter.is_leaving and adapter.is_leaving() or false
end

--- The limit of a wait for which the caller has set none: seconds, if the
-- process is about to end and no client can end the wait; else nil.
function Adapters:limit(scope)
  if scope and scope.client or not self:is_leaving() then return nil end
  return self.engine:patience()
end

-- Is it to be armed, or disarmed?
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

--- `waiting`: is `thing` from now on waited for (true, or nil)?
function Adapters:attend(adapter, thing, waiting)
  if not (adapter.arm or adapter.disarm) then return end
  self.served[adapter].waiting[thing] = waiting
  review(self, adapter)
end

--- All that callbacks have raised has been told.
function Adapters:review()
  for adapter in pairs(self.served) do
    if adapter.arm or adapter.disarm then review(self, adapter) end
  end
end

--- The caller expects to be called back for `thing`: the adapter that will see
-- to it; nil where step() is called by hand.
function Adapters:expect(thing)
  local adapter = self:of_maker(loops.peek(self.loop))
  if adapter.blocks then return nil end
  self:attend(adapter, thing, true)
  return adapter
end

--- Somebody listens for what becomes of a hold, as long as it lasts.
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

--- Always before the descriptor is closed.
function Adapters:close()
  for _, adapter in pairs(self.by_maker) do
    if adapter.close then adapter.close() end
  end
end

--- Ends the scopes of a request whose end nginx cannot tell.
function Adapters:cleanup()
  for _, adapter in pairs(self.by_maker) do
    if adapter.cleanup then adapter.cleanup() end
  end
end

return Adapters

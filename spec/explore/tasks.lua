--- What the tasks of a story do with locks.
local jobs = require "explore.jobs"

local Task = {}
Task.__index = Task

local function new(story, slot, number)
  return setmetatable({ story = story, slot = slot, chance = story.chance,
    scheduler = story.scheduler, witness = story.witness, ledger = story.ledger,
    name = ("%s.%d"):format(slot.name, number), made = {} }, Task)
end

function Task:note(...)
  self.story:note("%s: %s", self.name, (...):format(select(2, ...)))
end

function Task:pause(seconds)
  self.scheduler:pause(self.chance:seconds(seconds))
end

-- Its own lock objects of the present session.
function Task:locks(resource)
  local slot = self.slot
  if self.session ~= slot.session then
    self.session, self.made = slot.session, {}
  end
  local made = self.made[resource]
  if not made then
    made = resource.make(slot.session, resource.path,
      function(part) return self:locks(part) end)
    self.made[resource] = made
  end
  return made
end

function Task:is_usable(session)
  local slot = self.slot
  return not slot.closed and (not session or session == slot.session)
end

-- ---- While something is held ------------------------------------------------

local during = {}

function during.nothing(self) self:pause(1) end
function during.long(self) self:pause(4) end
function during.collect() collectgarbage() end

function during.verify(self, hold)
  local guard = hold.guard
  local was = self.witness:is_there(hold)
  local entry = self.ledger:begin(self.name .. " verifies", 5)
  local ok, _, code = guard:verify()
  self.ledger:finish(entry, ok and "true" or code)
  self:note("verify: %s", ok and "true" or code)
  if ok and not was then
    self.story.violate("%s: verify() is true, and the node was not there",
      hold.name)
  elseif code == "lost" and guard:is_held() then
    self.story.violate("%s: is_held() is true after verify() is lost",
      hold.name)
  end
end

function during.enter(self, hold, depth)
  if not hold.resource.parts and hold.resource.is_gate then return end
  self:acquire(hold.resource, depth + 1, hold.side)
end

function during.other_side(self, hold, depth)
  if hold.resource.kind ~= "rwlock" then return end
  self:acquire(hold.resource, depth + 1, 3 - hold.side)
end

function during.another(self, _, depth)
  self:acquire(self.chance:pick(self.story.resources), depth + 1)
end

function during.revoke(self, hold)
  local entry = self.ledger:begin(self.name .. " revokes", 5)
  local count, _, code = self.slot.session:revoke(hold.guard.path)
  self.ledger:finish(entry, count and "true" or code)
end

function during.close(self)
  if self.chance:one_in(4) then self.story:close(self.slot) end
end

function during.wait_for_revoke(self, hold)
  local asked = 0
  hold.guard:on_revoke(function()
    asked = asked + 1
    if asked > 1 then
      self.story.violate("%s: on_revoke is called twice", hold.name)
    end
  end)
  self.scheduler:await(function() return asked > 0 end, self.chance:seconds(3))
end

-- Its own node is deleted; what verify() says then must be true.
function during.taken(self, hold)
  if not self.story.has_operator or hold.resource.parts then return end
  self.story:take(hold.guard.node)
  self:pause(0.05)
  if self:is_usable(hold.session) then during.verify(self, hold) end
end

local acts = { "nothing", "nothing", "long", "collect", "verify", "enter",
  "other_side", "another", "revoke", "wait_for_revoke", "close", "taken" }
local needs_path = { revoke = true }

function Task:hold(hold, depth)
  for _ = 1, self.chance:below(3) do
    local act = self.chance:pick(acts)
    local usable = self:is_usable(hold.session)
      and not (needs_path[act] and hold.resource.parts)
    if usable and (depth < 3 or act ~= "another" and act ~= "enter"
        and act ~= "other_side") then
      during[act](self, hold, depth)
    else
      self:pause(0.5)
    end
  end
end

-- ---- Taking and giving back -------------------------------------------------

function Task:granted(guard, resource, side, owner)
  local hold = self.witness:granted(guard, { owner = owner or self,
    session = self.session, resource = resource, mode = resource.modes[side] })
  hold.resource, hold.side = resource, side
  self:note("%s: held is %s", hold.name, guard:is_held())
  return hold
end

-- The collector ends it.
function Task:abandon(hold)
  self.witness:abandoned(hold)
  if hold.session == self.slot.session then
    self.slot.abandoned = self.slot.abandoned + 1
  end
  self:note("%s is left to the collector", hold.name)
end

local left = { timeout = true, cancelled = true, disconnected = true }

-- Of a double barrier: whoever waits in vain for the others has left, too.
function Task:leave(hold)
  local inside = self.witness:inside(hold.resource)
  local ok, _, code = self:locks(hold.resource)[1]:leave { guard = hold.guard,
    timeout = self.chance:seconds(4) }
  if ok then self.witness:left(hold, inside) end
  if left[code] then return true end
  return ok, code
end

function Task:release(hold)
  local chance, guard = self.chance, hold.guard
  if hold.is_alone and chance:one_in(2) then return self:abandon(hold) end
  -- (Nothing would end the wait of a thread that stands still with the world.)
  local options = self.slot.loop ~= "poll" and chance:one_in(3)
    and { wait = true } or nil
  local entry = self.ledger:begin(hold.name .. ": release", 20)
  self.witness:ending(hold)
  local ok, _, code
  if hold.resource.is_gate and chance:one_in(2)
    and self:is_usable(hold.session) then
    ok, code = self:leave(hold)
  else
    ok, _, code = guard:release(options)
  end
  self.ledger:finish(entry, ok and "true" or code)
  self:note("%s: release is %s", hold.name, ok and "true" or code)
  self.witness:released(hold, ok, code)
end

local forms = {}

local function take(self, guard, code, resource, side, depth)
  if not guard then return code end
  return "true", function()
    local hold = self:granted(guard, resource, side)
    self:hold(hold, depth)
    self:release(hold)
  end
end

function forms.acquire(self, lock, options, ...)
  local acquire = lock.acquire or lock.campaign or lock.enter
  local guard, _, code = acquire(lock, options)
  return take(self, guard, code, ...)
end

function forms.try(self, lock, options, ...)
  if not lock.try_acquire then
    return forms.acquire(self, lock, options, ...)
  end
  local guard, _, code = lock:try_acquire()
  return take(self, guard, code, ...)
end

function forms.with_lock(self, lock, options, resource, side, depth)
  if not lock.with_lock then
    return forms.acquire(self, lock, options, resource, side, depth)
  end
  local hold
  local ok, _, code = lock:with_lock(options, function(guard)
    hold = self:granted(guard, resource, side)
    self:hold(hold, depth)
    self.witness:ending(hold)
  end)
  if not hold then return code end
  return "true", function() self.witness:released(hold, ok, code) end
end

-- Its owner is the acquisition.  Where the lock object is its own, too, the
-- hold may be left to the collector.
function forms.async(self, lock, options, resource, side, depth)
  local chance, called, outcome = self.chance, 0, nil
  local is_alone = not resource.parts and chance:one_in(4)
  if is_alone then lock = resource.make(self.session, resource.path)[side] end
  local is_inside = jobs.can_yield and chance:one_in(3)
  local owner = { name = self.name .. " (asynchronous)" }
  local begin = lock.acquire_async or lock.campaign_async or lock.enter_async
  local ticket = begin(lock, options, function(guard, _, code)
    called = called + 1
    if called > 1 then
      self.story.violate("%s: a callback is called twice", self.name)
    end
    local hold = guard and self:granted(guard, resource, side, owner)
    if hold then hold.is_alone = is_alone end
    if hold and is_inside then
      self:hold(hold, 3)
      self:release(hold)
      hold = nil
    end
    outcome = { hold = hold, code = guard and "true" or code }
  end)
  local patience = chance:one_in(3) and chance:seconds(4) or math.huge
  if not self.scheduler:await(function() return outcome end, patience) then
    self:note "cancels its ticket"
    ticket:cancel()
    self.scheduler:await(function() return outcome end, math.huge)
  end
  local hold = outcome.hold
  return outcome.code, hold and function()
    self:hold(hold, depth)
    self:release(hold)
  end
end

local all_forms = { "acquire", "acquire", "try", "async" }
local blocking_forms = { "acquire", "try" }
if jobs.can_yield then
  table.insert(all_forms, "with_lock")
  table.insert(blocking_forms, "with_lock")
end

-- nil: without end, where something ends it: the others of a double barrier may
-- never come, and a thread that stands still holds up what it waits for.
function Task:draw_timeout(resource, depth)
  local chance = self.chance
  if self.slot.loop == "poll" then return chance:seconds(1.5) end
  local is_patient = depth == 1 and not resource.is_gate and chance:one_in(3)
  return not is_patient and chance:seconds(6) or nil
end

function Task:acquire(resource, depth, side)
  if resource.is_barrier then return self:pass(resource) end
  if not self:is_usable() then return self:pause(0.5) end
  local chance = self.chance
  side = side or chance:between(1, #resource.modes)
  local lock = self:locks(resource)[side]
  local form = chance:pick(self.slot.loop == "poll" and blocking_forms
    or all_forms)
  local timeout = self:draw_timeout(resource, depth)
  local entry = self.ledger:begin(("%s: %s of %s"):format(self.name, form,
    resource.path), form == "try" and lock.try_acquire
      and self.session:timeout() or timeout)
  self:note("%s of %s, %s", form, resource.path, tostring(timeout))
  local code, go_on = forms[form](self, lock, { timeout = timeout }, resource,
    side, depth)
  -- (with_lock ends when the hold does.)
  if form == "with_lock" and code == "true" then entry.timeout = nil end
  self.ledger:finish(entry, code)
  if code ~= "true" then
    self:note("%s of %s: %s", form, resource.path, code)
  end
  if go_on then go_on() end
end

-- ---- Barriers ---------------------------------------------------------------

function Task:pass(resource)
  if not self:is_usable() then return self:pause(0.5) end
  local chance, barrier = self.chance, self:locks(resource)[1]
  local what = chance:pick { "set", "lift", "wait", "wait", "is_set" }
  local timeout = what == "wait" and chance:seconds(self.slot.loop == "poll"
    and 1.5 or 5) or nil
  local before = self.story.ensemble:look(resource.path)
  local entry = self.ledger:begin(("%s: %s of %s"):format(self.name, what,
    resource.path), timeout)
  local ok, _, code = barrier[what](barrier, timeout)
  local after = self.story.ensemble:look(resource.path)
  if ok == false then ok = true end
  self.ledger:finish(entry, ok and "true" or code)
  self:note("%s of %s: %s", what, resource.path, ok and "true" or code)
  if what == "wait" and ok and before and after
    and before.czxid == after.czxid then
    self.story.violate("%s has passed %s, which was set all the time",
      self.name, resource.path)
  end
end

-- ---- A task's life ----------------------------------------------------------

local other = {}

function other.cancel(self)
  local resource = self.chance:pick(self.story.resources)
  local task = self.chance:pick(self.slot.tasks)
  if resource.is_barrier or task.session ~= self.slot.session then return end
  local lock = task:locks(resource)[1]
  lock:cancel()
end

function other.evict(self)
  self.story:evict(self.chance:pick(self.story.resources))
end

function other.step(self) self.slot.session:step() end
function other.collect() collectgarbage() end

local others = { "cancel", "evict", "step", "collect" }

function Task:work(resource)
  local job = self.chance:one_in(3) and jobs.of(self, resource)
  if job then
    self:locks(resource)
    job(self, resource)
  else
    self:acquire(resource, 1)
  end
end

function Task:live()
  self:pause(1)
  while not self.story.is_calm do
    if not self:is_usable() then
      self:pause(1)
    elseif self.chance:one_in(6) then
      other[self.chance:pick(others)](self)
    else
      self:work(self.chance:pick(self.story.resources))
    end
    self:pause(self.chance:one_in(4) and 2 or 0.1)
  end
end

return { new = new }

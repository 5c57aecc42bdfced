--- Multi: one lock over several locks, which are held all together or not at
-- all. Every multi acquires its parts in one order: that of the bytes of their
-- paths. So two multis never wait for each other, whatever order the user has
-- given and whatever the locale.
local Attempt = require "zklock.attempt"
local bytes = require "zklock.bytes"
local check = require "zklock.check"
local core = require "zklock.core"
local errors = require "zklock.errors"
local guards = require "zklock.guard"
local locks = require "zklock.lock"
local options = require "zklock.options"
local Owners = require "zklock.owner"
local protect = require "zklock.protect"
local reasons = require "zklock.reasons"
local new_ticket = require "zklock.ticket"

local misuse, refusal = errors.misuse, errors.refusal

-- The guard of a multi. It contains the guards of the parts, and its state
-- follows from theirs. Either all parts are held, or the whole is lost. Until
-- all parts are granted, only `_taking`, its acquisition, has the guard.
local MultiGuard = {}
MultiGuard.__index = MultiGuard

-- Releases all parts first, and only then calls the listeners of lost parts. A
-- listener, or a wait for a confirmation, can suspend the task for ever. No
-- part may be held meanwhile. Returns a list with the result of
-- guards.give_back for each part. Can be called again if a part is granted
-- after the first call, or if the first call was interrupted.
local function give_all(self, confirm)
  local removals = {}
  for i = #self._parts, 1, -1 do
    removals[i] = guards.give_back(self._parts[i], confirm) or false
  end
  for i = #self._parts, 1, -1 do guards.tell_end(self._parts[i]) end
  return removals
end

-- Ends the multi because one part is lost: releases the other parts.
local function lose(self)
  give_all(self)
  local attempt = self._taking and self._taking.attempt
  if attempt then attempt:cancel() end -- no more parts are needed
end

-- Calls `fn(self, …)` at the first `event` ("on_lost" or "on_revoke") of these
-- parts. The listener refers to the multi weakly, because a part's hold must
-- not keep its multi alive.
local function listen(self, parts, event, fn)
  local weak = setmetatable({ self }, { __mode = "v" })
  for _, part in ipairs(parts) do
    part[event](part, function(_, ...)
      local multi = weak[1]
      weak[1] = nil
      if multi then fn(multi, ...) end
    end)
  end
  return self
end

-- Returns the guard of a lost part, or nil. Also checks the clock: if the
-- lease of a part has expired, the multi is lost for good.
local function find_loss(self)
  for _, part in ipairs(self._parts) do
    if guards.find_loss(part) then
      lose(self)
      return part
    end
  end
end

-- Returns `nil, message, "lost"` for a lost multi.
local function refuse(self)
  return errors.lost(self.path, self:reason())
end

-- Releases all parts. Returns a list with the result of guards.give_back for
-- each part.
local function give_back(self, confirm)
  self._taking = false
  -- If the multi is lost, this release returns the loss. Forget it here, so
  -- that the owner's next acquisition does not return it a second time.
  Owners.forget(self)
  return give_all(self, confirm)
end

function MultiGuard:release(how)
  local removals = give_back(self, options.read_release(how))
  if self:state() == "lost" then return refuse(self) end
  for i, removal in ipairs(removals) do
    if removal and removal ~= true then
      local ok, message, code = guards.await_removal(self._parts[i], removal)
      if not ok then return nil, message, code end
    end
  end
  return true
end

function MultiGuard:is_held()
  return self:lease() > 0
end

function MultiGuard:lease()
  local least = math.huge
  for _, part in ipairs(self._parts) do
    least = math.min(least, part:lease())
  end
  return least
end

function MultiGuard:verify()
  if find_loss(self) then return refuse(self) end
  for _, part in ipairs(self._parts) do
    local ok, message, code = part:verify()
    if not ok then return nil, message, code end
  end
  return true
end

--- Returns the token and turn of each part, by path.  There is no common token,
-- because no number orders two multis that share only some of their locks.
function MultiGuard:tokens()
  local tokens = {}
  for _, part in ipairs(self._parts) do
    tokens[part.path] = { token = part:token(), turn = part:turn() }
  end
  return tokens
end

local ranks = { held = 1, suspended = 2, released = 3, lost = 4 }

--- Returns the state of the part with the worst state.
function MultiGuard:state()
  local state = "held"
  for _, part in ipairs(self._parts) do
    local of_part = part:state()
    if ranks[of_part] > ranks[state] then state = of_part end
  end
  return state
end

--- Returns why the multi was lost: the reason of a part that was lost.
function MultiGuard:reason()
  for _, part in ipairs(self._parts) do
    local reason = part:reason()
    if reason then return reason end
  end
end

function MultiGuard:on_lost(fn)
  check.callback(fn, "argument 1 of on_lost")
  return listen(self, self._parts, "on_lost", function(guard, reason)
    local _, message = errors.lost(guard.path, reason)
    fn(guard, reason, message)
  end)
end

--- Registers `fn`. It is called once as `fn(guard)`, when a client first asks
-- this holder to release any of the guard's locks.
function MultiGuard:on_revoke(fn)
  check.callback(fn, "argument 1 of on_revoke")
  return listen(self, self._parts, "on_revoke", fn)
end

check.methods(MultiGuard, [[
  guard:release(options)
  guard:is_held()
  guard:lease()
  guard:verify()
  guard:tokens()
  guard:state()
  guard:reason()
  guard:on_lost(fn)
  guard:on_revoke(fn)
]])

MultiGuard.__close = function(self) self:release() end

function MultiGuard:__tostring()
  return errors.describe("zklock guard of %s (%s)", self.path, self:state())
end

local Multi = {}
Multi.__index = Multi

-- Returns the parts of a multi: the terms of each lock in `list`, in the order
-- of acquisition, without duplicates. A lock's terms are what all its
-- acquisitions share (locks.terms).
local function read_parts(engine, list)
  check.list(list, "argument 1 of multi", "locks")
  local parts, seen = {}, {}
  for i = 1, #list do
    local part = locks.copy_terms(list[i])
    if not part then
      misuse("element %d of multi must be a mutex, a side of a rwlock or a "
        .. "semaphore, got a %s", i, type(list[i]))
    elseif part.engine ~= engine then
      misuse("element %d of multi belongs to another session", i)
    end
    local name = part.path .. " " .. part.kind
    if not seen[name] then
      seen[name] = true
      parts[#parts + 1] = part
    end
  end
  table.sort(parts, function(a, b)
    if a.path ~= b.path then return bytes.less(a.path, b.path) end
    -- The write side comes first; its owner can then acquire the read side,
    -- too.
    return bytes.less(b.kind, a.kind)
  end)
  return parts
end

local function new(engine, list)
  local parts, paths, name = read_parts(engine, list), {}, "multi of"
  for i, part in ipairs(parts) do
    paths[i] = part.path
    name = ("%s %s %s,"):format(name, part.path, part.kind)
  end
  -- Two multis of one session with the same locks are the same lock, so they
  -- have the same owners.
  local path = table.concat(paths, ",")
  return setmetatable({
    path = path,
    _session = engine.session,
    _terms = { engine = engine, path = path, kind = "multi",
      owners = Owners.of(engine, name, name) },
    _parts = parts,
    _takings = setmetatable({}, { __mode = "k" }),
  }, Multi)
end

-- A taking: one acquisition of a multi in progress. It has the multi's `guard`,
-- and the `attempt` to acquire the current part. A taking is also the cleanup
-- handler (protect.lua) of a call that waits.
local Taking = protect.class()

-- Releases the acquired parts if the call's task is killed or an error is
-- raised.
function Taking:finish()
  if self.fine then return end
  if self.guard then give_back(self.guard) end
  if self.attempt then self.attempt:finish() end
end

-- Begins a taking, an acquisition of this multi, with the user's options.
-- Returns the guard that the owner already has of this multi, or nil. If this
-- guard is lost and not released, acquire returns "lost".
local function begin(taking, self, how, busy, is_async)
  local given = (busy and options.try or options.acquire):read_call(how)
  local terms, adapters = self._terms, self._terms.engine.adapters
  terms.engine:check_open()
  if given.owner == nil then
    given.owner = is_async and {} or adapters:owner((adapters:for_waiting()))
  end
  local timeout = given.timeout
  taking.asked, taking.given, taking.busy = timeout, given, busy
  taking.deadline = timeout and timeout > 0 and core.now() + timeout
  -- The guard is made before its parts are granted, because a part can be lost
  -- while the next parts are acquired.
  taking.guard = setmetatable({ path = self.path, _parts = {},
    _taking = taking }, MultiGuard)
  self._takings[taking] = true
  return terms.owners:top("multi", given.owner)
end

-- Cancels the acquisition. It ends with the code "cancelled", unless its last
-- part was already granted.
function Taking:cancel()
  self.cancelled = true
  if self.attempt then self.attempt:cancel() end
end

-- Called when all parts are granted: adds the guard to its owner's guards.
local function complete(guard, owners, owner)
  local nodes = {}
  for i, part in ipairs(guard._parts) do nodes[i] = part.node end
  guard.node = table.concat(nodes, ",")
  guard._taking = false
  -- Keeps the owners object alive. So if the multi is lost, the owner's next
  -- acquisition can return the loss.
  guard._owners = owners
  owners:push("multi", owner, guard)
end

-- Returns nil, message, code if the acquisition `taking` must end although a
-- part was granted. Returns nothing if it can continue.
local function obstacle(self, taking, lost_part, is_complete)
  if self._terms.engine.state.is.closed then
    return reasons.closed(self.path)
  elseif lost_part then
    return refusal("lost", "the hold of %s was lost while the rest of %s was "
      .. "acquired", lost_part.path, self.path)
  elseif taking.cancelled and not is_complete then
    return reasons.cancelled(self.path)
  end
end

-- Processes the result of one part's acquisition. `part`: the part's guard, or
-- nil; then `message` and `code` are the error. After an error, releases all
-- parts. Returns nothing if the next part must be acquired; otherwise true and
-- the result of the whole acquisition.
local function note(self, taking, part, message, code)
  local guard, _ = taking.guard, nil
  if part then
    table.insert(guard._parts, part)
    listen(guard, { part }, "on_lost", lose)
  end
  local is_complete = #guard._parts == #self._parts
  -- If an earlier part is lost, this loss has cancelled the wait for this part.
  local lost_part = find_loss(guard)
  if part or code == "cancelled" and lost_part then
    _, message, code = obstacle(self, taking, lost_part, is_complete)
  end
  if code then
    give_back(guard)
    return true, nil, message, code
  elseif is_complete then
    complete(guard, self._terms.owners, taking.given.owner)
    return true, guard
  end
end

-- Returns a new attempt to acquire one part. Its timeout is the time until the
-- deadline of the whole acquisition.
local function attempt_of(taking, part)
  taking.given.timeout = taking.deadline
    and math.max(taking.deadline - core.now(), 1e-6) or taking.asked
  local attempt = Attempt.new():read(part, taking.given, taking.busy)
  attempt.asked, attempt.scope = taking.asked, taking.scope
  taking.attempt = attempt
  return attempt
end

locks.add_methods(Multi, Taking, function(taking, self, how, busy)
  local top = begin(taking, self, how, busy)
  if top and find_loss(top) then return refuse(top) end
  for _, part in ipairs(self._parts) do
    local done, guard, message, code = note(self, taking,
      attempt_of(taking, part):acquire())
    if done then return guard, message, code end
  end
end)

-- Acquires the part with this index, and then, in the part's callback, the next
-- part. `callback` gets the result of the whole acquisition.
local function ask(self, taking, index, callback)
  attempt_of(taking, self._parts[index]):begin(function(...)
    local done, guard, message, code = note(self, taking, ...)
    if not done then return ask(self, taking, index + 1, callback) end
    callback(guard, message, code)
  end)
end

function Multi:acquire_async(how, callback)
  how, callback = check.function_last(how, callback,
    "acquire_async([options,] fn)")
  local taking, engine = Taking.new(), self._terms.engine
  local top = begin(taking, self, how, false, true)
  taking.scope = engine.adapters:scope()
  if top and top:state() == "lost" then
    engine.events:later(function() callback(refuse(top)) end)
  else
    ask(self, taking, 1, callback)
  end
  return new_ticket(taking)
end

--- Returns the holders of all parts; each row also has the `path` of its part.
function Multi:holders()
  local all = {}
  for _, part in ipairs(self._parts) do
    local holders, message, code = locks.holders(part)
    if not holders then return nil, message, code end
    for _, holder in ipairs(holders) do
      holder.path = part.path
      all[#all + 1] = holder
    end
  end
  return all
end

--- Ends every wait that was begun through this lock object, with "cancelled".
function Multi:cancel()
  self._terms.engine:check_open()
  for taking in pairs(self._takings) do taking:cancel() end
end

check.methods(Multi, locks.usages)

function Multi:__tostring()
  return errors.describe("zklock multi %s", self.path)
end

return { new = new }

--- Multi: one lock over several locks, which are held all together or not at
-- all. Every multi acquires its parts in one order: that of the bytes of their
-- paths. So two multis never wait for each other, whatever order the user has
-- given and whatever the locale.
local Attempt = require "zklock.attempt"
local bytes = require "zklock.bytes"
local check = require "zklock.check"
local core = require "zklock.core"
local errors = require "zklock.errors"
local locks = require "zklock.lock"
local multi_guards = require "zklock.multi_guard"
local options = require "zklock.options"
local Owners = require "zklock.owner"
local protect = require "zklock.protect"
local reasons = require "zklock.reasons"
local ticket_of = require "zklock.ticket"
local waits = require "zklock.wait"

local misuse, refusal = errors.misuse, errors.refusal

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

-- A taking: one acquisition of a multi in progress. A taking is also the
-- cleanup handler (protect.lua) of a call that waits.
local Taking = protect.class()

Taking.busy = false -- "busy" for try_acquire
Taking.guard = false
Taking.attempt = false -- the attempt to acquire the current part
Taking.wait = false -- the wait for this part
Taking.scope = false
Taking.cancelled = false

-- Releases the acquired parts if the call's task is killed or an error is
-- raised.
function Taking:finish()
  if self.fine then return end
  if self.guard then multi_guards.give_back(self.guard) end
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
  taking.guard = multi_guards.new(self.path, taking)
  self._takings[taking] = true
  return terms.owners:top("multi", given.owner)
end

-- Cancels a taking. It ends with the code "cancelled", unless its last part was
-- already granted.
local function cancel(taking)
  taking.cancelled = true
  if taking.wait then waits.cancel(taking.wait) end
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
  taking.wait = false
  if part then multi_guards.add(guard, part) end
  local is_complete = #guard._parts == #self._parts
  -- If an earlier part is lost, this loss has cancelled the wait for this part.
  local lost_part = multi_guards.find_loss(guard)
  if part or code == "cancelled" and lost_part then
    _, message, code = obstacle(self, taking, lost_part, is_complete)
  end
  if code then
    multi_guards.give_back(guard)
    return true, nil, message, code
  elseif is_complete then
    multi_guards.complete(guard, self._terms.owners, taking.given.owner)
    return true, guard
  end
end

-- Returns the request (options.lua) for one part. Its timeout is the time until
-- the deadline of the whole acquisition.
local function request_of(taking, part)
  taking.given.timeout = taking.deadline
    and math.max(taking.deadline - core.now(), 1e-6) or taking.asked
  local request = options.read_request(part, taking.given)
  request.taking, request.asked = taking, taking.asked
  request.scope = taking.scope
  if taking.busy then request.timeout, request.refusal = 0, "busy" end
  return request
end

locks.add_methods(Multi, Taking, function(taking, self, how, busy)
  local top = begin(taking, self, how, busy)
  if top and multi_guards.find_loss(top) then
    return multi_guards.refuse(top)
  end
  for _, part in ipairs(self._parts) do
    taking.attempt = Attempt.new()
    local done, guard, message, code = note(self, taking,
      Attempt.acquire(taking.attempt, part, request_of(taking, part)))
    if done then return guard, message, code end
  end
end)

local new_ticket = ticket_of(cancel)

-- Acquires the part with this index, and then, in the part's callback, the next
-- part. `callback` gets the result of the whole acquisition.
local function ask(self, taking, index, callback)
  local part = self._parts[index]
  Attempt.begin(part, request_of(taking, part), function(...)
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
    engine.events:later(function() callback(multi_guards.refuse(top)) end)
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
  for taking in pairs(self._takings) do cancel(taking) end
end

check.methods(Multi, locks.usages)

function Multi:__tostring()
  return errors.describe("zklock multi %s", self.path)
end

return { new = new }

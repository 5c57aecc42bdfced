--- Multi: one lock over several, all or nothing.
-- Parts are taken in one order whatever the order they were given in, so two
-- multis cannot wait for each other.
local check = require "zklock.check"
local core = require "zklock.core"
local errors = require "zklock.errors"
local Lock = require "zklock.lock"

local misuse, refusal = errors.misuse, errors.refusal

local MultiGuard = {}
MultiGuard.__index = MultiGuard

local function new_guard(path, parts)
  local nodes = {}
  for i, part in ipairs(parts) do nodes[i] = part.node end
  local self = setmetatable({
    path = path,
    node = table.concat(nodes, ","),
    _parts = parts,
    _listeners = {},
  }, MultiGuard)
  -- Weak: a part's hold must not keep its multi alive.
  local weak = setmetatable({ self }, { __mode = "v" })
  for _, part in ipairs(parts) do
    part:on_lost(function(_, code)
      if weak[1] then weak[1]:_lose(code) end
    end)
  end
  return self
end

-- One part is lost: so is the whole, and the rest is given back.
function MultiGuard:_lose(code)
  if self._outcome then return end
  self._outcome, self._code = "lost", code
  for _, part in ipairs(self._parts) do part:release() end
  local listeners = self._listeners
  self._listeners = {}
  for _, fn in ipairs(listeners) do fn(self, code) end
end

local function lost(self)
  return refusal("lost", "the hold of %s was lost", self.path)
end

function MultiGuard:release(options)
  if self._outcome == "lost" then
    self._told = true
    return lost(self)
  end
  if self._outcome then return true end
  self._outcome = "released"
  for i = #self._parts, 1, -1 do
    local ok, _, code = self._parts[i]:release(options)
    if not ok and code == "lost" then self._outcome = "lost" end
  end
  if self._outcome == "lost" then return lost(self) end
  return true
end

function MultiGuard:is_held()
  return self:lease() > 0
end

function MultiGuard:lease()
  if self._outcome then return 0 end
  local least = math.huge
  for _, part in ipairs(self._parts) do
    least = math.min(least, part:lease())
  end
  return least
end

function MultiGuard:verify()
  if self._outcome == "lost" then return lost(self) end
  for _, part in ipairs(self._parts) do
    local ok, message, code = part:verify()
    if not ok then return nil, message, code end
  end
  return true
end

--- The largest of the parts' tokens.
function MultiGuard:token()
  local largest = ""
  for _, part in ipairs(self._parts) do
    local token = part:token()
    if token > largest then largest = token end
  end
  return largest
end

function MultiGuard:token_number()
  local largest = self._parts[1]
  for _, part in ipairs(self._parts) do
    if part:token() > largest:token() then largest = part end
  end
  return largest:token_number()
end

--- path → token
function MultiGuard:tokens()
  local tokens = {}
  for _, part in ipairs(self._parts) do tokens[part.path] = part:token() end
  return tokens
end

function MultiGuard:turn()
  return 0
end

function MultiGuard:state()
  if self._outcome then return self._outcome end
  local state = "held"
  for _, part in ipairs(self._parts) do
    local of_part = part:state()
    if of_part == "lost" or of_part == "released" then return of_part end
    if of_part == "suspended" then state = of_part end
  end
  return state
end

function MultiGuard:on_lost(fn)
  check.callback(fn, "argument 1 of on_lost")
  if self:state() == "lost" then
    fn(self, self._code or "lost")
  elseif not self._outcome then
    table.insert(self._listeners, fn)
  end
  return self
end

--- `fn(guard)` once, when somebody asks for any of the parts.
function MultiGuard:on_revoke(fn)
  check.callback(fn, "argument 1 of on_revoke")
  local told = false
  for _, part in ipairs(self._parts) do
    part:on_revoke(function()
      if not told then
        told = true
        fn(self)
      end
    end)
  end
  return self
end

MultiGuard.__close = function(self) self:release() end

function MultiGuard:__tostring()
  return ("zklock guard of %s (%s)"):format(self.path, self:state())
end

local Multi = {}
Multi.__index = Multi

local function read_parts(session, locks)
  check.type(locks, "table", "argument 1 of multi")
  local parts, seen = {}, {}
  for key in pairs(locks) do
    if type(key) ~= "number" or key < 1 or key > #locks
        or key ~= math.floor(key) then
      misuse("argument 1 of multi must be a list of locks, got the key %q",
        tostring(key))
    end
  end
  for i = 1, #locks do
    if locks[i] == nil then misuse("element %d of multi is nil", i) end
  end
  for i, lock in ipairs(locks) do
    if getmetatable(lock) ~= Lock then
      misuse("element %d of multi must be a mutex, a side of a rwlock or a "
        .. "semaphore, got a %s", i, type(lock))
    elseif lock._session ~= session then
      misuse("element %d of multi belongs to another session", i)
    end
    local key = lock.path .. " " .. lock._kind
    if not seen[key] then
      seen[key] = true
      parts[#parts + 1] = lock:private_copy()
    end
  end
  if #parts == 0 then misuse("multi needs at least one lock") end
  table.sort(parts, function(a, b)
    if a.path ~= b.path then return a.path < b.path end
    return a._kind > b._kind -- the write side first: the read side downgrades
  end)
  return parts
end

-- Two multis of one session over the same locks are the same lock.
local function guards_of(session, parts)
  local key = {}
  for i, part in ipairs(parts) do key[i] = part.path .. " " .. part._kind end
  key = "multi of " .. table.concat(key, ",")
  local guards = session._entries[key]
  if not guards then
    guards = setmetatable({}, { __mode = "k" })
    session._entries[key] = guards
  end
  return guards
end

function Multi.new(session, locks)
  local parts = read_parts(session, locks)
  local paths = {}
  for i, part in ipairs(parts) do paths[i] = part.path end
  return setmetatable({
    path = table.concat(paths, ","),
    _session = session,
    _parts = parts,
    _guards = guards_of(session, parts),
  }, Multi)
end

local acquire_options = check.set "timeout data max_hold owner"
local check_try = Lock.check_try

local function read_request(options)
  if options == nil or type(options) == "number" then
    options = { timeout = options }
  end
  check.options(options, acquire_options, "acquire options")
  local timeout = check.duration(options.timeout, "timeout")
  local deadline = timeout and timeout > 0 and core.now() + timeout
  return {
    -- What is left of the one deadline.
    timeout = function()
      if deadline then return math.max(deadline - core.now(), 1e-6) end
      return timeout
    end,
    data = options.data,
    max_hold = options.max_hold,
    owner = options.owner,
    asked = timeout,
  }
end

local function give_back(guards)
  for i = #guards, 1, -1 do guards[i]:release() end
end

local function remember(self, owner, guard)
  -- As long as the guard lives, who asks again is told what became of it.
  guard._guards = self._guards
  self._guards[owner] = self._guards[owner] or {}
  table.insert(self._guards[owner], guard)
  return guard
end

-- All parts are granted; but the first may have been lost since.
local function complete(self, owner, guards)
  for _, guard in ipairs(guards) do
    if not guard:is_held() then
      give_back(guards)
      return refusal("lost", "the hold of %s was lost while the rest of %s was "
        .. "acquired", guard.path, self.path)
    end
  end
  return remember(self, owner, new_guard(self.path, guards))
end

-- A lost hold answers "lost" until its guard has been released.
local function find_lost(self, owner)
  local stack = self._guards[owner] or {}
  while #stack > 0 and stack[#stack]._outcome == "released" do
    table.remove(stack)
  end
  local top = stack[#stack]
  if top and not top._told and top:state() == "lost" then return top end
end

local function part_options(request)
  return {
    timeout = request.timeout(),
    data = request.data,
    max_hold = request.max_hold,
    owner = request.owner,
  }
end

-- Takes the parts in order with `take`; stops at the first failure.
local function acquire(self, request, take)
  local session = self._session
  session:_check_open()
  if request.owner == nil then
    request.owner = session:_owner(session:_adapter())
  end
  local gone = find_lost(self, request.owner)
  if gone then return lost(gone) end
  local guards = {}
  for i, part in ipairs(self._parts) do
    local guard, message, code = take(part, part_options(request),
      request.asked)
    if not guard then
      give_back(guards)
      return nil, message, code
    end
    guards[i] = guard
  end
  return complete(self, request.owner, guards)
end

function Multi:acquire(options)
  return acquire(self, read_request(options), Lock.acquire_part)
end

function Multi:try_acquire(options)
  check_try(options)
  local request = read_request(options)
  local take = function(part, of_part)
    of_part.timeout = nil
    return part:try_acquire(of_part)
  end
  return acquire(self, request, take)
end

function Multi:with_lock(fn, options)
  check.callback(fn, "argument 1 of with_lock")
  local guard, message, code =
    acquire(self, read_request(options), Lock.acquire_part)
  if not guard then return nil, message, code end
  return Lock.run_with(guard, fn)
end

--- Releases the calling task's innermost hold of this multi.
function Multi:release(options)
  local stack = self._guards[self._session:_owner()] or {}
  while #stack > 0 do
    local guard = table.remove(stack)
    if guard._outcome ~= "released" and not guard._told then
      return guard:release(options)
    end
  end
  misuse("%s is not held by the calling task", self.path)
end

local Ticket = {}
Ticket.__index = Ticket

function Ticket:cancel()
  self._cancelled = true
  if self._part then self._part:cancel() end
end

function Multi:acquire_async(options, callback)
  if callback == nil and type(options) == "function" then
    options, callback = nil, options
  end
  check.callback(callback, "the callback of acquire_async")
  local request = read_request(options)
  self._session:_check_open()
  request.owner = request.owner or {}
  local guards = {}
  local ticket = setmetatable({}, Ticket)
  local function step(index)
    local part = self._parts[index]
    ticket._part = part:acquire_async(part_options(request),
      function(guard, message, code)
        if guard and ticket._cancelled then
          guard:release()
          guard, message, code = refusal("cancelled",
            "the wait for %s was cancelled", self.path)
        end
        if not guard then
          give_back(guards)
          callback(nil, message, code)
          return
        end
        guards[index] = guard
        if index < #self._parts then
          step(index + 1)
        else
          callback(complete(self, request.owner, guards))
        end
      end, request.asked)
  end
  step(1)
  self._tickets = self._tickets or setmetatable({}, { __mode = "k" })
  self._tickets[ticket] = true
  return ticket
end

--- Ends every wait that was begun through this lock object.
function Multi:cancel()
  for _, part in ipairs(self._parts) do part:cancel() end
  for ticket in pairs(self._tickets or {}) do ticket:cancel() end
end

function Multi:__tostring()
  return ("zklock multi %s"):format(self.path)
end

return Multi

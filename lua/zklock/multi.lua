--- Multi: one lock over several, all or nothing.
-- Parts are taken in one order whatever the order they were given in, so two
-- multis cannot wait for each other.
local check = require "zklock.check"
local core = require "zklock.core"
local errors = require "zklock.errors"
local Guard = require "zklock.guard"
local Lock = require "zklock.lock"
local waits = require "zklock.wait"

local misuse, refusal = errors.misuse, errors.refusal

local MultiGuard = {}
MultiGuard.__index = MultiGuard

-- It is made before its parts are granted, so that nothing can end them
-- unheard: until then nobody but its ticket has it.
local function new_guard(session, path)
  return setmetatable({
    path = path,
    node = "",
    _session = session,
    _parts = {},
    _listeners = {},
    _outcome = false, -- "released" or "lost", when it is over
    _reason = nil, -- of the loss
    _ticket = false, -- of the acquisition, while that goes on
    _stack = false, -- among the owner's guards: see remember
  }, MultiGuard)
end

function MultiGuard:_add(part)
  table.insert(self._parts, part)
  -- Weak: a part's hold must not keep its multi alive.
  local weak = setmetatable({ self }, { __mode = "v" })
  part:on_lost(function(_, _, reason)
    if weak[1] then weak[1]:_lose(part.path, reason) end
  end)
end

function MultiGuard:_give_back()
  for i = #self._parts, 1, -1 do self._parts[i]:release() end
end

local function tell_loss(session, self)
  local reason = self._reason
  local code = errors.code_of_loss(reason)
  for _, listener in ipairs(self._listeners) do
    session:_call(listener, self, code, reason)
  end
  self._listeners = {}
end

-- One part is lost: so is the whole, and the rest is given back.
function MultiGuard:_lose(path, reason)
  if self._outcome then return end
  self._outcome, self._reason, self._lost_path = "lost", reason, path
  self:_give_back()
  local ticket = self._ticket
  if ticket then ticket:_end_wait() end -- what it waits for is of no use
  self:_tell_loss()
end

--- Is it lost, by what we know, or by the clock?  Then it is from now on.
function MultiGuard:_find_loss()
  for _, part in ipairs(self._outcome and {} or self._parts) do
    local reason = part:_find_loss()
    if reason then self:_lose(part.path, reason) end
  end
  return self._outcome == "lost"
end

-- Who has heard of the end is told no more by the next acquisition.
local function forget(self)
  for i = #(self._stack or {}), 1, -1 do
    if self._stack[i] == self then table.remove(self._stack, i) end
  end
end

local function lost(self)
  return errors.lost(self.path, self:reason())
end

-- All of them first: while one is awaited this task may be killed.  Once more,
-- if it was interrupted, it does the rest.
function MultiGuard:_release(wait)
  local removals, lost_part = {}, nil
  for i = #self._parts, 1, -1 do
    local part = self._parts[i]
    local done = part:give_back(wait)
    if not done then lost_part = lost_part or part end
    if done and done ~= true then removals[#removals + 1] = done end
  end
  if lost_part then
    self._reason, self._lost_path = lost_part:reason(), lost_part.path
  end
  self._outcome = lost_part and "lost" or "released"
  return removals
end

-- Tells who listens, once, if it was lost.
function MultiGuard:_tell_loss()
  if self._outcome == "lost" then self._session:_do(tell_loss, self) end
end

local Releasing = waits.class()

function Releasing:finish()
  if self.fine then return end
  forget(self.guard)
  self.guard:_release(self.wait)
end

function MultiGuard:release(options)
  local wait = Guard.read_wait(options)
  forget(self)
  if self._outcome == "lost" then return lost(self) end
  if self._outcome then return true end
  local releasing = setmetatable({ guard = self, wait = wait }, Releasing)
  local removals = core.protect(releasing, self._release, self, wait)
  self:_tell_loss()
  if self._outcome == "lost" then return lost(self) end
  for _, removal in ipairs(removals) do
    local ok, message, code = self._session:_await_removal(removal)
    if not ok then return nil, message, code end
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

--- Why it was lost, or rather the first of its parts that was.
function MultiGuard:reason()
  if self._outcome then return self._reason end
  for _, part in ipairs(self._parts) do
    local reason = part:reason()
    if reason then return reason end
  end
end

function MultiGuard:on_lost(fn)
  check.callback(fn, "argument 1 of on_lost")
  if self:state() == "lost" then
    local reason = self:reason()
    fn(self, errors.code_of_loss(reason), reason)
  elseif not self._outcome then
    local scope = self._session:_scope()
    table.insert(self._listeners, { fn = fn, scope = scope })
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

check.methods(MultiGuard, [[
  guard:release(options)
  guard:is_held()
  guard:lease()
  guard:verify()
  guard:token()
  guard:token_number()
  guard:tokens()
  guard:state()
  guard:reason()
  guard:on_lost(fn)
  guard:on_revoke(fn)
  guard:turn()
]])

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
    _tickets = setmetatable({}, { __mode = "k" }),
  }, Multi)
end

local acquire_options = check.set "timeout data max_hold owner"

local function read_request(options)
  options = check.acquire_options(options, acquire_options)
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

local function remember(self, owner, guard)
  -- As long as the guard lives, who asks again is told what became of it.
  guard._guards = self._guards
  local stack = self._guards[owner] or {}
  self._guards[owner], guard._stack = stack, stack
  table.insert(stack, guard)
end

local function top_of(self, owner)
  local stack = self._guards[owner]
  return stack and stack[#stack]
end

-- Ticket: an acquisition under way, whatever it waits in.
local Ticket = {}
Ticket.__index = Ticket

local function new_ticket(self, request)
  local guard = new_guard(self._session, self.path)
  local ticket = setmetatable({
    asked = request.asked,
    busy = request.busy,
    scope = false,
    wait = false, -- the part's that is asked for
    _multi = self,
    _request = request,
    _guard = guard,
    _cancelled = false,
  }, Ticket)
  guard._ticket = ticket
  self._tickets[ticket] = true
  return ticket
end

function Ticket:_end_wait()
  if self.wait then Lock.cancel_wait(self.wait) end
end

--- Ends the wait; it hears "cancelled" unless the last grant was first.
function Ticket:cancel()
  self._cancelled = true
  self:_end_wait()
end

check.methods(Ticket, "ticket:cancel()")

local function lost_part(self)
  local guard = self._guard
  if guard._outcome then return guard._lost_path end
  for _, part in ipairs(guard._parts) do
    if not part:is_held() then return part.path end
  end
end

-- Why an acquisition cannot go on after a grant: nil, message, code.
local function obstacle(self, complete)
  local path = self._multi.path
  if self._multi._session._closed then
    return refusal("closed", "the session was closed while waiting for %s",
      path)
  end
  local lost_path = lost_part(self)
  if lost_path then
    return refusal("lost", "the hold of %s was lost while the rest of %s was "
      .. "acquired", lost_path, path)
  elseif self._cancelled and not complete then
    return refusal("cancelled", "the wait for %s was cancelled", path)
  end
end

-- A part was answered.  Nothing, if the next is to be asked for; true and the
-- answer for all, if not.
function Ticket:_note(part, message, code)
  local guard, multi = self._guard, self._multi
  self.wait = false
  if part then guard:_add(part) end
  local complete = #guard._parts == #multi._parts
  if part or code == "cancelled" and guard._outcome then
    local _, why, which = obstacle(self, complete)
    message, code = why, which
  end
  if not code and not complete then return nil end
  guard._ticket = false
  if code then
    guard._outcome = guard._outcome or "released"
    guard:_give_back()
    return true, nil, message, code
  end
  local nodes = {}
  for i, one in ipairs(guard._parts) do nodes[i] = one.node end
  guard.node = table.concat(nodes, ",")
  remember(multi, self._request.owner, guard)
  return true, guard
end

local function part_options(request)
  return {
    timeout = request.timeout(),
    data = request.data,
    max_hold = request.max_hold,
    owner = request.owner,
  }
end

-- Taking: the attempts of a call that waits.  What they have got goes back at
-- once if the call was killed, or something has raised.
local Taking = waits.class()

function Taking:finish()
  if self.fine then return end
  local guard = self.guard
  if guard then
    guard._ticket = false
    forget(guard)
    if not guard._outcome then guard:_release() end
    guard:_tell_loss()
  end
  for _, attempt in ipairs(self) do
    attempt.fine = false
    attempt:finish()
  end
end

local function take_all(taking, self, ticket)
  taking.guard = ticket._guard
  for i, part in ipairs(self._parts) do
    taking[i] = Lock.attempt()
    local done, guard, message, code = ticket:_note(part:acquire_part(
      taking[i], part_options(ticket._request), ticket))
    if done then return guard, message, code end
  end
end

local function acquire(taking, self, request)
  local session = self._session
  session:_check_open()
  local adapter = session:_adapter()
  if request.owner == nil then request.owner = session:_owner(adapter) end
  -- A lost hold answers "lost" until its guard has been released.
  local top = top_of(self, request.owner)
  if top and top:_find_loss() then return lost(top) end
  local ticket = new_ticket(self, request)
  return take_all(taking, self, ticket)
end

local function loop_of(self) return self._session._loop end

local function method(fn) return waits.method(Taking, loop_of, fn) end

Multi.acquire = method(function(taking, self, options)
  return acquire(taking, self, read_request(options))
end)

Multi.try_acquire = method(function(taking, self, options)
  Lock.check_try(options)
  local request = read_request(options)
  request.busy = true
  return acquire(taking, self, request)
end)

Multi.with_lock = method(function(taking, self, fn, options)
  check.callback(fn, "argument 1 of with_lock")
  local guard, message, code = acquire(taking, self, read_request(options))
  if not guard then return nil, message, code end
  return Lock.run_with(taking, guard, fn)
end)

--- Releases the calling task's innermost hold of this multi.
function Multi:release(options)
  local stack = self._guards[self._session:_owner()] or {}
  local guard = stack[#stack]
  if not guard then
    misuse("%s is not held by the calling task", self.path)
  end
  return guard:release(options)
end

function Multi:acquire_async(options, callback)
  if callback == nil and type(options) == "function" then
    options, callback = nil, options
  end
  check.callback(callback, "the callback of acquire_async")
  local request = read_request(options)
  local session = self._session
  session:_check_open()
  local ticket = new_ticket(self, request)
  ticket.scope = session:_scope()
  local gone = request.owner ~= nil and top_of(self, request.owner)
  gone = gone and gone:state() == "lost" and gone
  if gone then
    session:_later(function() callback(lost(gone)) end)
    return ticket
  end
  if request.owner == nil then request.owner = {} end
  local function ask(index)
    local function answered(...)
      local done, guard, message, code = ticket:_note(...)
      if not done then return ask(index + 1) end
      callback(guard, message, code)
    end
    self._parts[index]:begin(part_options(request), answered, ticket)
  end
  ask(1)
  return ticket
end

--- Asks who holds the parts now: each row has the `path` of its part, too.
function Multi:holders()
  local all = {}
  for _, part in ipairs(self._parts) do
    local holders, message, code = part:holders()
    if not holders then return nil, message, code end
    for _, holder in ipairs(holders) do
      holder.path = part.path
      all[#all + 1] = holder
    end
  end
  return all
end

--- Ends every wait that was begun through this lock object.
function Multi:cancel()
  self._session:_check_open()
  for ticket in pairs(self._tickets) do ticket:cancel() end
end

check.lock_methods(Multi)

function Multi:__tostring()
  return ("zklock multi %s"):format(self.path)
end

return Multi

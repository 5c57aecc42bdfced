--- Locks: what mutexes and their relatives have in common.
local check = require "zklock.check"
local core = require "zklock.core"
local errors = require "zklock.errors"
local Guard = require "zklock.guard"
local quote = require "zklock.quote"
local waits = require "zklock.wait"

local misuse, refusal = errors.misuse, errors.refusal

--- Entry: what all lock objects of one session on one path share.
-- `guards[kind][owner]` is the stack of an owner's unreleased guards.  Owners
-- are weak keys, and only lock objects, guards and waits refer to the entry: a
-- hold that nobody can release any more is collected, and so released.
local Entry = {}
Entry.__index = Entry

function Entry.new(session, path, signature)
  return setmetatable({
    session = session,
    path = path,
    signature = signature,
    guards = {},
  }, Entry)
end

function Entry:top(kind, owner)
  local stacks = self.guards[kind]
  local stack = stacks and stacks[owner]
  return stack and stack[#stack]
end

function Entry:push(kind, owner, guard, scope)
  local stacks = self.guards[kind]
  if not stacks then
    stacks = setmetatable({}, { __mode = "k" })
    self.guards[kind] = stacks
  end
  local stack = stacks[owner]
  if not stack then
    stack = {}
    stacks[owner] = stack
  end
  guard._stack, guard._scope = stack, scope
  stack[#stack + 1] = guard
  if scope then scope:add(scope.guards, guard) end
end

function Entry:forget(guard)
  if guard._scope then guard._scope:remove(guard._scope.guards, guard) end
  local stack = guard._stack or {}
  for i = #stack, 1, -1 do
    if stack[i] == guard then
      table.remove(stack, i)
      break
    end
  end
end

local Lock = {}
Lock.__index = Lock

local common = "reentrant data max_hold on_suspend"
local options_of = {
  mutex = check.set(common .. " fair wait poll_interval handoffs layout"),
  rwlock = check.set(common .. " layout"),
  semaphore = check.set "data max_hold on_suspend",
}
local acquire_options = check.set "timeout data max_hold owner"

-- 'a b c' → '"a", "b" or "c"'
local function alternatives(choices)
  local text = choices:gsub("%S+", '"%0"'):gsub(" ", ", ")
  return (text:gsub(", ([^,]*)$", " or %1"))
end

local function one_of(value, default, choices, name)
  if value == nil then return default end
  for choice in choices:gmatch "%S+" do
    if value == choice then return value end
  end
  misuse("%s must be %s, got %s", name, alternatives(choices), tostring(value))
end

local function whole(value, default, least, name)
  if value == nil then return default end
  check.type(value, "number", name)
  if value ~= math.floor(value) or value < least or value > 1e6 then
    misuse("%s must be a whole number from %d to 1000000, got %s", name, least,
      tostring(value))
  end
  return value
end

-- An option of another family is no typo: the message says whose it is.
local function read_options(options, family)
  for key in pairs(type(options) == "table" and options or {}) do
    if not options_of[family][key] then
      local others = {}
      for _, other in ipairs { "mutex", "rwlock", "semaphore" } do
        if options_of[other][key] then others[#others + 1] = "a " .. other end
      end
      if #others > 0 then
        misuse("option '%s' goes with %s only, not with a %s", key,
          table.concat(others, " or "), family)
      end
    end
  end
  return check.options(options, options_of[family], family .. " options")
end

-- How the core is to contend, from a lock's options.
local function read_way(options, kind, permits)
  local fair = check.flag(options.fair, true, "option 'fair'")
  local way = {
    kind = fair and kind or "unfair",
    permits = permits,
    wait = one_of(options.wait, "predecessor", "predecessor parent poll",
      "option 'wait'"),
    poll_interval = check.duration(options.poll_interval,
      "option 'poll_interval'") or 1,
    handoffs = whole(options.handoffs, 0, 0, "option 'handoffs'"),
    layout = one_of(options.layout, "curator", "curator kazoo",
      "option 'layout'"),
    lose_on_suspend = one_of(options.on_suspend, "keep", "keep lose",
      "option 'on_suspend'") == "lose" and 1 or 0,
  }
  if way.poll_interval < 0.001 then
    misuse("option 'poll_interval' must be at least 0.001 seconds, got %s",
      tostring(way.poll_interval))
  elseif options.poll_interval and way.wait ~= "poll" then
    misuse("option 'poll_interval' needs option 'wait' = \"poll\"")
  elseif not fair and (options.wait or options.layout
      or way.handoffs > 0) then
    misuse("option 'fair' = false goes with none of wait, layout, handoffs")
  elseif way.handoffs > 0 and way.wait ~= "predecessor" then
    misuse("option 'handoffs' needs option 'wait' = \"predecessor\"")
  end
  return way
end

-- What all users of a path in one session must agree about.
local function signature_of(family, way)
  return ("%s%s%s%s"):format(
    way.kind == "unfair" and "unfair " or "", family,
    family == "semaphore" and (" of %d permits"):format(way.permits) or "",
    way.layout == "kazoo" and " in kazoo's layout" or "")
end

local function entry_of(session, path, signature)
  local entry = session._entries[path]
  if not entry then
    entry = Entry.new(session, path, signature)
    session._entries[path] = entry
  elseif entry.signature ~= signature then
    misuse("%s is used as a %s by this session, not as a %s", path,
      entry.signature, signature)
  end
  return entry
end

--- `family`: "mutex", "rwlock" or "semaphore"; `kind`: the side of it.
function Lock.new(session, path, family, kind, options, permits)
  options = read_options(options, family)
  local way = read_way(options, kind, permits)
  return setmetatable({
    path = path,
    _session = session,
    _family = family,
    _kind = kind,
    _way = way,
    _reentrant = check.flag(options.reentrant, true, "option 'reentrant'"),
    _data = options.data ~= nil and check.data(options.data, "option 'data'")
      or session._data,
    _max_hold = check.duration(options.max_hold, "option 'max_hold'"),
    _entry = entry_of(session, path, signature_of(family, way)),
    _waiters = setmetatable({}, { __mode = "k" }),
  }, Lock)
end

-- nil, a number of seconds, or a table of options → a request
local function read_request(self, options)
  options = check.acquire_options(options, acquire_options)
  if options.owner ~= options.owner then
    misuse("option 'owner' must not be NaN")
  end
  local max_hold = self._max_hold
  if options.max_hold ~= nil then
    max_hold = check.duration(options.max_hold, "option 'max_hold'")
  end
  return {
    timeout = check.duration(options.timeout, "timeout"),
    data = options.data ~= nil and check.data(options.data, "option 'data'")
      or self._data,
    max_hold = max_hold,
    owner = options.owner,
    refusal = "timeout",
  }
end

-- ' (2 ahead of us; held by "web1:4711")', as far as that is known.
local function describe_queue(ahead, wait)
  local parts = {}
  if ahead > 0 then parts[1] = ("%d ahead of us"):format(ahead) end
  if wait.rival then
    parts[#parts + 1] = (wait.rival_holds and "held by " or "just ahead is ")
      .. quote(wait.rival, wait.rival_cut)
  end
  return parts[1] and (" (%s)"):format(table.concat(parts, "; ")) or ""
end

-- What is said of a wait that ended without the lock, by its code.
local explain = {}

function explain.timeout(self, request, wait)
  return refusal("timeout", "timed out after %s waiting for %s%s",
    errors.seconds(request.asked or request.timeout or 0), self.path,
    describe_queue(wait.ahead or 0, wait))
end

function explain.busy(self, request, wait)
  if request.refusal ~= "busy" then
    return explain.timeout(self, request, wait)
  end
  return refusal("busy", "%s is taken%s", self.path, describe_queue(0, wait))
end

function explain.cancelled(self)
  return refusal("cancelled", "the wait for %s was cancelled", self.path)
end

function explain.closed(self)
  return refusal("closed", "the session was closed while waiting for %s",
    self.path)
end

function explain.lost(self)
  return refusal("lost", "the hold of %s was lost", self.path)
end

function explain.disconnected(self, request)
  local timeout = request.asked or request.timeout
  return refusal("disconnected", "no server of %s answered%s, waiting for %s%s",
    self._session._hosts,
    timeout and " within " .. errors.seconds(timeout) or "",
    self.path, self._session:_last_error())
end

function explain.auth(self, _, wait)
  return refusal("auth", "ZooKeeper refused a node under %s: %s", self.path,
    wait.reason or "not authenticated")
end

function explain.invalid(self, _, wait)
  return refusal("invalid", "ZooKeeper cannot make a lock at %s: %s", self.path,
    wait.reason or "it did not say why")
end

-- Attempt: an acquisition under way, `{ share=, guard=, wait= }`.  What it has
-- got goes back at once if it does not reach the caller.
local Attempt = waits.class()

function Attempt:finish()
  if self.fine then return end
  if self.guard then
    self.guard:give_back()
    self.guard:tell_loss()
  end
  if self.share then self.share:release() end
  local wait = self.wait
  if wait then wait.lock._waiters[wait] = nil end
end

function Lock.attempt()
  return setmetatable({}, Attempt)
end

local function make_guard(attempt, self, wait)
  local session = self._session
  local hold = {
    session = session,
    entry = self._entry,
    path = self.path,
    number = wait.number,
    listeners = {},
    -- What its end is to be noted in: then no memory is needed.
    lost = false,
    ended = false,
    revoked = false,
    revocation = false,
  }
  session._holds[wait.number] = hold
  session._shares[wait.number] = wait.share
  local guard = Guard.new(hold, wait.share, self._kind)
  attempt.guard = guard
  self._entry:push(self._kind, wait.owner, guard, wait.scope)
  return guard
end

-- What an owner that holds already gets; nothing if it does not hold.  The
-- second result is the writer's share that a reader is to downgrade; or after
-- "lost" the guard whose hold is lost, which nobody may have been told.
local function reenter(attempt, self, owner, scope)
  local kind, entry = self._kind, self._entry
  if kind == "lease" then return nil end -- each acquisition takes a permit
  local top = entry:top(kind, owner)
  if not top then
    local other = kind == "read" and entry:top("write", owner)
      or kind == "write" and entry:top("read", owner)
    if not other then
      return nil
    elseif other:_find_loss() then
      return "lost", other
    elseif kind == "write" then
      return true, refusal("deadlock", "%s is held for reading by the caller, "
        .. "which waits for itself when it asks for writing", self.path)
    end
    return nil, other._share
  end
  if top:_find_loss() then
    return "lost", top
  elseif not self._reentrant then
    return true, refusal("deadlock",
      "%s is already held by the caller and not reentrant", self.path)
  end
  attempt.share = core.hold()
  local guard = Guard.new(top._hold, top._share:again(attempt.share), kind)
  attempt.guard = guard
  entry:push(kind, owner, guard, scope)
  return true, guard
end

local function begin(attempt, self, request, writer)
  local session = self._session
  local patient = request.timeout ~= 0
  local seconds = patient and request.timeout
    or (not patient and session:_patience()) or nil
  local way = self._way
  if writer then
    way = setmetatable({ writer = writer }, { __index = way })
  end
  attempt.share = core.hold()
  local share, number = session._core:acquire(self.path, seconds, patient,
    request.data, request.max_hold, way, attempt.share)
  local wait = {
    number = number,
    share = share,
    owner = request.owner,
    scope = request.scope,
    lock = self,
    among = session._waits,
    -- What the end of the wait is to be noted in: then no memory is needed.
    done = false,
    taken = false,
    code = false,
    ahead = false,
    reason = false,
    rival = false,
    rival_holds = false,
    rival_cut = false,
    adapter = false,
    callback = false,
  }
  attempt.wait = wait
  self._waiters[wait] = true
  return wait
end

-- The outcome of a wait that is over: a guard, or nil, message, code.
local function finish(attempt, self, request, wait)
  self._waiters[wait] = nil
  if wait.code then
    return explain[wait.code](self, request, wait)
  end
  wait.taken = true
  return make_guard(attempt, self, wait)
end

local function acquire(attempt, self, request)
  local session = self._session
  session:_check_open()
  local adapter = session:_adapter()
  if request.owner == nil then request.owner = session:_owner(adapter) end
  request.scope = session:_scope(adapter)
  local done, guard, message, code =
    reenter(attempt, self, request.owner, request.scope)
  if done == "lost" then return select(2, guard:_refuse()) end
  if done then return guard, message, code end
  local wait = begin(attempt, self, request, guard)
  if request.part then request.part.wait = wait end
  session:_wait(adapter, wait)
  return finish(attempt, self, request, wait)
end

local function loop_of(self) return self._session._loop end

local function method(fn) return waits.method(Attempt, loop_of, fn) end

--- Waits until the lock is granted: a guard, or `nil, message, code`.
-- `options`: nil (for ever), seconds, or `{ timeout=, data=, max_hold=,
-- owner= }`.
Lock.acquire = method(function(attempt, self, options)
  return acquire(attempt, self, read_request(self, options))
end)

--- For multi, which sees to the end of the attempt.  `part`: `{ asked =,
-- busy =, scope = }`, the timeout that its caller gave for all parts, whether
-- it only tries, its scope if it does not wait here; `part.wait` will be the
-- wait.
function Lock:acquire_part(attempt, options, part)
  local request = read_request(self, options)
  request.part, request.asked = part, part.asked
  if part.busy then request.timeout, request.refusal = 0, "busy" end
  return acquire(attempt, self, request)
end

--- Ends a wait; it hears "cancelled" unless the grant was first.
function Lock.cancel_wait(wait)
  if not wait.done and not wait.lock._session._closed then
    wait.share:cancel()
  end
end

function Lock.check_try(options)
  if options == nil then return end
  check.type(options, "table", "argument 1 of try_acquire")
  if options.timeout ~= nil then
    misuse("try_acquire takes no timeout")
  end
end

--- The same lock with waits of its own: for what multi begins and cancels.
function Lock:private_copy()
  local copy = {}
  for key, value in pairs(self) do copy[key] = value end
  copy._waiters = setmetatable({}, { __mode = "k" })
  return setmetatable(copy, Lock)
end

--- Takes the lock if it is free; never waits for another holder ("busy").
Lock.try_acquire = method(function(attempt, self, options)
  Lock.check_try(options)
  local request = read_request(self, options or {})
  request.timeout = 0
  request.refusal = "busy"
  return acquire(attempt, self, request)
end)

--- Releases the calling task's innermost hold of this lock.
function Lock:release(options)
  local session = self._session
  local owner = session:_owner()
  local guard = self._entry:top(self._kind, owner)
  if not guard then
    misuse("%s is not held by the calling task", self.path)
  end
  return guard:release(options)
end

local Ticket = {}
Ticket.__index = Ticket

function Ticket:cancel()
  if self._wait then Lock.cancel_wait(self._wait) end
end

check.methods(Ticket, "ticket:cancel()")

-- The callback's turn.  What it gets is made once, if this is interrupted.
local function deliver(attempt, self, request, item)
  local wait, session = attempt.wait, self._session
  if wait.scope then wait.scope:remove(wait.scope.waits, wait) end
  if attempt.guard then
    session:_call(item, attempt.guard)
  elseif item.fn then
    session:_call(item, finish(attempt, self, request, wait))
  end
end

--- Begins to wait and returns at once; `callback(guard, message, code)` runs
-- in step().  Returns a ticket with `cancel()`.
function Lock:acquire_async(options, callback)
  return self:begin(options, callback)
end

--- The same; `part`: for multi, see acquire_part.
function Lock:begin(options, callback, part)
  if callback == nil and type(options) == "function" then
    options, callback = nil, options
  end
  check.callback(callback, "the callback of acquire_async")
  local request = read_request(self, options)
  request.asked = part and part.asked
  local session = self._session
  local attempt, writer = Lock.attempt(), nil
  session:_check_open()
  local scope
  if part then scope = part.scope else scope = session:_scope() end
  request.scope = scope
  if request.owner ~= nil then
    local done, guard, message, code =
      reenter(attempt, self, request.owner, scope)
    if done then
      local lost = done == "lost" and guard
      session:_later(function()
        if lost then return callback(select(2, lost:_refuse())) end
        callback(guard, message, code)
      end, scope)
      return setmetatable({ _wait = false }, Ticket)
    end
    writer = guard
  else
    request.owner = {}
  end
  local wait = begin(attempt, self, request, writer)
  if scope then scope:add(scope.waits, wait) end
  local item = { fn = callback, scope = false }
  wait.callback = function() deliver(attempt, self, request, item) end
  local ticket = setmetatable({ _wait = wait }, Ticket)
  if part then part.wait = wait end
  wait.adapter = session:_expect(wait)
  session._waits[wait.number] = wait -- from here on it goes on by itself
  return ticket
end

-- What the nodes of a family are, as the core calls them.
local modes_of = {
  curator = {
    mutex = check.set "mutex",
    rwlock = check.set "read write",
    semaphore = check.set "lease",
  },
  kazoo = {
    mutex = check.set "kazoo-lock",
    rwlock = check.set "kazoo-read kazoo-lock",
  },
}
local unfair = check.set "unfair"

--- Asks who holds the lock now: rows as those of contenders, none if nobody.
function Lock:holders()
  local way = self._way
  return self._session:_holders(self.path,
    way.kind == "unfair" and unfair or modes_of[way.layout][self._family])
end

--- Ends every wait that was begun through this lock object.
function Lock:cancel()
  self._session:_check_open()
  for wait in pairs(self._waiters) do
    if not wait.done then wait.share:cancel() end
  end
end

local function released(guard, ...)
  guard:release()
  return ...
end

-- Runs fn(guard) and releases; the closing of the caller's method releases if
-- this does not get through.
local function run(closing, guard, fn)
  if closing.bare then
    return released(guard, core.protect(closing, fn, guard))
  end
  return released(guard, fn(guard))
end

local function report(guard, ...)
  if guard:state() == "lost" then
    return nil, ("zklock: the hold of %s was lost while it was used%s")
      :format(guard.path, errors.because(guard:reason())), "lost", ...
  end
  return true, ...
end

--- Runs `fn(guard)` under the lock and releases it, whatever happens.
-- `true, …results`; `nil, message, code` if the lock was not granted (fn did
-- not run); the same error if fn raises; `nil, message, "lost", …results` if
-- the hold was lost while fn ran.
Lock.with_lock = method(function(attempt, self, fn, options)
  check.callback(fn, "argument 1 of with_lock")
  local guard, message, code =
    acquire(attempt, self, read_request(self, options))
  if not guard then return nil, message, code end
  return report(guard, run(attempt, guard, fn))
end)

function Lock.run_with(closing, guard, fn)
  return report(guard, run(closing, guard, fn))
end

check.lock_methods(Lock)

function Lock:__tostring()
  return ("zklock %s %s"):format(self._entry.signature, self.path)
end

return Lock

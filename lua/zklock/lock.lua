--- Locks: what mutexes and their relatives have in common.
local check = require "zklock.check"
local core = require "zklock.core"
local errors = require "zklock.errors"
local Guard = require "zklock.guard"
local loops = require "zklock.loop"

local misuse, refusal = errors.misuse, errors.refusal
local unpack = table.unpack or unpack -- luacheck: ignore 113

--- Entry: what all lock objects of one session on one path share.
-- `guards[owner]` is the stack of an owner's unreleased guards.  Owners are
-- weak keys, and only lock objects, guards and waits refer to the entry: a
-- hold that nobody can release any more is collected, and so released.
local Entry = {}
Entry.__index = Entry

function Entry.new(session, path, kind)
  return setmetatable({
    session = session,
    path = path,
    kind = kind,
    guards = setmetatable({}, { __mode = "k" }),
  }, Entry)
end

function Entry:top(owner)
  local stack = self.guards[owner]
  return stack and stack[#stack]
end

function Entry:push(owner, guard)
  local stack = self.guards[owner]
  if not stack then
    stack = {}
    self.guards[owner] = stack
  end
  stack[#stack + 1] = guard
  guard._stack = stack
end

function Entry:forget(guard)
  local stack = guard._stack
  for i = #stack, 1, -1 do
    if stack[i] == guard then
      table.remove(stack, i)
      break
    end
  end
end

local Lock = {}
Lock.__index = Lock

local lock_options = check.set "reentrant data max_hold on_suspend"
local acquire_options = check.set "timeout data max_hold owner"

function Lock.new(session, path, options)
  options = check.options(options, lock_options, "lock options")
  local self = setmetatable({
    path = path,
    _session = session,
    _reentrant = check.flag(options.reentrant, true, "option 'reentrant'"),
    _data = options.data ~= nil and check.data(options.data, "option 'data'")
      or session._data,
    _max_hold = check.duration(options.max_hold, "option 'max_hold'"),
    _waiters = setmetatable({}, { __mode = "k" }),
  }, Lock)
  local on_suspend = options.on_suspend or "keep"
  if on_suspend ~= "keep" and on_suspend ~= "lose" then
    misuse("option 'on_suspend' must be \"keep\" or \"lose\", got %s",
      tostring(on_suspend))
  end
  self._lose = on_suspend == "lose"
  local entry = session._entries[path]
  if not entry then
    entry = Entry.new(session, path, "mutex")
    session._entries[path] = entry
  end
  self._entry = entry
  return self
end

-- nil, a number of seconds, or a table of options → a request
local function read_request(self, options)
  if options == nil or type(options) == "number" then
    options = { timeout = options }
  end
  check.options(options, acquire_options, "acquire options")
  return {
    timeout = check.duration(options.timeout, "timeout"),
    data = options.data ~= nil and check.data(options.data, "option 'data'")
      or self._data,
    max_hold = check.duration(options.max_hold, "option 'max_hold'")
      or self._max_hold,
    owner = options.owner,
    refusal = "timeout",
  }
end

-- The message for a wait that ended without the lock.
local function explain(self, request, code, ahead, reason)
  local path = self.path
  if code == "busy" and request.refusal == "busy" then
    return refusal("busy", "%s is taken", path)
  elseif code == "timeout" or code == "busy" then
    local who = ahead > 0 and (" (%d ahead of us)"):format(ahead) or ""
    return refusal("timeout", "timed out after %s waiting for %s%s",
      errors.seconds(request.timeout or 0), path, who)
  elseif code == "cancelled" then
    return refusal(code, "the wait for %s was cancelled", path)
  elseif code == "closed" then
    return refusal(code, "the session was closed while waiting for %s", path)
  elseif code == "disconnected" then
    return refusal(code, "no server of %s answered%s, waiting for %s%s",
      self._session._hosts,
      request.timeout and " within " .. errors.seconds(request.timeout) or "",
      path, self._session:_last_error())
  elseif code == "auth" then
    return refusal(code, "ZooKeeper refused a node under %s: %s", path,
      reason or "not authenticated")
  end
  return refusal(code, "ZooKeeper cannot make a lock at %s: %s", path,
    reason or code)
end

local function make_guard(self, wait)
  local session = self._session
  local hold = {
    session = session,
    entry = self._entry,
    path = self.path,
    number = wait.number,
    listeners = {},
  }
  session._holds[wait.number] = hold
  local guard = Guard.new(hold, wait.share)
  self._entry:push(wait.owner, guard)
  return guard
end

-- What an owner that holds already gets; nothing if it does not hold.
local function reenter(self, owner)
  local top = self._entry:top(owner)
  if not top then return nil end
  if not top:is_held() then
    return true, refusal("lost", "the hold of %s was lost", self.path)
  elseif not self._reentrant then
    return true, refusal("deadlock",
      "%s is already held by the caller and not reentrant", self.path)
  end
  local guard = Guard.new(top._hold, top._share:again())
  self._entry:push(owner, guard)
  return true, guard
end

local function begin(self, request)
  local session = self._session
  local patient = request.timeout ~= 0
  local seconds = patient and request.timeout
    or (not patient and session:_patience()) or nil
  local share, number = session._core:acquire(self.path,
    seconds, patient, request.data, request.max_hold, self._lose)
  local wait = {
    number = number,
    share = share,
    owner = request.owner,
    lock = self,
  }
  self._waiters[wait] = true
  session._waits[number] = wait
  return wait
end

-- The outcome of a wait that is over: a guard, or nil, message, code.
local function finish(self, request, wait)
  self._waiters[wait] = nil
  if wait.code then
    return explain(self, request, wait.code, wait.ahead or 0, wait.reason)
  end
  wait.taken = true
  return make_guard(self, wait)
end

local function acquire(self, request)
  local session = self._session
  session:_check_open()
  local adapter = session:_adapter()
  if request.owner == nil then request.owner = session:_owner(adapter) end
  local done, guard, message, code = reenter(self, request.owner)
  if done then return guard, message, code end
  local wait = begin(self, request)
  session:_wait(adapter, wait)
  return finish(self, request, wait)
end

--- Waits until the lock is granted: a guard, or `nil, message, code`.
-- `options`: nil (for ever), seconds, or `{ timeout=, data=, max_hold=,
-- owner= }`.
function Lock:acquire(options)
  return acquire(self, read_request(self, options))
end

--- Takes the lock if it is free; never waits for another holder ("busy").
function Lock:try_acquire(options)
  if options ~= nil then
    check.type(options, "table", "argument 1 of try_acquire")
    if options.timeout ~= nil then
      misuse("try_acquire takes no timeout")
    end
  end
  local request = read_request(self, options or {})
  request.timeout = 0
  request.refusal = "busy"
  return acquire(self, request)
end

--- Releases the calling task's innermost hold of this lock.
function Lock:release(options)
  local session = self._session
  local owner = session:_owner()
  local guard = self._entry:top(owner)
  if not guard then
    misuse("%s is not held by the calling task", self.path)
  end
  return guard:release(options)
end

local Ticket = {}
Ticket.__index = Ticket

--- Ends the wait; the callback hears "cancelled" unless the grant was first.
function Ticket:cancel()
  local wait = self._wait
  if not wait.done and not wait.lock._session._closed then
    wait.share:cancel()
  end
end

--- Begins to wait and returns at once; `callback(guard, message, code)` runs
-- in step().  Returns a ticket with `cancel()`.
function Lock:acquire_async(options, callback)
  if callback == nil and type(options) == "function" then
    options, callback = nil, options
  end
  check.callback(callback, "the callback of acquire_async")
  local request = read_request(self, options)
  local session = self._session
  session:_check_open()
  if request.owner ~= nil then
    local done, guard, message, code = reenter(self, request.owner)
    if done then
      session:_later(function() callback(guard, message, code) end)
      return setmetatable({ _wait = { done = true } }, Ticket)
    end
  else
    request.owner = {}
  end
  local wait = begin(self, request)
  wait.callback = function()
    callback(finish(self, request, wait))
  end
  return setmetatable({ _wait = wait }, Ticket)
end

--- Ends every wait that was begun through this lock object.
function Lock:cancel()
  self._session:_check_open()
  for wait in pairs(self._waiters) do
    if not wait.done then wait.share:cancel() end
  end
end

-- Runs fn(guard) and releases.  On 5.4 a to-be-closed variable does it, which
-- leaves the traceback of an error as it was; `<close>` is no syntax
-- elsewhere, and there pcall must do.
local run
if _VERSION >= "Lua 5.4" then
  run = load([[
    local guard, fn = ...
    local _ <close> = guard
    return fn(guard)
  ]], "=zklock.with_lock")
else
  run = function(guard, fn)
    local leave = loops.fence()
    local function close(ok, ...)
      leave()
      guard:release()
      if not ok then error((...), 0) end
      return ...
    end
    return close(pcall(fn, guard))
  end
end

local function report(guard, ...)
  if guard:state() == "lost" then
    return nil, ("zklock: the hold of %s was lost while it was used")
      :format(guard.path), "lost", ...
  end
  return true, ...
end

--- Runs `fn(guard)` under the lock and releases it, whatever happens.
-- `true, …results`; `nil, message, code` if the lock was not granted (fn did
-- not run); the same error if fn raises; `nil, message, "lost", …results` if
-- the hold was lost while fn ran.
function Lock:with_lock(fn, options)
  check.callback(fn, "argument 1 of with_lock")
  local guard, message, code =
    acquire(self, read_request(self, options))
  if not guard then return nil, message, code end
  return report(guard, run(guard, fn))
end

function Lock:__tostring()
  return ("zklock mutex %s"):format(self.path)
end

return { Lock = Lock, unpack = unpack, hostname = core.hostname }

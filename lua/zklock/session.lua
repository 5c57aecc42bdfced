--- Session: one ZooKeeper session, its waits and its events.
-- The I/O thread decides; here the outcome reaches whoever waits.  Callbacks
-- run only in step(), in the thread that owns the Lua state.
local check = require "zklock.check"
local core = require "zklock.core"
local errors = require "zklock.errors"
local loops = require "zklock.loop"
local Lock = require "zklock.lock"
local Multi = require "zklock.multi"
local queue = require "zklock.queue"
local settings = require "zklock.settings"
local waits = require "zklock.wait"

local misuse, refusal = errors.misuse, errors.refusal
local unpack = table.unpack or unpack

local Session = {}
Session.__index = Session

local events = check.set "connected suspended reconnected expired closed"

local CLOSE_PATIENCE = 2 -- seconds

-- Calls `item.fn(...)`, once: it is taken out of the item as it is called.
-- What a hook raises in there is the business of whoever runs this.
local call = core.call
if jit then
  -- LuaJIT does not yield across C, but across pcall.
  local function outcome(ok, problem)
    if ok then return true end
    return false, problem, core.struck(problem)
  end
  call = function(item, ...)
    if loops.in_main() then return core.call(item, ...) end
    local fn = item.fn
    item.fn = false
    if not fn then return true end
    return outcome(xpcall(fn, core.trace, ...))
  end
end

local function report(self, level, message)
  if not self._log then return end
  local _, problem, struck = call({ fn = self._log }, level, message)
  if struck then error(problem, 0) end
end

-- Runs a user's callback.  An error in it must not stop the others: it goes to
-- the log, or, without one, comes out of the next step().
local function run(self, item, ...)
  local ok, problem, struck = call(item, ...)
  if ok then return end
  if struck then error(problem, 0) end
  if self._log then
    report(self, "error", "an error in a callback: " .. tostring(problem))
  else
    table.insert(self._problems, { problem })
  end
end

-- The same, unless the scope that gave it has ended.
local function protect(self, item, ...)
  if not item.fn or item.scope and item.scope:has_ended() then return end
  local spawn = self._spawn
  if spawn then spawn(run, self, item, ...) else run(self, item, ...) end
end

--- Runs a user's callback for whoever has it: now, or, where none must run, in
-- the next step().  `item`: `{ fn =, scope = }`; it is called once.
function Session:_call(item, ...)
  if loops.allows_callbacks(self._loop) then
    return protect(self, item, ...)
  end
  local n, given, fn = select("#", ...), { ... }, item.fn
  item.fn = false
  self:_later(function() fn(unpack(given, 1, n)) end, item.scope or false)
end

-- What is due.  An event is noted first: then it is over for the core, and
-- what it asks for stands in `_due`, `{ fn, ... }`, until it has been done.  A
-- hook may raise anywhere in between, and a callback may turn the session: so
-- noting it twice does no harm, nor does doing it twice.

local function run_due(self)
  local due = self._due
  while due[1] do
    local item = due[1]
    item[1](self, item[2], item[3], item[4])
    if due[1] == item then table.remove(due, 1) end
  end
end

-- Does at once what an event would ask for; the rest of it in the next step(),
-- if this is interrupted.
local function do_now(self, item)
  local due = self._due
  table.insert(due, item)
  item[1](self, item[2], item[3], item[4])
  for i = #due, 1, -1 do
    if due[i] == item then table.remove(due, i) end
  end
end

--- Calls `fn(self, ...)`; and again in the next step(), if it is interrupted.
function Session:_do(fn, ...)
  do_now(self, { fn, ... })
end

local function end_wait(self, wait)
  self._waits[wait.number] = nil
  wait.done = true
  if wait.callback then
    if not (wait.scope and wait.scope:has_ended()) then wait.callback() end
    if wait.adapter then self:_attend(wait.adapter, wait, nil) end
  elseif wait.adapter then
    wait.adapter.wake(wait)
  end
end

local function end_removal(self, wait)
  self._removals[wait.number] = nil
  wait.done = true
  if wait.adapter then wait.adapter.wake(wait) end
end

local function end_openings(self, code)
  for _, opening in pairs(self._openings) do
    opening.code, opening.done = code, true
    if opening.adapter then opening.adapter.wake(opening) end
  end
end

local function fail(self, code)
  self._failure = code
  end_openings(self, code)
end

local none = {}

-- Everybody who is to hear that a hold is lost hears it once.
local function tell_loss(self, hold, listeners)
  hold.listeners, hold.revocation = none, false
  if not hold.reported then
    hold.reported = true
    report(self, "warn", ("the hold of %s was lost%s"):format(hold.path,
      errors.because(hold.lost)))
  end
  local code = errors.code_of_loss(hold.lost)
  for _, listener in ipairs(listeners) do
    protect(self, listener, listener.guard, code, hold.lost)
  end
  self:_unlisten(hold)
end

local function tell_revoked(self, hold, listeners)
  hold.revoked, hold.revocation = true, false
  for _, listener in ipairs(listeners) do
    protect(self, listener, listener.guard)
  end
end

local function tell_state(self, event, listeners, connected)
  self._shown = connected and "connected" or event
  if connected ~= nil then self._was_connected = connected end
  if connected then self._is_open, self._failure = true, false end
  for _, listener in ipairs(listeners) do
    protect(self, listener, event, self)
  end
  if connected then end_openings(self, false) end
end

local function tell_event(self, event, connected)
  local listeners = {}
  for _, fn in ipairs(self._listeners[event] or none) do
    listeners[#listeners + 1] = { fn = fn }
  end
  listeners[#listeners + 1] = { fn = self._on_event }
  return { tell_state, event, listeners, connected }
end

local function call_later(self, item)
  protect(self, item)
  if item.adapter then self:_attend(item.adapter, item, nil) end
end

local function finish_scope(_, scope) scope:finish() end

-- What an event asks for, if anything.  An event is told until it has been
-- noted: should there be no memory left, what is called here raises.
local handlers = {}

function handlers.granted(self, number)
  local wait = self._waits[number]
  return wait and { end_wait, wait }
end

function handlers.refused(self, number, code, ahead, reason, rival, holds, cut)
  local wait = self._waits[number]
  if not wait then return end
  wait.code, wait.ahead, wait.reason = code, ahead, reason
  wait.rival, wait.rival_holds, wait.rival_cut = rival, holds, cut
  return { end_wait, wait }
end

function handlers.lost(self, number, reason)
  local hold = self._holds[number]
  if not hold or hold.ended then return end
  self._untold[hold] = nil
  hold.lost = hold.lost or reason
  return { tell_loss, hold, hold.listeners }
end

function handlers.gone(self, number)
  local wait = self._removals[number]
  return wait and { end_removal, wait }
end

function handlers.revoked(self, number)
  local hold = self._holds[number]
  if not hold or hold.ended then return end
  return { tell_revoked, hold, hold.revocation or none }
end

function handlers.answered(self, number, code, reason, contenders, exists)
  local wait = self._waits[number]
  if not wait then return end
  wait.code, wait.reason = code, reason
  wait.contenders, wait.exists = contenders, exists
  return { end_wait, wait }
end

-- `code`: why there is no first connection.
function handlers.state(self, state)
  if state == "suspended" and self._shown == state then return end
  if state == "connected" then
    return tell_event(self,
      self._was_connected and "reconnected" or "connected", true)
  elseif state == "expired" then
    return tell_event(self, state, false)
  elseif state == "suspended" then
    return tell_event(self, state)
  end
end

function handlers.failed(self, code)
  if self._was_connected then return end
  return { fail, code }
end

function handlers.log(_, level, message)
  return { report, level, message }
end

-- A request of nginx.
function handlers.ended(self, number)
  local scope = self._scopes[number]
  return scope and { finish_scope, scope }
end

function handlers.closed(self)
  self._ended = true
end

--- A call has found out that a hold is lost, and tells it before it returns;
-- or, where a callback must not run, leaves that to the event that is on its
-- way.  A suspension that is known, and not yet told, comes before it.
function Session:_lose(hold, reason)
  local listeners = hold.listeners
  hold.lost = hold.lost or reason
  if listeners == none then return end
  if not loops.allows_callbacks(self._loop) then
    self._untold[hold] = true
    return
  end
  if self._shown == "connected" and self._core:state() == "suspended" then
    do_now(self, handlers.state(self, "suspended"))
  end
  do_now(self, { tell_loss, hold, listeners })
end

-- All that are lost, and have not been given back.
local function find_losses(self)
  local lost = {}
  for number, hold in pairs(self._holds) do
    local share = self._shares[number]
    if not hold.lost and share then
      hold.lost = share:find_loss() or false
    end
    if hold.lost then lost[#lost + 1] = hold end
  end
  table.sort(lost, function(a, b) return a.number < b.number end)
  return lost
end

local function dispatch(self, kind, ...)
  if not kind then return false end
  self._core:noted(self._due, handlers[kind](self, ...))
  return true
end

-- Runs what is due; raises nothing but what a hook has raised.
function Session:_step()
  run_due(self)
  while not self._left and dispatch(self, self._core:next(self._host_read)) do
    run_due(self)
  end
end

--- Runs the due callbacks; never blocks.  Call it when fd() is readable.
function Session:step()
  if core.pid() ~= self._pid then self:_check_process() end
  self:_step()
  local problem = table.remove(self._problems, 1)
  if problem then
    -- One at a time: the loop is to call again for the next.
    if self._problems[1] and not self._left then self._core:nudge() end
    error(problem[1], 0)
  end
end

--- The file descriptor that is readable when step() has something to do.
function Session:fd()
  self:_check_open()
  return self._core:fd()
end

-- Puts a callback off to the next step().  `scope`: nil for the caller's, false
-- for none.
function Session:_later(fn, scope)
  if scope == nil then scope = self:_scope() end
  local item = { fn = fn, scope = scope, adapter = false }
  item.adapter = self:_expect(item)
  table.insert(self._due, { call_later, item })
  self._core:nudge()
end

function Session:_check_process()
  if core.pid() ~= self._pid then
    misuse("this session belongs to process %d", self._pid)
  end
end

function Session:_check_open()
  self:_check_process()
  if self._closed then misuse("the session is closed") end
end

local function adapter_of(self, maker)
  local adapter = self._adapters[maker]
  if not adapter then
    adapter = maker.new and maker.new(self) or maker
    self._adapters[maker] = adapter
    self._host_read = self._host_read or adapter.reads_fd
    self._served[adapter] = {
      waiting = setmetatable({}, { __mode = "k" }),
      armed = false,
      holds = setmetatable({}, { __mode = "k" }),
    }
  end
  return adapter
end

-- The adapter for a call that must wait, by what is running now.
function Session:_adapter()
  local adapter = adapter_of(self, loops.find(self._loop))
  loops.check_fence(adapter)
  return adapter
end

function Session:_owner(adapter)
  adapter = adapter or self._adapters[loops.peek(self._loop)]
  if adapter and adapter.owner then return adapter.owner() end
  return loops.task()
end

-- What ends with the caller's request, if the loop has requests (nginx).
function Session:_scope(adapter)
  adapter = adapter or self._adapters[loops.peek(self._loop)]
  return adapter and adapter.scope and adapter.scope() or nil
end

-- Waits and callbacks that are expected keep a loop watching the fd: armed.
-- `waiting`: is `thing` from now on one of them (true, or nil)?
function Session:_attend(adapter, thing, waiting)
  local served = self._served[adapter]
  served.waiting[thing] = waiting
  local needed = next(served.waiting) ~= nil or next(served.holds) ~= nil
  if self._closed or needed == served.armed then return end
  if needed then
    if adapter.arm then adapter.arm() end
    served.armed = true
  else
    served.armed = false
    if adapter.disarm then adapter.disarm() end
  end
end

-- The caller expects to be called back for `thing`: the adapter that will see
-- to it; nil where step() is called by hand.
function Session:_expect(thing)
  local adapter = adapter_of(self, loops.peek(self._loop))
  if adapter.blocks then return nil end
  self:_attend(adapter, thing, true)
  return adapter
end

-- A hold with listeners, as long as it lasts.
function Session:_listen(hold)
  if hold.adapter then return end
  local adapter = adapter_of(self, loops.peek(self._loop))
  if adapter.blocks then return end
  hold.adapter = adapter
  self._served[adapter].holds[hold] = true
  self:_attend(adapter, hold, nil)
end

function Session:_unlisten(hold)
  local adapter = hold.adapter
  if not adapter then return end
  self._served[adapter].holds[hold] = nil
  self:_attend(adapter, hold, nil)
  hold.adapter = nil
end

-- Suspends the caller until wait.done.
function Session:_wait(adapter, wait)
  wait.scope = wait.scope or self:_scope(adapter)
  waits.suspend(self, adapter, wait)
end

function Session:_is_waited_for()
  return next(self._openings) or next(self._waits) or next(self._removals)
end

local function new_wait(number, among)
  return { number = number, among = among, done = false, code = false,
    reason = false, contenders = false, exists = false, adapter = false }
end

-- From now on the confirmation that this hold's node is gone is noted.
function Session:_expect_removal(number, path)
  local wait = new_wait(number, self._removals)
  wait.path = path
  self._removals[number] = wait
  return wait
end

function Session:_await_removal(wait)
  if not wait.done then self:_wait(self:_adapter(), wait) end
  if wait.code then
    return refusal("closed", "the session was closed before a server "
      .. "confirmed the release of %s", wait.path)
  end
  return true
end

-- Waits for the first connection, for so many seconds: a wait that is done if
-- that is there (and those who listen have heard of it), or, with a `code`,
-- will not be for some time.
function Session:_await_opening(seconds)
  local deadline = core.now() + seconds
  local opening = new_wait(false, self._openings)
  opening.number = opening
  opening.timeout = function() return deadline - core.now() end
  opening.code = self._failure
  opening.done = opening.code or self._is_open or self._closed
  if not opening.done then
    self:_wait(self:_adapter(), opening)
    self._openings[opening] = nil
  end
  return opening
end

-- Waits for the answer to a question: `ask` is a method of the core.
function Session:_ask(ask, ...)
  local adapter = self:_adapter()
  local opening = self:_await_opening(self._connect_timeout)
  if opening.code or not opening.done then
    opening.code = opening.code or "disconnected"
    opening.reason = opening.code == "auth"
      and "our credentials are not accepted"
    return opening
  end
  local number = self._core[ask](self._core, ...)
  local wait = new_wait(number, self._waits)
  self:_wait(adapter, wait)
  return wait
end

function Session:_verify(share)
  return self:_ask("verify", share).code
end

-- How long an impatient acquisition waits for the server's word, or for the
-- first connection.
function Session:_patience()
  local timeout = self._core:timeout()
  return timeout > 0 and timeout or self._connect_timeout
end

function Session:_last_error()
  -- (Who was refused may get to hear of it only after a close.)
  local text = self._closed and "" or self._core:error()
  return text ~= "" and (" (last error: %s)"):format(text) or ""
end

-- Locks.

--- A lock that one task at a time holds.
function Session:mutex(path, options)
  self:_check_open()
  check.path(path, "path")
  return Lock.new(self, path, "mutex", "mutex", options)
end

--- `{ read = lock, write = lock }`: many readers or one writer, in order.
function Session:rwlock(path, options)
  self:_check_open()
  check.path(path, "path")
  return {
    read = Lock.new(self, path, "rwlock", "read", options),
    write = Lock.new(self, path, "rwlock", "write", options),
  }
end

--- A lock that up to `permits` holders share.
function Session:semaphore(path, permits, options)
  self:_check_open()
  check.path(path, "path")
  check.type(permits, "number", "permits")
  if permits ~= math.floor(permits) or permits < 1 or permits > 1e6 then
    misuse("permits must be a whole number from 1 to 1000000, got %s",
      tostring(permits))
  end
  return Lock.new(self, path, "semaphore", "lease", options, permits)
end

--- One lock over several of this session: all or nothing.
function Session:multi(locks, options)
  self:_check_open()
  if options ~= nil then
    misuse("multi takes no options: give them to its parts")
  end
  return Multi.new(self, locks)
end

local function unanswered(wait, what, path)
  if wait.code == "disconnected" then
    return refusal("disconnected", "no server could be asked %s %s", what, path)
  elseif wait.code == "closed" then
    return refusal("closed", "the session was closed while it asked %s %s",
      what, path)
  end
  return refusal(wait.code, "ZooKeeper refused to say %s %s: %s", what, path,
    wait.reason or wait.code)
end

--- Who contends for a path, in order: `{ node=, mode=, sequence=, token=,
-- data=, session=, created=, holds= }`; and whether the path exists.
function Session:contenders(path)
  self:_check_open()
  check.path(path, "path")
  local wait = self:_ask("contenders", path)
  if wait.code then return unanswered(wait, "who contends for", path) end
  return queue.order(wait.contenders), wait.exists
end

--- For locks: who holds a path in one of these modes.
function Session:_holders(path, modes)
  self:_check_open()
  local wait = self:_ask("contenders", path)
  if wait.code then return unanswered(wait, "who holds", path) end
  return queue.holders(wait.contenders, modes)
end

--- Asks every holder of a path to let go; how many were asked.
function Session:revoke(path)
  self:_check_open()
  check.path(path, "path")
  local wait = self:_ask("contenders", path)
  if wait.code then return unanswered(wait, "who holds", path) end
  local asked = 0
  for _, item in ipairs(queue.order(wait.contenders, true)) do
    if item.holds then
      local written = self:_ask("write", path .. "/" .. item.node,
        core.marked_data(item.data or ""), item.version)
      if not written.code then
        asked = asked + 1
      elseif written.code ~= "lost" then
        return unanswered(written, "the holder of", path)
      end
    end
  end
  return asked
end

local with_lock_options = check.set [[timeout owner reentrant data max_hold
  on_suspend fair wait poll_interval handoffs layout]]

--- Sugar for `session:mutex(path):with_lock(fn, options)`.
function Session:with_lock(path, fn, options)
  self:_check_open()
  check.path(path, "path")
  check.callback(fn, "argument 2 of with_lock")
  options = check.acquire_options(options, with_lock_options,
    "with_lock options")
  local of_lock, of_acquire = {}, {}
  for key, value in pairs(options) do
    if key == "timeout" or key == "owner" then
      of_acquire[key] = value
    else
      of_lock[key] = value
    end
  end
  local lock = Lock.new(self, path, "mutex", "mutex", of_lock)
  return lock:with_lock(fn, of_acquire)
end

-- State.

--- `fn(event, session)` from step(): connected, suspended, reconnected,
-- expired, closed.
function Session:on(event, fn)
  self:_check_open()
  check.type(event, "string", "argument 1 of on")
  if not events[event] then
    misuse("argument 1 of on must be connected, suspended, reconnected, "
      .. "expired or closed, got %q", event)
  end
  check.callback(fn, "argument 2 of on")
  self._listeners[event] = self._listeners[event] or {}
  table.insert(self._listeners[event], fn)
  return self
end

--- "connecting", "connected", "suspended", "expired" or "closed"
function Session:state()
  self:_check_process()
  return self._closed and "closed" or self._core:state()
end

--- ZooKeeper's session id, as a hexadecimal string; after close, too.
function Session:id()
  self:_check_process()
  return self._last and self._last.id or self._core:id()
end

--- The negotiated session timeout in seconds.
function Session:timeout()
  self:_check_open()
  return self._core:timeout()
end

--- Counters; `wait_histogram[i]` counts grants after less than 2^(i-1) µs.
-- After close they are what they were then.
function Session:stats()
  self:_check_process()
  return self._last and self._last.stats or self._core:stats()
end

-- Closing.

local function end_as_closed(self)
  -- No new ones can come: the session is closed.
  for _, wait in pairs(self._waits) do
    wait.code = "closed"
    table.insert(self._due, { end_wait, wait })
  end
  for _, wait in pairs(self._removals) do
    wait.code = "closed"
    table.insert(self._due, { end_removal, wait })
  end
  run_due(self)
  self._told_closed = self._told_closed or tell_event(self, "closed")
  tell_state(self, "closed", self._told_closed[3])
  end_openings(self, "closed")
end

local function await_end(self)
  local deadline = core.now() + CLOSE_PATIENCE
  while not self._ended do
    local left = deadline - core.now()
    if left <= 0 then return end
    self._core:wait(left)
    self:_step()
  end
end

local function leave(self)
  if self._left then return end
  for _, adapter in pairs(self._adapters) do
    if adapter.close then adapter.close() end
  end
  self._last = { id = self._core:id(), stats = self._core:stats() }
  self._left = true
  self._core:leave()
end

local function close(self)
  for _, hold in ipairs(find_losses(self)) do
    self:_lose(hold, hold.lost)
  end
  if self._closed then return end -- by one who was told
  self._closed = true
  self._core:close()
  end_as_closed(self)
  if loops.may_block(self._loop) then await_end(self) end
end

-- A close that is interrupted waits for nothing more.
local Closing = waits.class()

function Closing:finish()
  local session = self.session
  if not self.fine then
    session._closed = true
    session._core:close()
    end_as_closed(session)
  end
  leave(session)
end

--- Releases all, ends the ZooKeeper session, wakes every waiter with
-- "closed".  Idempotent.
function Session:close()
  self:_check_process()
  if self._closed then return true end
  local closing = setmetatable({ session = self }, Closing)
  waits.protect(loops.may_block(self._loop), closing, close, self)
  return true
end

check.methods(Session, [[
  session:mutex(path, options)
  session:rwlock(path, options)
  session:semaphore(path, permits, options)
  session:multi(locks, options)
  session:with_lock(path, fn, timeout or options)
  session:contenders(path)
  session:revoke(path)
  session:on(event, fn)
  session:state()
  session:id()
  session:timeout()
  session:stats()
  session:fd()
  session:step()
  session:close()
]])

Session.__close = function(self) self:close() end

function Session:__tostring()
  local ours = core.pid() == self._pid
  return ("zklock session to %s (%s)"):format(self._hosts,
    ours and self:state() or ("of process %d"):format(self._pid))
end

-- Opening.

local function give_up(self, code, timeout)
  local last = self:_last_error()
  local hosts = self._hosts
  self:close()
  if code == "auth" then
    return refusal("auth", "ZooKeeper at %s refused our authentication", hosts)
  elseif code == "disconnected" then
    return refusal(code, "no host of %s has an address%s", hosts, last)
  elseif code == "closed" then
    return refusal(code, "the session was closed while it connected to %s",
      hosts)
  end
  return refusal("disconnected", "no server of %s answered within %s%s", hosts,
    errors.seconds(timeout), last)
end

-- A connect that raises leaves no session open.
local Connecting = waits.class()

function Connecting:finish()
  local session = self.session
  if self.fine then return end
  if session then session._closed, session._left = true, true end
  if self.handle then self.handle:leave() end
end

-- A session that connects by itself, from what settings.read has read.
local function open(connecting, hosts, given)
  if given.tls then
    return refusal("unsupported", "TLS is not supported%s", core.has_tls()
      and " by zklock yet, though this ZooKeeper client library has it"
      or ": this ZooKeeper client library was built without it")
  end
  loops.find(given.loop) -- raises where nothing can wait, before a thread runs
  connecting.handle = core.session()
  local handle, problem = core.open({
    hosts = hosts,
    session_timeout = given.session_timeout,
    least_session_timeout = given.least_session_timeout,
    tick_time = given.tick_time,
    auth = given.auth,
    acl = given.acl,
    log = given.log ~= nil,
  }, connecting.handle)
  if not handle then
    return refusal("disconnected", "cannot start a session: %s", problem)
  end
  local pid = core.pid()
  local self = setmetatable({
    _core = handle,
    _pid = pid,
    _hosts = hosts,
    _connect_timeout = given.connect_timeout,
    _data = ("%s:%d"):format(core.hostname(), pid),
    _loop = given.loop,
    _log = given.log,
    _on_event = given.on_event,
    _listeners = {},
    _problems = {},
    _spawn = false, -- where a callback needs a task of its own, to wait in
    _adapters = setmetatable({}, { __mode = "k" }),
    _served = setmetatable({}, { __mode = "k" }),
    _waits = {},
    _removals = {},
    _openings = {}, -- waits for the first connection
    _is_open = false, -- it was there
    _failure = false, -- why it is not there
    _due = {},
    _scopes = {},
    _was_connected = false,
    _shown = false, -- the state that was told last
    _untold = {}, -- holds whose loss the next step() is to tell
    _told_closed = false,
    _closed = false,
    _ended = false,
    _left = false,
    _last = false, -- what it knew at its end
    _holds = setmetatable({}, { __mode = "v" }),
    _shares = setmetatable({}, { __mode = "v" }), -- the first of each hold
    _entries = setmetatable({}, { __mode = "v" }),
  }, Session)
  connecting.session = self
  return self
end

--- Opens a session; waits until it is connected.
local function connect(connecting, hosts, options, ...)
  check.arguments("zklock.connect(hosts, options)", hosts, ...)
  local given = settings.read(hosts, options)
  local self, message, code = open(connecting, hosts, given)
  if not self then return nil, message, code end
  local opening = self:_await_opening(given.connect_timeout)
  if self._closed then return give_up(self, "closed") end
  if not opening.done or opening.code then
    return give_up(self, opening.code, given.connect_timeout)
  end
  return self
end

local function loop_of(_, options)
  local loop = type(options) == "table" and options.loop or nil
  return (loop == nil or loop == "auto") and "auto" or loop == "poll" and loop
    or {} -- whatever it is, it does not block
end

Session.connect = waits.method(Connecting, loop_of, connect)

--- Opens a session and does not wait: it connects in the background, and what
-- needs the connection waits for that.
Session.open = waits.method(Connecting, loop_of,
  function(connecting, hosts, options)
    return open(connecting, hosts, settings.read(hosts, options))
  end)

return Session

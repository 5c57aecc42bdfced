--- Session: the user's object for a ZooKeeper session.
local advise = require "zklock.ngx.advice"
local barriers = require "zklock.barrier"
local check = require "zklock.check"
local contenders = require "zklock.contenders"
local core = require "zklock.core"
local double_barriers = require "zklock.double_barrier"
local elections = require "zklock.election"
local Engine = require "zklock.engine"
local errors = require "zklock.errors"
local locks = require "zklock.lock"
local loops = require "zklock.loop"
local metrics = require "zklock.metrics"
local multis = require "zklock.multi"
local once = require "zklock.once"
local options = require "zklock.options"
local protect = require "zklock.protect"
local questions = require "zklock.questions"
local reasons = require "zklock.reasons"
local secure = require "zklock.secure"
local snapshots = require "zklock.snapshot"
local surveys = require "zklock.survey"

local misuse, refusal = errors.misuse, errors.refusal

local Session = {}
Session.__index = Session

local check_count = check.number("a whole number", 1, 1e6)
local check_event =
  check.one_of "connected suspended reconnected expired closed"

-- Returns the engine of an open session, for a call with the path of a lock.
local function engine_for(self, path)
  local engine = self._engine:check_open()
  check.lock_path(path, engine.chroot, "path")
  return engine
end

-- Locks.

--- Returns a lock that only one task at a time can hold.
function Session:mutex(path, given)
  local engine = engine_for(self, path)
  return locks.new(engine, path, "mutex", "mutex", given)
end

--- Returns `{ read = lock, write = lock }`, the two sides of a readers-writer
-- lock. Many readers or one writer hold it, in the order of their arrival.
function Session:rwlock(path, given)
  local engine = engine_for(self, path)
  return {
    read = locks.new(engine, path, "rwlock", "read", given),
    write = locks.new(engine, path, "rwlock", "write", given),
  }
end

--- Returns a lock that up to `permits` holders can hold at the same time.
function Session:semaphore(path, permits, given)
  local engine = engine_for(self, path)
  check_count(permits, "permits")
  return locks.new(engine, path, "semaphore", "permit", given, permits)
end

--- Returns one lock over several locks of this session, which are held all
-- together or not at all.
function Session:multi(parts, given)
  local engine = self._engine:check_open()
  if given ~= nil then
    misuse("multi takes no options: give them to its parts")
  end
  return multis.new(engine, parts)
end

--- Returns a barrier, which blocks waiters until a process lifts it.
function Session:barrier(path)
  local engine = engine_for(self, path)
  return barriers.new(engine, path)
end

--- Returns a double barrier, which `n` members enter and leave together.
function Session:double_barrier(path, n, given)
  local engine = engine_for(self, path)
  check_count(n, "n")
  return double_barriers.new(engine, path, n, given)
end

--- Calls `fn(guard)` while the mutex of `path` is held, as
-- `session:mutex(path):with_lock(options, fn)` does.
function Session:with_lock(path, given, fn)
  local engine = engine_for(self, path)
  given, fn = check.function_last(given, fn, "with_lock(path, [options,] fn)")
  local of_lock, of_acquire = options.read_with_lock(given)
  local lock = locks.new(engine, path, "mutex", "mutex", of_lock)
  return lock:with_lock(of_acquire, fn)
end

-- Recipes built on locks.

--- Returns an election, in which one of many processes leads.
function Session:election(path, given)
  local engine = engine_for(self, path)
  return elections.new(engine, path, given)
end

--- Calls `fn(guard)` under the mutex of a path, unless fn has succeeded within
-- the last period.  Returns `true, ...results`; `false, seconds` (since that
-- success) if fn was not called; or `nil, message, code`.
Session.once = once.method

-- Queries and repairs.

--- Returns the contenders for a path, in the order of the queue, and whether
-- the path exists. A contender is `{ node=, mode=, sequence=, token=, data=,
-- session=, created=, holds= }`.
function Session:contenders(path)
  local engine = self._engine:check_open()
  check.path(path, "path")
  return surveys.contenders(engine, path)
end

--- Asks each holder of a path to release; returns how many holders it asked.
function Session:revoke(path)
  local engine = self._engine:check_open()
  check.path(path, "path")
  return contenders.revoke(engine, path)
end

--- Reads the node at a path.  Returns `{ kind=, session=, created=, modified=,
-- children=, size=, version= }`, with `with_data` also `data`; false if there
-- is no node.
function Session:stat(path, with_data)
  local engine = self._engine:check_open()
  if path ~= "/" then check.path(path, "path") end
  if with_data ~= nil then check.boolean(with_data, "with_data") end
  return questions.stat(engine, path, with_data)
end

--- Returns the sorted names of all nodes below a path, and whether the path
-- exists.
function Session:children(path)
  local engine = self._engine:check_open()
  if path ~= "/" then check.path(path, "path") end
  return questions.children(engine, path)
end

--- Creates the persistent node `path`, or overwrites it. Its `modified` becomes
-- the current time of the servers' clock. If `node` is given, writes only if
-- the node at this other path exists.
function Session:touch(path, data, node)
  local engine = engine_for(self, path)
  if data == nil then data = engine.data end
  if node ~= nil then check.path(node, "node") end
  return questions.touch(engine, path, check.data(data, "data"), node)
end

--- Deletes the node of a contender for `path`; `node` is its name, as in the
-- rows of `contenders`. Returns whether the node existed. With `token`, deletes
-- the node only if it has this token.
function Session:evict(path, node, token)
  local engine = self._engine:check_open()
  check.path(path, "path")
  check.node(node, "node")
  if token ~= nil then check.token(token, "token") end
  return contenders.evict(engine, path, node, token)
end

-- State.

--- Adds a callback for one event (connected, suspended, reconnected, expired,
-- closed). At this event, step() calls `fn(event, session)`.
function Session:on(event, fn)
  local engine = self._engine:check_open()
  check_event(event, "argument 1 of on")
  check.callback(fn, "argument 2 of on")
  engine.events:on(event, fn)
  return self
end

--- Returns the session's state: "connecting", "connected", "suspended",
-- "expired" or "closed".
function Session:state()
  local engine = self._engine:check_process()
  return engine.state.is.closed and "closed" or engine.core:state()
end

--- Returns ZooKeeper's id of the session, in hexadecimal, even after close.
function Session:id()
  local engine = self._engine:check_process()
  return engine.state.last and engine.state.last.id or engine.core:id()
end

--- Returns the session timeout that the servers have granted, in seconds.
function Session:timeout()
  return self._engine:check_open().core:timeout()
end

--- Returns the session's counters; after close, their last values.
-- `wait_histogram[i]` is the number of grants after a wait of 2^(i-2) to
-- 2^(i-1) µs.
function Session:stats()
  local engine = self._engine:check_process()
  return engine.state.last and engine.state.last.stats or engine.core:stats()
end

--- Returns the metrics in Prometheus' text format (doc/metrics.md).  `labels`
-- are added to each sample.
function Session:metrics(labels)
  local engine = self._engine:check_process()
  labels = metrics.check_labels(labels, "argument 1 of metrics")
  return metrics.text { { labels = labels, snapshot = snapshots.read(engine) } }
end

--- Calls `fn(event)` at the beginning and end of each wait and hold. If fn is
-- nil, stops the calls.
function Session:on_trace(fn)
  local engine = self._engine:check_open()
  if fn ~= nil then check.callback(fn, "argument 1 of on_trace") end
  engine.meters.trace = fn or false
  return self
end

-- For loops.

--- Processes events and calls the callbacks that are due; never blocks.  Call
-- it when fd() is readable.
function Session:step()
  local engine = self._engine:check_process()
  engine.events:step()
  local problem, are_more = engine.callbacks:take_problem()
  if problem then
    -- Each call raises one error. If there are more errors, the nudge makes the
    -- loop call step() again.
    if not are_more then
      engine.adapters:review()
    elseif not engine.state.is.left then
      engine.core:nudge()
    end
    error(problem[1], 0)
  end
end

--- Returns a file descriptor, readable when step() has something to do.
function Session:fd()
  return self._engine:check_open().core:fd()
end

--- Releases all locks, ends the ZooKeeper session, and ends every wait with
-- "closed".  Calling it again does nothing.
function Session:close()
  self._engine:close()
  return true
end

check.methods(Session, [[
  session:mutex(path, options)
  session:rwlock(path, options)
  session:semaphore(path, permits, options)
  session:multi(locks, options)
  session:barrier(path)
  session:double_barrier(path, n, options)
  session:with_lock(path, timeout or options, fn)
  session:election(path, options)
  session:once(path, options, fn)
  session:contenders(path)
  session:revoke(path)
  session:stat(path, with_data)
  session:children(path)
  session:touch(path, data, node)
  session:evict(path, node, token)
  session:on(event, fn)
  session:state()
  session:id()
  session:timeout()
  session:stats()
  session:metrics(labels)
  session:on_trace(fn)
  session:fd()
  session:step()
  session:close()
]])

Session.__close = function(self) self:close() end

function Session:__tostring()
  local engine = self._engine
  return errors.describe("zklock session to %s (%s)", engine.hosts,
    engine:is_ours() and self:state() or ("of process %d"):format(engine.pid))
end

-- Opening.

-- The cleanup handler (protect.lua) of connect and open. If the call raises an
-- error or its task is killed, the handler closes the new session.
local Connecting = protect.class()

function Connecting:finish()
  local engine = self.engine
  if self.fine then return end
  if engine then
    engine.state:enter "closed"
    engine.state:enter "left"
  end
  if self.handle then self.handle:leave() end
end

local lacking = "this ZooKeeper client library was built without it"

-- Returns an error if an option needs a feature that the client library lacks.
-- doc/operations.md has the alternatives.
local function refuse_unsupported(given)
  for _, entry in ipairs(given.auth) do
    if entry.scheme == "sasl" then
      return refusal("unsupported", "SASL is not supported (%s): "
        .. "doc/operations.md says what takes its place", core.has_sasl()
        and "by zklock, though this ZooKeeper client library has it" or lacking)
    end
  end
  return true
end

-- If `tls` is given, loads the module for TLS and stores it in `tls.module`.
-- Also checks the files of `tls`, so that a wrong file is an error before the
-- session begins. Returns true, or nil, message, code.
local function prepare_tls(tls)
  if not tls then return true end
  local module, problem = secure.load()
  if not module then
    return refusal("unsupported", "TLS is not supported: %s", problem)
  end
  local ok, fault = module.check(tls)
  if not ok then return refusal("auth", "%s", fault) end
  tls.module = module.module
  return true
end

-- Opens a session with the checked settings. The session connects in the
-- background.
local function open(connecting, given)
  local supported, why, code = refuse_unsupported(given)
  if not supported then return nil, why, code end
  supported, why, code = prepare_tls(given.tls)
  if not supported then return nil, why, code end
  loops.find(given.loop) -- raises an error if no loop can wait
  connecting.handle = core.session()
  local handle, problem = core.open(given, connecting.handle)
  if not handle then
    return refusal("disconnected", "cannot start a session: %s", problem)
  end
  local self = setmetatable({}, Session)
  self._engine = Engine.new(self, handle, given)
  connecting.engine = self._engine
  return self
end

local function connect(connecting, hosts, given, ...)
  given = options.read_connect(hosts, given)
  check.no_more("zklock.connect(hosts, options)", ...)
  advise()
  local self, message, code = open(connecting, given)
  if not self then return nil, message, code end
  local engine = self._engine
  local opening = questions.await_opening(engine, given.connect_timeout)
  local is_closed = engine.state.is.closed
  if opening.done and not opening.code and not is_closed then return self end
  message, code = select(2, reasons.of_opening(engine,
    is_closed and "closed" or opening.code, given.connect_timeout))
  self:close()
  return nil, message, code
end

local function loop_of(_, given)
  local loop = type(given) == "table" and given.loop or nil
  return (loop == nil or loop == "auto") and "auto" or loop == "poll" and loop
    or {} -- all other loops do not block
end

return {
  --- Opens a session and waits until it is connected.
  connect = protect.method(Connecting, connect, loop_of),
  --- Opens a session and returns it at once.  It connects in the background;
  -- calls that need the connection wait for it.
  open = protect.method(Connecting, function(connecting, hosts, given)
    return open(connecting, options.read_connect(hosts, given))
  end, loop_of),
}

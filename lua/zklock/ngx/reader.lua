--- Reader: the light thread that calls step() of a session in nginx. It waits
-- for data at a private Unix socket, on which the core announces events.
local board = require "zklock.ngx.board"
local core = require "zklock.core"
local plain = require "zklock.plain"
local scopes = require "zklock.ngx.scope"
local waits = require "zklock.wait"

local function is_open(weak)
  return weak[1] and not weak[1].state.is.left
end

-- Returns whether an idle reader may end: if the worker exits, or if this Lua
-- state serves only one request. In the second case, a running reader would
-- keep the state alive.
local function may_leave()
  return not scopes.lasts or ngx.worker.exiting()
end

-- Returns a table with `spawn`, which runs a callback in its own light thread,
-- because a callback may wait. nginx keeps an ended thread until another thread
-- waits for it. `running`: the number of threads that have not ended. While a
-- thread runs, the reader must not end, because nothing else could release what
-- the thread holds.
local function spawner(weak)
  local reader, threads, tasks = coroutine.running(), {}, { running = 0 }

  local function task(...)
    local ok, problem = pcall(...)
    tasks.running = tasks.running - 1
    if not ok then ngx.log(ngx.ERR, plain.problem(problem)) end
    if may_leave() and is_open(weak) then weak[1].core:nudge() end
  end

  function tasks.spawn(...)
    if coroutine.running() ~= reader then return (...)(select(2, ...)) end
    tasks.running = tasks.running + 1
    threads[#threads + 1] = ngx.thread.spawn(task, ...)
    for i = #threads, 1, -1 do
      if coroutine.status(threads[i]) == "zombie" then
        ngx.thread.wait(table.remove(threads, i))
      end
    end
  end

  return tasks
end

-- Calls a function of board.lua. An error in it must not end the reader.
local function report(fn)
  local ok, problem = pcall(fn)
  if not ok then ngx.log(ngx.ERR, plain.problem(problem)) end
end

-- Calls the session's step(), and logs errors of callbacks.  Returns false if
-- the reader must end.
local function turn(weak, tasks)
  local engine = weak[1]
  if not engine or engine.state.is.left then return false end
  local session, callbacks = engine.session, engine.callbacks
  callbacks.spawn = tasks.spawn
  local ok, problem =
    pcall(scopes.is_over and session.close or session.step, session)
  callbacks.spawn = false
  if not ok then ngx.log(ngx.ERR, plain.problem(problem)) end
  if engine.state.is.left then return false end
  if ngx.worker.exiting() then engine:retire() end
  report(board.turn)
  if engine.state.is.left then return false end
  local requests = engine.core:requests(may_leave())
  return not may_leave() or requests > 0 or tasks.running > 0
    or waits.any(engine.waits) ~= nil
end

-- Opens the Unix socket on which the core announces events, and returns it.
-- Returns nil if it cannot be opened, or the session was closed meanwhile.
local function connect(weak)
  if not is_open(weak) then return nil end
  local handle, socket = weak[1].core, ngx.socket.tcp()
  socket:settimeouts(1000, 1000, scopes.FOREVER * 1000)
  local ok, problem = handle:open_socket()
  if ok then ok, problem = socket:connect("unix:" .. ok) end
  if not is_open(weak) then return nil end
  if ok then ok, problem = handle:accept_socket() end
  if ok then return socket end
  ngx.log(ngx.ERR, "zklock: cannot open a socket that wakes the worker, so it "
    .. "looks for events every 50 ms: ",
    plain.text(tostring(problem)))
end

-- Waits until the socket has data or the wait times out, and returns true.
-- Returns false if the socket is broken. nginx closes the socket when
-- worker_shutdown_timeout has passed. The reader has no other sign of this. It
-- runs in a timer, which has no client connection that nginx could close.
local function hear(socket)
  local _, problem = socket:receiveany(64)
  if not problem or problem == "timeout" then return true end
  socket:close()
  scopes.is_over = scopes.is_over or ngx.worker.exiting()
  return false
end

-- These apply while there is no socket. LOOK: the number of seconds between two
-- checks for events. LOOKS: the number of checks before the socket is opened
-- again.
local LOOK, LOOKS = 0.05, 200

-- Calls step() whenever there may be events, until the reader must end. If the
-- socket breaks, no event is lost: the events stay in the core, and the next
-- step() finds them.
local function follow(me, weak)
  local tasks, looks, socket = spawner(weak), 0, connect(weak)
  repeat
    me.reads = socket ~= nil
    if not socket then
      ngx.sleep(LOOK)
      looks = looks + 1
      if looks % LOOKS == 0 then socket = connect(weak) end
    elseif not hear(socket) then
      looks, socket = LOOKS - 1, nil
    end
  until me.replaced or not turn(weak, tasks)
  if socket then socket:close() end
end

local PULSE, QUICK = 10, 1 -- seconds between two nudges

-- Nudges the session every few seconds, so that the reader checks whether it
-- must end. A timer reports the worker's exit (scope.lua). But nginx silently
-- drops timers if too many run. A Lua state that serves one request has no such
-- timer.
local function beat(weak)
  repeat
    ngx.sleep(board.period() or scopes.lasts and PULSE or QUICK)
    local is_needed = is_open(weak)
    if is_needed then weak[1].core:nudge() end
  until not is_needed
end

local function read(_, me, weak)
  if me.replaced then return end
  me.began = true
  local address, pulse = core.running() or 0, ngx.thread.spawn(beat, weak)
  scopes.internal[address] = true
  repeat -- after an error, too: waits need a reader
    local ok, problem = pcall(follow, me, weak)
    me.reads = false
    if not ok then
      ngx.log(ngx.ERR, plain.problem(problem))
      ngx.sleep(1)
    end
  until ok
  me.left = true
  report(board.leave)
  scopes.internal[address] = nil
  ngx.thread.kill(pulse)
end

-- Whether this worker has started a timer. nginx opens an internal connection
-- for a worker's first timer. If the worker already exits, nginx does not close
-- this connection, and logs an alert.
local has_timers = false

local function start_timer(...)
  if ngx.worker.exiting() and not has_timers then return false end
  local started = ngx.timer.at(0, ...)
  has_timers = has_timers or started
  return started
end

-- Starts another reader if nginx has dropped the timer that was to start the
-- reader `me`.
local function check(premature, me, weak)
  if premature or me.began or not weak[2] then return end
  me.replaced = true
  weak[2].arm()
end

local reader = {}

--- Starts a reader for the engine `weak[1]`, whose adapter is `weak[2]`.
-- Returns its state: `{ began =, reads =, left =, replaced = }`.  The reader
-- refers to the session only weakly, so that the collector can close an unused
-- session.
function reader.start(weak)
  local me = {}
  me.left = not start_timer(read, me, weak)
  if scopes.lasts and not me.left then ngx.timer.at(1, check, me, weak) end
  return me
end

--- Calls step() once, for a session that has no reader.
function reader.look(weak) turn(weak, spawner(weak)) end

return reader

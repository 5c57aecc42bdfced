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
  return not scopes.lasts() or ngx.worker.exiting()
end

-- Calls a function. Logs an error, because no error may end the reader: waits
-- need it.
local function try(...)
  local ok, result = pcall(...)
  if ok then return result end
  ngx.log(ngx.ERR, plain.problem(result))
end

-- Returns the number of threads in the list that have not ended. nginx keeps an
-- ended thread until another thread waits for it.
local function reap(threads)
  for i = #threads, 1, -1 do
    if coroutine.status(threads[i]) == "zombie" then
      ngx.thread.wait(table.remove(threads, i))
    end
  end
  return #threads
end

-- Returns an empty list of threads, with a function `spawn`, which runs a
-- callback in its own light thread, because a callback may wait. While a thread
-- runs, the reader must not end, because nothing else could release what the
-- thread holds.
local function spawner(weak)
  local reader, threads = coroutine.running(), {}

  local function task(...)
    try(...)
    if may_leave() and is_open(weak) then weak[1].core:nudge() end
  end

  function threads.spawn(...)
    if coroutine.running() ~= reader then return (...)(select(2, ...)) end
    reap(threads)
    threads[#threads + 1] = ngx.thread.spawn(task, ...)
  end

  return threads
end

-- Calls the session's step(), which raises errors of callbacks. Returns false
-- if the reader must end.
local function turn(weak, threads)
  if not is_open(weak) then return false end
  local engine = weak[1]
  local session, callbacks = engine.session, engine.callbacks
  callbacks.spawn = threads.spawn
  try(scopes.is_over and session.close or session.step, session)
  callbacks.spawn = false
  if engine.state.is.left then return false end
  if ngx.worker.exiting() then engine:retire() end
  if engine.state.is.left then return false end
  return not may_leave() or engine.core:requests() > 0 or reap(threads) > 0
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
    .. "looks for events every second: ", plain.text(tostring(problem)))
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

-- Calls step() whenever there may be events, until the reader must end. Without
-- a socket, does so every second, and opens the socket again. No event is lost:
-- the events stay in the core, and the next step() finds them.
local function follow(weak)
  local threads, socket = spawner(weak), nil
  repeat
    socket = socket or connect(weak)
    if not (socket and hear(socket)) then
      socket = nil
      if is_open(weak) and not scopes.is_over then ngx.sleep(1) end
    end
  until not turn(weak, threads)
  if socket then socket:close() end
  return true
end

-- Writes the worker's report every second if there is a dictionary. Also nudges
-- the session, so that the reader checks whether it must end. A timer reports
-- the worker's exit (scope.lua), but nginx silently drops timers if too many
-- run.
local function beat(weak)
  repeat
    ngx.sleep(board.dictionary() and 1 or 10)
    try(board.turn)
    local is_needed = is_open(weak)
    if is_needed then weak[1].core:nudge() end
  until not is_needed
end

local function read(_, me, weak)
  if me.began then return end
  me.began = true
  local address, pulse = core.running() or 0, ngx.thread.spawn(beat, weak)
  scopes.internal[address] = true
  while not try(follow, weak) do ngx.sleep(1) end
  me.left = true
  try(board.leave)
  scopes.internal[address] = nil
  ngx.thread.kill(pulse)
end

local reader = {}

--- Starts the reader `me` of the engine `weak[1]` in a timer; harmless if it
-- has begun. The reader refers to the session only weakly, so that the
-- collector can close an unused session. Returns whether nginx has accepted the
-- timer.
function reader.begin(me, weak) return ngx.timer.at(0, read, me, weak) end

--- Starts a new reader, and returns its state: `{ began =, left = }`. nginx
-- drops the timer if too many run; one more timer begins a second later. nginx
-- opens an internal connection for a worker's first timer. If the worker
-- already exits, nginx would not close this connection, and log an alert.
function reader.start(weak)
  local me, may_start = {}, scopes.has_timers or not ngx.worker.exiting()
  me.left = not (may_start and reader.begin(me, weak))
  if not me.left then ngx.timer.at(1, read, me, weak) end
  return me
end

--- Calls step() once, for a session that has no reader.
function reader.look(weak) turn(weak, spawner(weak)) end

return reader

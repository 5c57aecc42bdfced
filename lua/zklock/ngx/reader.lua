--- Reader: the light thread of a session in nginx.  It reads the private Unix
-- socket at which events arrive, and turns the session.
local core = require "zklock.core"
local plain = require "zklock.plain"
local scopes = require "zklock.ngx.scope"
local waits = require "zklock.wait"

-- A callback runs in a thread of its own: it may wait.  Those that have ended
-- are to be waited for, or nginx would keep them.
local function spawner()
  local reader, threads = coroutine.running(), {}
  return function(...)
    if coroutine.running() ~= reader then return (...)(select(2, ...)) end
    threads[#threads + 1] = ngx.thread.spawn(...)
    for i = #threads, 1, -1 do
      if coroutine.status(threads[i]) == "zombie" then
        ngx.thread.wait(table.remove(threads, i))
      end
    end
  end
end

local reader = {
  -- Called after each turn of a session: the board's, if there is one.
  after_turn = function() end,
}

-- Errors of callbacks go to nginx's log.  False: the reader is to leave, so
-- that the worker can exit, or a Lua state that is one request's own can go.
local function turn(weak, spawn)
  local engine = weak[1]
  if not engine or engine.state.is.left then return false end
  local session, callbacks = engine.session, engine.callbacks
  callbacks.spawn = spawn
  local ok, problem = pcall(session.step, session)
  callbacks.spawn = false
  if not ok then ngx.log(ngx.ERR, plain.problem(problem)) end
  reader.after_turn()
  if engine.state.is.left then return false end
  local may_leave = not scopes.lasts or ngx.worker.exiting()
  local requests = engine.core:requests(may_leave)
  return not may_leave or requests > 0 or waits.exist(engine.waits)
end

local function is_open(weak)
  return weak[1] and not weak[1].state.is.left
end

-- The socket; nil: it cannot be had, or is not needed any more.
local function connect(weak)
  if not is_open(weak) then return nil end
  local handle, socket = weak[1].core, ngx.socket.tcp()
  socket:settimeouts(1000, 1000, scopes.FOREVER * 1000)
  local ok, problem = handle:open_socket()
  if ok then ok, problem = socket:connect("unix:" .. ok) end
  if not is_open(weak) then return nil end
  if ok then ok, problem = handle:accept_socket() end
  if ok then return socket end
  ngx.log(ngx.ERR, "zklock: no socket can be had that wakes the worker, so it "
    .. "looks for events every 50 ms: ",
    plain.text(tostring(problem)))
end

local function read(_, me, weak)
  if me.replaced then return end
  local spawn, address, looks = spawner(), core.running() or 0, 0
  scopes.internal[address] = true
  local socket, problem = connect(weak)
  repeat
    me.reads = socket ~= nil
    if socket then
      _, problem = socket:receiveany(64)
    else
      ngx.sleep(0.05)
      looks = looks + 1
      if looks % 200 == 0 then socket = connect(weak) end
    end
  until problem == "closed" or me.replaced or not turn(weak, spawn)
  me.left = true
  scopes.internal[address] = nil
  if socket then socket:close() end
end

-- With its first timer a worker gets a connection that watches over them.  If
-- that comes after the worker has begun to exit nobody closes it, and nginx
-- complains of it by an alert.
local has_timers = false

local function start_timer(...)
  if ngx.worker.exiting() and not has_timers then return false end
  local started = ngx.timer.at(0, ...)
  has_timers = has_timers or started
  return started
end

--- Begins to read for the engine `weak[1]`: `{ reads =, left =, replaced = }`.
-- It refers to the session weakly, or one that nobody uses would never close.
function reader.start(weak)
  local me = {}
  me.left = not start_timer(read, me, weak)
  return me
end

--- Turns the session once, where there is no reader.
function reader.look(weak) turn(weak, spawner()) end

return reader

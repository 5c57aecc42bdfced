--- nginx and OpenResty: a wait suspends the handler.  Events arrive at a
-- private Unix socket, which one light thread, begun by a timer, reads.
local core = require "zklock.core"
local semaphore = require "ngx.semaphore"
local scopes = require "zklock.scope"
local waits = require "zklock.wait"

-- A callback runs in a thread of its own: it may wait.  Those that have ended
-- are to be waited for, or nginx would keep them.
local function spawner(threads)
  local reader = coroutine.running()
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

-- Errors of callbacks go to nginx's log.  False: the reader is to leave.  It
-- refers to the session weakly, or one that is not used would never be closed.
local function turn(weak, spawn)
  local session = weak[1]
  if not session or session._left then return false end
  session._spawn = spawn
  local ok, problem = pcall(session.step, session)
  session._spawn = false
  if not ok then ngx.log(ngx.ERR, problem) end
  if session._left then return false end
  local may_leave = not scopes.lasts or ngx.worker.exiting()
  local requests = session._core:requests(may_leave)
  return not may_leave or requests > 0 or session:_is_waited_for()
end

local function connect(weak)
  local handle, socket = weak[1]._core, ngx.socket.tcp()
  socket:settimeouts(1000, 1000, scopes.FOREVER * 1000)
  local ok, problem = handle:open_doorway()
  if ok then ok, problem = socket:connect("unix:" .. ok) end
  if ok then ok, problem = handle:enter_doorway() end
  if ok then return socket end
  ngx.log(ngx.ERR, "zklock: no wake-up, but a look every 50 ms: ", problem)
end

local function read(_, me, weak)
  if me.replaced or not weak[1] or weak[1]._left then return end
  local socket, problem = connect(weak)
  local spawn, address = spawner {}, core.running()
  me.reads = socket ~= nil
  scopes.internal[address] = true
  repeat
    if socket then
      _, problem = socket:receiveany(64)
    else
      ngx.sleep(0.05)
    end
  until problem == "closed" or me.replaced or not turn(weak, spawn)
  me.left = true
  scopes.internal[address] = nil
  if socket then socket:close() end
end

return {
  new = function(session)
    local A, reader = { reads_fd = true }, { left = true }
    local weak = setmetatable({ session }, { __mode = "v" })
    A.scope, A.cleanup = scopes.finder(session, weak)

    -- A timer may be dropped (lua_max_running_timers): then another is tried.
    function A.wait(w, timeout)
      A.arm()
      w.semaphore = w.semaphore or semaphore.new()
      local longest = reader.reads and scopes.FOREVER or 1
      w.parked = true
      w.semaphore:wait(math.max(0.001, math.min(timeout or longest, longest)))
      w.parked = false
      reader.replaced = not w.done and not reader.reads and longest == 1
    end

    -- A thread that was killed has left the semaphore, and nobody else knows.
    function A.wake(w)
      if w.parked and w.semaphore:count() < 0 then
        w.semaphore:post(1)
      elseif w.parked then
        waits.abandon(w)
      end
    end

    function A.arm()
      if not reader.left and not reader.replaced then return end
      reader = {}
      if not ngx.timer.at(0, read, reader, weak) then reader.left = true end
    end

    function A.nudge()
      if not session._left then session._core:nudge() end
    end
    A.close = A.nudge -- the reader leaves at once

    -- A thread that is not the request's first is an owner of its own.
    function A.owner()
      local scope, is_entry = A.scope()
      return is_entry and scope or {}
    end

    scopes.at_exit(A)
    return A
  end,
}

--- The adapter for skynet: suspends the tasks of a service. skynet's socket
-- thread reads the session's descriptor. A task, the *reader*, waits for the
-- data that this thread has read, and calls step(). The reader runs as long as
-- the session is open.
local skynet = require "skynet"
local socket = require "skynet.socket"

-- Passes the error of a callback to the service's error log.
local function raise(problem) skynet.fork(error, problem, 0) end

return { new = function(session)
  local A = { reads_fd = true }
  local id, reader

  local function read()
    local me = coroutine.running()
    reader = me
    id = id or socket.bind(session:fd()) -- skynet itself never closes it
    while reader == me and socket.read(id) do
      local ok, problem = pcall(session.step, session)
      if not ok then raise(problem) end
    end
    if reader == me then reader = nil end -- skynet reuses its coroutine
  end

  function A.wait(w, timeout)
    -- If a callback waits in the reader, another task must read.
    if coroutine.running() == reader then skynet.fork(read) end
    w.token = w
    if timeout then
      skynet.sleep(math.ceil(timeout * 100), w)
    else
      skynet.wait(w)
    end
  end

  function A.wake(w) if w.token then skynet.wakeup(w) end end

  -- Returns a new owner for each acquisition.  A coroutine cannot be the owner,
  -- because skynet uses it again for other tasks.
  function A.owner() return {} end

  function A.close()
    if id then skynet.fork(socket.close, id) end
    id, reader = nil, nil
  end

  skynet.fork(read)
  return A
end }

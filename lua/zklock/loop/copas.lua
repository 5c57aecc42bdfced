--- The adapter for copas 2.0 and later: a wait suspends the calling copas
-- thread. While the adapter is armed (adapters.lua), another copas thread, the
-- *reader*, waits for the session's descriptor and calls step().
local copas = require "copas"
assert(copas.wakeup, "copas 2.0 or later is needed")

local pause = copas.pause or copas.sleep
local pauseforever = copas.pauseforever or function() copas.sleep(-1) end

-- Passes the error of a callback to copas's error handler.
local function raise(problem) copas.addthread(error, problem, 0) end

return { new = function(session)
  local A, fd = {}, session:fd()
  local armed, source -- `source`: copas treats the reader as a socket

  local function read()
    local mine = { reader = coroutine.running() }
    local function is_over() return not armed or source ~= mine end
    function mine.getfd() return fd end
    mine.dirty = is_over -- true: select() at once takes it for readable
    function mine.settimeout() return 1 end
    function mine.close() return 1 end
    function mine.receive()
      if is_over() then return nil, "closed" end
      local ok, problem = pcall(session.step, session)
      if not ok then raise(problem) end
      return nil, is_over() and "closed" or "timeout"
    end
    source = mine
    if copas.settimeouts then copas.settimeouts(mine, nil, nil, -1) end
    copas.receive(mine, 1)
  end

  function A.wait(w, timeout)
    w.task = coroutine.running()
    if source and source.reader == w.task then A.arm() end -- a callback waits
    if w.done then return end
    if timeout then pause(timeout) else pauseforever() end
    w.task = nil
  end

  function A.wake(w) if w.task then copas.wakeup(w.task) end end

  function A.arm()
    armed = true
    copas.addthread(read)
  end

  function A.disarm() armed = false end

  A.close = A.disarm

  return A
end }

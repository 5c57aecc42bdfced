--- copas, 2.0 and later: its threads.  The reader is a thread that lives while
-- it is needed.
local copas = require "copas"
assert(copas.wakeup, "copas 2.0 or later is needed")

local pause = copas.pause or copas.sleep
local pauseforever = copas.pauseforever or function() copas.sleep(-1) end

-- What ends a thread goes to copas's error handler.
local function raise(problem) copas.addthread(error, problem, 0) end

return { new = function(session)
  local A, fd = {}, session:fd()
  local armed, source -- what the reader receives from: to copas, a socket

  local function read()
    local mine = { reader = coroutine.running() }
    function mine.getfd() return armed and source == mine and fd or -1 end
    function mine.dirty() return false end
    function mine.settimeout() return 1 end
    function mine.close() return 1 end
    function mine.receive()
      if armed and source == mine then
        local ok, problem = pcall(session.step, session)
        if not ok then raise(problem) end
      end
      return nil, armed and source == mine and "timeout" or "closed"
    end
    if source then copas.close(source) end
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

  function A.disarm()
    if source then copas.close(source) end
    armed, source = false, nil
  end

  A.close = A.disarm

  return A
end }

--- The adapter for cqueues: a wait suspends the calling task (cq:wrap), in any
-- controller. While the adapter is armed (adapters.lua), another task, the
-- *reader*, waits for the session's descriptor and calls step().
local cqueues = require "cqueues"
local condition = require "cqueues.condition"

-- Makes the controller's step or loop raise the error of a callback.
local function raise(problem) cqueues.running():wrap(error, problem, 0) end

local function new(session)
  local A, fd, armed, reader = {}, session:fd(), false, nil
  local disarmed = condition.new()
  local readable = { pollfd = fd, events = "r" }

  local function read()
    local me = coroutine.running()
    reader = me
    while armed and reader == me do
      cqueues.poll(readable, disarmed)
      if armed and reader == me then
        local ok, problem = pcall(session.step, session)
        if not ok then raise(problem) end
      end
    end
  end

  function A.wait(w, timeout)
    if coroutine.running() == reader then A.arm() end -- a callback waits
    w.condition = condition.new()
    cqueues.poll(w.condition, timeout)
  end

  function A.wake(w) if w.condition then w.condition:signal() end end

  function A.arm()
    armed, reader = true, nil
    cqueues.running():wrap(read)
  end

  function A.disarm()
    armed = false
    disarmed:signal()
  end

  function A.close()
    A.disarm()
    cqueues.cancel(fd)
  end

  return A
end

-- Maps each controller to the maker of its adapter. Each controller has its own
-- adapter and reader, and Lua collects them together with the controller.
local makers = setmetatable({}, { __mode = "k" })

return { here = function()
  local controller = cqueues.running()
  if not controller then return nil end
  makers[controller] = makers[controller] or { new = new }
  return makers[controller]
end }

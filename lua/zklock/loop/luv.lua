--- luv: any coroutine, under libuv's loop.  In the main chunk, outside of
-- uv.run, a wait turns the loop.
local loops = require "zklock.loop"
local uv = require "luv"

-- What ends a task is raised in a callback of luv's.
local function raise(problem)
  local timer = uv.new_timer()
  timer:start(0, 0, function()
    timer:close()
    error(problem, 0)
  end)
end

local function resume(task, ...)
  local ok, problem = coroutine.resume(task, ...)
  if not ok then raise(debug.traceback(task, problem)) end
end

return { new = function(session)
  local A, poll = {}, nil

  -- In a coroutine, so that a callback may wait.
  local function read() resume(coroutine.create(session.step), session) end

  function A.wait(w, timeout)
    local timer = timeout and uv.new_timer()
    uv.update_time()
    if timer then
      timer:start(math.ceil(timeout * 1000) + 1, 0, function()
        timer:close()
        timer = nil
        A.wake(w)
      end)
    end
    if loops.in_main() then
      repeat uv.run "once" until w.done or timeout and not timer
    else
      w.task = coroutine.running()
      coroutine.yield()
      w.task = nil
    end
    if timer then timer:close() end
  end

  function A.wake(w)
    local task = w.task
    if task and coroutine.status(task) == "suspended" then resume(task) end
  end

  function A.arm()
    poll = uv.new_poll(session:fd())
    poll:start("r", read)
  end

  function A.disarm()
    if poll then poll:close() end
    poll = nil
  end

  A.close = A.disarm

  return A
end }

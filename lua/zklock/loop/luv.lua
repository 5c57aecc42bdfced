--- The adapter for luv. In a coroutine, a wait suspends the coroutine, and
-- libuv's loop resumes it. In the main chunk, outside uv.run, the adapter runs
-- the loop until the wait ends.
local loops = require "zklock.loop"
local uv = require "luv"

-- Closes a handle. luv 1.44 crashes at the program's end if a handle is not
-- fully closed. The loop closes it fully in its next iteration. If the loop
-- does not run, this function runs an iteration, in which callbacks can run.
local function close(handle)
  handle:close()
  if not uv.loop_mode() then uv.run "nowait" end
end

local function after(seconds, fn)
  local timer = uv.new_timer()
  local function call() timer:close() fn() end
  uv.update_time()
  timer:start(math.ceil(seconds * 1000), 0, call)
  return timer
end

-- Resumes a task. If the task raises an error, does not raise it here: a
-- callback of luv raises it later.
local function resume(task, ...)
  local ok, problem = coroutine.resume(task, ...)
  if ok then return end
  problem = debug and debug.traceback(task, problem) or problem
  after(0, function() error(problem, 0) end)
end

-- Makes the loop resume a woken task. If this function resumed the task
-- directly, the task could run in the middle of another task.
local function resume_later(w)
  after(0, function()
    local task = w.task
    w.task, w = nil, nil -- only the task may keep its guard alive
    if task and coroutine.status(task) == "suspended" then resume(task) end
  end)
end

return { new = function(session)
  local A, poll, armed = {}, nil, nil

  -- Calls step() in a coroutine, so that a callback can wait. luv refers to
  -- this function even when the handle is stopped. So the function refers to
  -- the session only through `armed`, which is nil then.
  local function read() resume(coroutine.create(armed.step), armed) end

  function A.wait(w, timeout)
    local expired = false
    local function expire() expired = true A.wake(w) end
    local timer = timeout and after(timeout + 0.001, expire)
    if loops.in_main() then
      repeat uv.run "once" until w.done or expired
    else
      w.task = coroutine.running()
      coroutine.yield()
      w.task = nil
    end
    if timer and not expired then close(timer) end
  end

  function A.wake(w) if w.task then resume_later(w) end end

  function A.arm()
    armed, poll = session, poll or uv.new_poll(session:fd())
    poll:start("r", read)
  end

  -- Must not run the loop: it is called in the middle of a release, where
  -- callbacks must not run.
  function A.disarm()
    if not poll then return end
    poll:stop()
    armed = nil
    if uv.loop_mode() then poll = poll:close() and nil end
  end

  function A.close()
    A.disarm()
    if poll then close(poll) end
    poll = nil
  end

  return A
end }

--- luv: suspends any coroutine, under libuv's loop.  In the main chunk, outside
-- of uv.run, a wait runs the loop.
local loops = require "zklock.loop"
local uv = require "luv"

-- Closes a handle.  At the program's end luv 1.44 crashes if a handle is not
-- fully closed, which takes an iteration of the loop.  If the loop is not
-- running, this function runs one, so its callers must expect callbacks.
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

-- Resumes a task.  Its error is raised in a callback of luv.
local function resume(task, ...)
  local ok, problem = coroutine.resume(task, ...)
  if ok then return end
  problem = debug and debug.traceback(task, problem) or problem
  after(0, function() error(problem, 0) end)
end

-- Resumes a woken task from the loop, because a direct resume could run it in
-- the middle of another task.
local function resume_later(w)
  after(0, function()
    local task = w.task
    w.task, w = nil, nil -- only the task may keep its future guard alive
    if task and coroutine.status(task) == "suspended" then resume(task) end
  end)
end

return { new = function(session)
  local A, poll, armed = {}, nil, nil

  -- Steps the session in a coroutine, so that a callback may wait. A stopped
  -- handle keeps this function, so the function must not keep the session.
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

  -- Called in the middle of a release, so it must not run the loop.
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

--- luv: any coroutine, under libuv's loop.  In the main chunk, outside of
-- uv.run, a wait turns the loop.
local loops = require "zklock.loop"
local uv = require "luv"

-- At the program's end luv 1.44 crashes where a handle is yet to be closed:
-- that takes a turn of the loop, which is made here where it does not run.  So
-- whoever is called here must be ready for what callbacks do.
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

-- What ends a task is raised in a callback of luv's.
local function resume(task, ...)
  local ok, problem = coroutine.resume(task, ...)
  if ok then return end
  problem = debug and debug.traceback(task, problem) or problem
  after(0, function() error(problem, 0) end)
end

-- The loop resumes whom a wake has found, nobody else: in whose middle?
local function resume_later(w)
  after(0, function()
    local task = w.task
    w.task, w = nil, nil -- the guard that it is to be is the task's alone
    if task and coroutine.status(task) == "suspended" then resume(task) end
  end)
end

return { new = function(session)
  local A, poll, armed = {}, nil, nil

  -- In a coroutine, so that a callback may wait.  (A handle that has stopped
  -- keeps this, and must not keep the session.)
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

  -- In the middle of a release: no turn may be made here.
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

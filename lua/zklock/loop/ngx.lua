--- The adapter for nginx and OpenResty: suspends handlers, timers and light
-- threads.
local reader = require "zklock.ngx.reader"
local scopes = require "zklock.ngx.scope"
local semaphore = require "ngx.semaphore"
local waits = require "zklock.wait"

return { new = function(_, engine)
  local A, reading = { reads_fd = true }, { left = true }
  local weak = setmetatable({ engine }, { __mode = "v" })
  A.scope, A.owner, A.cleanup = scopes.finder(engine)
  A.is_leaving = ngx.worker.exiting

  -- Suspends the thread. The reader, which calls step() (ngx/reader.lua),
  -- starts in a timer. nginx drops the timer if too many run
  -- (lua_max_running_timers); a wait then starts another timer. If nginx
  -- starts no timer at all, the waits themselves check for events.
  function A.wait(w, timeout)
    A.arm()
    w.semaphore = w.semaphore or semaphore.new()
    local longest = reading.left and 0.01
      or reading.began and scopes.FOREVER or 1
    w.parked = true
    w.semaphore:wait(math.max(0.001, math.min(timeout or longest, longest)))
    w.parked = false
    local unread = reading.left or not reading.began
    if unread and not w.done then reader.look(weak) end
    if longest == 1 and not reading.began then reader.begin(reading, weak) end
  end

  -- Wakes the thread if it still waits. If the thread was killed, it no longer
  -- waits at the semaphore. Nothing reports this earlier, so this function then
  -- abandons the thread's wait.
  function A.wake(w)
    if w.parked and w.semaphore:count() < 0 then
      w.semaphore:post(1)
    elseif w.parked then
      waits.abandon(w)
    end
  end

  function A.arm()
    if reading.left then reading = reader.start(weak) end
  end

  function A.nudge()
    if not engine.state.is.left then engine.core:nudge() end
  end

  A.close = A.nudge -- wakes the reader, which then ends by itself

  scopes.at_exit(A)
  return A
end }

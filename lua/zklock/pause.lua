--- Pause: a task waits for time to pass, in whatever loop.  Close ends it with
-- the code "closed".
local waits = require "zklock.wait"

local pauses = {}

--- One of so many seconds from now.
function pauses.new(engine, seconds)
  local pause = waits.new(engine, engine.waits.pauses)
  waits.limit(pause, seconds)
  return pause
end

--- Suspends the running task until it is over.  What is due is run meanwhile.
function pauses.take(pause)
  if pause.done then return end
  waits.suspend(pause, pause.engine.adapters:for_waiting())
end

--- Ends it before its time, from another task or a callback.
pauses.finish = waits.finish

return pauses

--- Pause: suspends a task for some time, in any loop.  Close ends a pause with
-- the code "closed".
local waits = require "zklock.wait"

local pauses = {}

--- Makes a pause of so many seconds from now.
function pauses.new(engine, seconds)
  local pause = waits.new(engine, engine.waits.pauses)
  waits.limit(pause, seconds)
  return pause
end

--- Suspends the running task until the pause is over.  Events run meanwhile.
function pauses.take(pause)
  if pause.done then return end
  waits.suspend(pause, pause.engine.adapters:for_waiting())
end

--- Ends a pause early, from another task or a callback.
pauses.finish = waits.finish

return pauses

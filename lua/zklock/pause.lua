--- Pause: suspends a task for some time, in any loop.  Closing the session ends
-- a pause early, with the code "closed".
local waits = require "zklock.wait"

local pauses = {}

--- Makes a pause that ends this number of seconds from now.
function pauses.new(engine, seconds)
  local pause = waits.new(engine, engine.waits.pauses)
  waits.limit(pause, seconds)
  return pause
end

--- Suspends the running task until the pause is over. Meanwhile step() still
-- processes events.
function pauses.take(pause)
  if pause.done then return end
  waits.suspend(pause, pause.engine.adapters:for_waiting())
end

--- Ends a pause early, from another task or a callback.
pauses.finish = waits.finish

return pauses

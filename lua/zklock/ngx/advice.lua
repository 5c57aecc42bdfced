--- Advice: logs a warning, once in each worker, if requests open their own
-- sessions instead of sharing one.
local here = require "zklock.loop.here"

local count = 0

--- Called at each zklock.connect. Warns at the second session that requests
-- open, because the first may be meant to last, as may those of timers.
return function()
  if here.ngx() ~= "task" or ngx.get_phase() == "timer" then return end
  count = count + 1
  if count ~= 2 then return end
  ngx.log(ngx.WARN, "zklock: requests open sessions of their own, by "
    .. "zklock.connect: each costs a thread, a connection and some round "
    .. "trips; zklock.ngx.session gives one to all of a worker")
end

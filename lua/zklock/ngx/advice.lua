--- Advice: logs a warning once for each worker if requests open sessions of
-- their own.
local here = require "zklock.loop.here"

-- Phases of nginx in which a session may last as long as the worker.
local lasting = { init = true, init_worker = true, timer = true,
  exit_worker = true }
local count = 0

--- Called at each zklock.connect.  The first session may be intended to last.
return function()
  if not here.ngx() or lasting[ngx.get_phase()] then return end
  count = count + 1
  if count ~= 2 then return end
  ngx.log(ngx.WARN, "zklock: requests open sessions of their own, by "
    .. "zklock.connect: each costs a thread, a connection and some round "
    .. "trips; zklock.ngx.session gives one to all of a worker")
end

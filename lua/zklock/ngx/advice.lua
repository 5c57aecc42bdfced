--- Advice: what nginx's log is told, once for each worker, where requests open
-- sessions of their own.
local here = require "zklock.loop.here"

-- What runs there lasts as long as the worker, or may.
local lasting = { init = true, init_worker = true, timer = true,
  exit_worker = true }
local count = 0

--- At each zklock.connect.  (The first may be meant to last.)
return function()
  if not here.ngx() or lasting[ngx.get_phase()] then return end
  count = count + 1
  if count ~= 2 then return end
  ngx.log(ngx.WARN, "zklock: requests open sessions of their own, by "
    .. "zklock.connect: each costs a thread, a connection and some round "
    .. "trips; zklock.ngx.session gives one to all of a worker")
end

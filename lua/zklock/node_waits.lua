--- Node waits: waits for the fate of a node, without contending for a lock.
--
-- The condition is a string of the core's (`session:await`):
--   "gone"   until the node does not exist, or did not for a moment
--   "there"  until it exists
--   "crowd"  until the directory has another number of contenders than
--            `known`; none if the directory is gone
local core = require "zklock.core"
local waits = require "zklock.wait"

local node_waits = {}

--- Makes a wait of `seconds` for the answer to `ask`.  `ask`: a method of the
-- core that fills an empty awaiting and returns its number.
function node_waits.new(engine, seconds, ask, ...)
  local hold_ref, number = ask(engine.core, ...)
  local wait = waits.new(engine, waits.place(engine.waits.answers, number),
    number)
  wait.hold_ref = hold_ref -- dropping it ends the wait
  wait.endless = not seconds
  return wait
end

--- Suspends the caller until the wait is over.
function node_waits.suspend(wait, adapter)
  waits.suspend(wait, adapter)
  if wait.code then return nil, wait.code, wait.reason or nil end
  return true
end

--- Calls `callback` from step() when the wait ends: with true, or with nil,
-- code and reason. Calls it again if a hook interrupts it. `scope`: the nginx
-- request with which the wait ends, if any.
function node_waits.enter(wait, scope, callback)
  return waits.listen(wait, scope, function()
    if wait.code then return callback(nil, wait.code, wait.reason or nil) end
    callback(true)
  end)
end

--- Returns how long the core waits, by the user's timeout, and whether it waits
-- for more than one reply of a server.
function node_waits.limit(engine, timeout, scope)
  if timeout == 0 then return engine:patience(), false end
  return timeout or engine.adapters:limit(scope), true
end

--- Makes a wait for the fate of `path`, within `scope` if there is one.  The
-- caller then suspends in it or enters it.
function node_waits.prepare(engine, scope, what, path, timeout, known)
  local seconds, patient = node_waits.limit(engine, timeout, scope)
  return node_waits.new(engine, seconds, engine.core.await, what, path, seconds,
    patient, known, core.awaiting())
end

return node_waits

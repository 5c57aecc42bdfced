--- Node waits: waits until a node is created, deleted or changed, without
-- contending for a lock.
--
-- `what` names the condition, as the C core does (`session:await`):
--   "gone"   until the node does not exist, or did not for a moment
--   "there"  until the node exists
--   "crowd"  until the number of contenders in the directory differs from
--            `known`; it is 0 if the directory does not exist
local core = require "zklock.core"
local waits = require "zklock.wait"

local node_waits = {}

--- Makes a wait of at most `seconds`; nil for no limit. `ask` is the method of
-- the C core that begins the wait, called with the further arguments. It fills
-- an empty userdata (core.awaiting), and returns the userdata and the number of
-- the wait.
function node_waits.new(engine, seconds, ask, ...)
  local hold_ref, number = ask(engine.core, ...)
  local wait = waits.new(engine, number)
  wait.hold_ref = hold_ref -- its release ends the wait
  wait.endless = not seconds
  return wait
end

-- Returns the results of a wait that is over.
local function results(wait)
  if wait.code then return nil, wait.code, wait.reason or nil end
  return true
end

--- Suspends the caller until the wait is over; returns true, or nil, code and
-- reason.
function node_waits.suspend(wait, adapter, scope)
  waits.suspend(wait, adapter, scope)
  return results(wait)
end

--- Enters the wait, and returns it. When the wait ends, step() calls the user's
-- `fn` once. Its arguments are the results of `outcome(true)`, or of
-- `outcome(nil, code, reason)` after a failure. `scope`: the nginx request
-- whose end ends the wait, or nil.
function node_waits.enter(wait, scope, fn, outcome)
  local item = { fn = fn, scope = false }
  return waits.listen(wait, scope, function()
    if not item.fn then return end
    wait.engine.events:call(item, outcome(results(wait)))
  end)
end

--- Makes a wait until the condition `what` is met for the node at `path`.
-- `scope`: the nginx request of the wait, or nil. The caller then calls suspend
-- or enter.
function node_waits.prepare(engine, scope, what, path, timeout, known)
  local seconds, patient = engine.adapters:limit(timeout, scope)
  return node_waits.new(engine, seconds, engine.core.await, what, path, seconds,
    patient, known, core.awaiting())
end

return node_waits

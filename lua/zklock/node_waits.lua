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

--- Makes a wait of at most `timeout` seconds; nil for no limit. `begin(seconds,
-- patient, awaiting)` begins the wait by a method of the C core. This method
-- fills `awaiting`, an empty userdata, and returns the userdata and the number
-- of the wait. `scope`: the nginx request of the wait, or nil.
function node_waits.new(engine, scope, timeout, begin)
  local seconds, patient = engine.adapters:limit(timeout, scope)
  local hold_ref, number = begin(seconds, patient, core.awaiting())
  local wait = waits.new(engine, number)
  wait.hold_ref = hold_ref -- its release ends the wait
  wait.timeout = timeout
  wait.endless = not seconds
  return wait
end

--- Enters the wait, and returns it. When the wait ends, step() calls the user's
-- `fn` once, with the results of `outcome(wait)`. `scope`: the nginx request
-- whose end ends the wait, or nil.
function node_waits.enter(wait, scope, fn, outcome)
  local item = { fn = fn, scope = false }
  return waits.listen(wait, scope, function()
    if item.fn then wait.engine.events:call(item, outcome(wait)) end
  end)
end

--- Makes a wait until the condition `what` is met for the node at `path`. The
-- caller then calls waits.suspend or enter.
function node_waits.prepare(engine, scope, what, path, timeout, known)
  return node_waits.new(engine, scope, timeout,
    function(seconds, patient, awaiting)
      return engine.core:await(what, path, seconds, patient, known, awaiting)
    end)
end

return node_waits

--- Vigils: waiting for what becomes of a node, where nothing is contended for.
--
-- What is waited for is a word of the core's (`session:await`):
--   "gone"   until the node is not there, or was not for a moment
--   "there"  until it is
--   "crowd"  until the directory has another number of contenders than
--            `known`; if it is gone, none
local core = require "zklock.core"
local waits = require "zklock.wait"

local vigils = {}

--- A wait of `seconds` for the answer to `ask`, a method of the core that fills
-- an empty awaiting and tells its number.
function vigils.new(engine, seconds, ask, ...)
  local share, number = ask(engine.core, ...)
  local wait = waits.new(engine, waits.place(engine.waits.answers, number),
    number)
  wait.share = share -- who drops it waits no more
  wait.endless = not seconds
  return wait
end

--- Suspends the caller until it is over.
function vigils.suspend(wait, adapter)
  waits.suspend(wait, adapter)
  if wait.code then return nil, wait.code, wait.reason or nil end
  return true
end

--- From now on `callback` hears of its end, from step(): true, or nil, code and
-- reason; once more, if it is interrupted.  `scope`: the request that it ends
-- with, if there is one.
function vigils.enter(wait, scope, callback)
  return waits.listen(wait, scope, function()
    if wait.code then return callback(nil, wait.code, wait.reason or nil) end
    callback(true)
  end)
end

--- How long the core is to wait, by the timeout that the user has set, and
-- whether it waits for more than a server's word.
function vigils.limit(engine, timeout, scope)
  if timeout == 0 then return engine:patience(), false end
  return timeout or engine.adapters:limit(scope), true
end

--- A wait in the name of `scope`, if there is one, for what becomes of `path`,
-- to be suspended in or entered.
function vigils.prepare(engine, scope, what, path, timeout, known)
  local seconds, patient = vigils.limit(engine, timeout, scope)
  return vigils.new(engine, seconds, engine.core.await, what, path, seconds,
    patient, known, core.awaiting())
end

return vigils

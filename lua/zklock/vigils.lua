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

--- A wait for the answer to `ask`, a method of the core that fills an empty
-- awaiting and tells its number.
function vigils.new(engine, ask, ...)
  local share, number = ask(engine.core, ...)
  local wait = waits.new(engine, waits.place(engine.waits.answers, number),
    number)
  wait.share = share -- who drops it waits no more
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

--- A wait for what becomes of `path`, to be suspended in or entered.  (Who does
-- not wait still waits for a server's word.)
function vigils.prepare(engine, what, path, seconds, known)
  local patient = seconds ~= 0
  if not patient then seconds = engine:patience() end
  return vigils.new(engine, engine.core.await, what, path, seconds, patient,
    known, core.awaiting())
end

return vigils

--- Once: runs a function in one of many processes, once in each period.
--
-- Each success overwrites PATH.once, a persistent node beside the lock. So its
-- mtime is the time of the last success. The age of the success is the time
-- from that mtime to the ctime of the lock's own node. Both times come from the
-- servers' clock. The command's `--once-per` uses the same node.
local Attempt = require "zklock.attempt"
local check = require "zklock.check"
local errors = require "zklock.errors"
local guards = require "zklock.guard"
local locks = require "zklock.lock"
local options = require "zklock.options"
local protect = require "zklock.protect"
local reasons = require "zklock.reasons"
local under = require "zklock.under"
local waits = require "zklock.wait"

local once = {}

function once.book_of(path) return path .. ".once" end

local book_of = once.book_of

local AGAIN = 0.1 -- seconds until the next try

-- Calls the session's method of this name, and returns its results. If there is
-- no connection, repeats the call as long as the lock is held.
local function ask(session, guard, method, ...)
  while true do
    local is = session._engine.state.is
    if is.closed then return reasons.closed(guard.path) end
    local answer, message, code = session[method](session, ...)
    if answer ~= nil or code ~= "disconnected" or not guard:is_held() then
      return answer, message, code
    end
    waits.take(waits.pause(session._engine, AGAIN))
  end
end

-- Limits of how far the servers' clock can advance during a wait that this
-- machine has measured. RATE: the largest ratio of the two clocks' speeds.
-- TICK: the error, in seconds, because servers round their times to
-- milliseconds.
local RATE, TICK = 1.05, 0.001

--- Returns whether fn is due: there was no success yet, or the last success is
-- at least a period ago. If the request fails, returns nil, message, code.
--
-- Also returns the age of the last success at the time when this process began
-- to wait. It is in seconds of the servers' clock. The age is 0 if the success
-- came during the wait. A negative age shows that the servers' clock is wrong,
-- or was wrong at the success. A success more than a period in the future is
-- ignored, so fn is due.
function once.is_due(session, guard, period)
  local last, message, code = ask(session, guard, "stat", book_of(guard.path))
  if last == nil then return nil, message, code end
  if not last then return true end
  local ours
  ours, message, code = ask(session, guard, "stat", guard.node)
  if ours == nil then return nil, message, code end
  if not ours then return errors.lost(guard.path, guard:reason()) end
  local age = ours.created - last.modified
  if age >= 0 then return age >= period, age end
  local waited = guards.hold_ref(guard):waited() * RATE + TICK
  local ahead = math.max(-age - waited, 0)
  return ahead > period, 0 - ahead
end

--- Records a success. The write is applied only if the lock's node still
-- exists. So if a server applies it after the hold has ended, it changes
-- nothing.
function once.note(session, guard, data)
  return ask(session, guard, "touch", book_of(guard.path), data, guard.node)
end

-- Returns whether fn has succeeded: it has returned nothing, or its first
-- result is true.
local function is_success(...)
  return select("#", ...) == 0 or not not (...)
end

-- If fn has succeeded, records the success. Then releases the lock, and returns
-- the result of once. If a server has written the record, the success counts,
-- even if the lock was lost before its reply. The write proves that the lock's
-- node still existed.
local function conclude(session, guard, data, ...)
  local noted, message, code
  local succeeded = is_success(...) and guard:is_held()
  if succeeded then
    noted, message, code = once.note(session, guard, data)
  end
  guard:release()
  if noted then return true, ... end
  if succeeded and guard:state() ~= "lost" then
    return nil, message, code, ...
  end
  return under.report(guard, ...)
end

--- session:once(path, options, fn): calls fn(guard) under the mutex of the
-- path. Does not call fn if the last success is less than a period ago. Returns
-- `true, ...results`; `false, seconds` (since that success) if fn was not
-- called; or `nil, message, code`.
once.method = protect.method(Attempt, function(attempt, self, path, given, fn)
  local engine = self._engine:check_open()
  check.lock_path(path, engine.chroot, "path")
  check.lock_path(book_of(path), engine.chroot, "path")
  given, fn = check.function_last(given, fn, "once(path, options, fn)")
  local read = options.once:read(given)
  local period = read.per or math.huge
  local terms = locks.terms(engine, path, "mutex", "mutex")
  attempt:read(terms, { timeout = read.timeout, data = read.data })
  local guard, message, code = attempt:acquire()
  if not guard then return nil, message, code end
  local is_due, age, why = once.is_due(self, guard, period)
  if is_due and not guard:is_held() then return under.refuse(guard) end
  if is_due then
    return conclude(self, guard, attempt.data,
      under.call(attempt, guard, fn))
  end
  guard:release()
  if is_due == nil then return nil, age, why end
  return false, age
end)

return once

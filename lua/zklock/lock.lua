--- Locks: the user's objects for mutexes, semaphores, and the two sides of
-- readers-writer locks.
local Attempt = require "zklock.attempt"
local check = require "zklock.check"
local errors = require "zklock.errors"
local options = require "zklock.options"
local Owners = require "zklock.owner"
local protect = require "zklock.protect"
local surveys = require "zklock.survey"
local new_ticket = require "zklock.ticket"
local under = require "zklock.under"
local waits = require "zklock.wait"

local Lock = {}
Lock.__index = Lock

-- Functions for the library, not for users.
local locks = {}

-- Maps each kind of lock to the names that the lock uses below its path,
-- besides the contenders' nodes.
local insides = {
  unfair = check.set "holder",
  semaphore = check.set "locks leases",
  ["double barrier"] = check.set "ready",
}

-- The kinds of locks that have a count, each with the unit of the count for
-- messages. Within one session, all such locks at one path must have the same
-- count.
local counted = { semaphore = "permit", ["double barrier"] = "member" }

local function signature_of(family, lock_options)
  return ("%s%s%s%s"):format(
    lock_options.kind == "unfair" and "unfair " or "", family,
    counted[family] and (" of %d %s%s"):format(lock_options.permits,
      counted[family], lock_options.permits == 1 and "" or "s") or "",
    lock_options.layout ~= "curator"
      and (" in %s's layout"):format(lock_options.layout) or "")
end

--- The methods that all kinds of locks have, for check.methods.
locks.usages = [[
  lock:acquire(timeout or options)
  lock:try_acquire(options)
  lock:with_lock(timeout or options, fn)
  lock:acquire_async(timeout or options, fn)
  lock:release(options)
  lock:holders()
  lock:cancel()
]]

--- Returns the terms of a lock: what all its acquisitions have in common.
-- `family`: "mutex", "rwlock", "semaphore", "election" or "double barrier".
-- `kind`: the mode of its contenders, such as "read" or "write".
function locks.terms(engine, path, family, kind, given, permits)
  local lock_options = options.read_lock(given, family, kind, permits)
  return {
    engine = engine,
    path = path,
    family = family,
    kind = kind,
    mode = lock_options.kind == "unfair" and "unfair" or kind,
    lock_options = lock_options,
    data = lock_options.data or engine.data,
    owners = Owners.of(engine, path, signature_of(family, lock_options),
      insides[lock_options.kind] or insides[family]),
  }
end

function locks.new(engine, path, ...)
  return setmetatable({
    path = path,
    _session = engine.session,
    _terms = locks.terms(engine, path, ...),
  }, Lock)
end

--- Returns a copy of a lock's terms, for a multi, so that the multi cancels
-- only its own waits. Returns nil if `lock` is not a lock.
function locks.copy_terms(lock)
  if getmetatable(lock) ~= Lock then return nil end
  local terms = {}
  for key, value in pairs(lock._terms) do terms[key] = value end
  return terms
end

--- Adds to a class the methods that all locks have in common. `closing_class`:
-- the class of the methods' cleanup handlers (protect.lua).
-- `acquire(closing, lock, how)` returns a guard, or `nil, message, code`. With
-- the fourth argument "busy", `acquire` does not wait for a holder, but returns
-- the code "busy".
function locks.add_methods(class, closing_class, acquire)
  local function method(fn) return protect.method(closing_class, fn) end

  --- Waits until the lock is granted; returns a guard, or `nil, message, code`.
  -- `how`: nil (no time limit), seconds, or `{ timeout=, data=, max_hold=,
  -- owner= }`.
  class.acquire = method(acquire)

  --- Acquires the lock if it is free, and returns a guard. Otherwise returns
  -- `nil, message, "busy"` and does not wait for the holder of the lock.
  class.try_acquire = method(function(closing, self, how)
    return acquire(closing, self, how, "busy")
  end)

  --- Calls `fn(guard)` while the lock is held, and releases the lock however fn
  -- ends. Returns `true, …results` with the results of fn. Returns `nil,
  -- message, code` if fn was not called, because the lock was not granted or
  -- was already lost. Returns `nil, message, "lost", …results` if the hold was
  -- lost while fn ran. If fn raises an error, raises it again.
  class.with_lock = method(function(closing, self, how, fn)
    how, fn = check.function_last(how, fn, "with_lock([options,] fn)")
    local guard, message, code = acquire(closing, self, how)
    if not guard then return nil, message, code end
    return under.run(closing, guard, fn)
  end)

  --- Releases the calling task's innermost hold of this lock.
  function class:release(how)
    local terms = self._terms
    local owner = terms.engine.adapters:owner()
    local guard = terms.owners:top(terms.kind, owner)
    if not guard then
      errors.misuse("%s is not held by the calling task", self.path)
    end
    return guard:release(how)
  end
end

locks.add_methods(Lock, Attempt, function(attempt, self, how, busy)
  return attempt:read(self._terms, how, busy):acquire()
end)

--- Begins the acquisition `attempt`, and returns a ticket at once. `callback`
-- gets the outcome.
function locks.begin(attempt, callback)
  attempt.engine:check_open()
  attempt.scope = attempt.engine.adapters:scope() or false
  local ticket = new_ticket(false)
  ticket._it = attempt:begin(callback)
  return ticket
end

--- Begins an acquisition, and at once returns a ticket, whose cancel() ends it.
-- step() calls `callback(guard, message, code)` with the outcome.
function Lock:acquire_async(how, callback)
  how, callback = check.function_last(how, callback,
    "acquire_async([options,] fn)")
  return locks.begin(Attempt.new():read(self._terms, how), callback)
end

-- Maps a layout and a family to the set of modes that the lock's nodes can
-- have. The modes have the names that the C core uses.
local modes_of = {
  curator = {
    mutex = check.set "mutex",
    rwlock = check.set "read write",
    semaphore = check.set "permit",
    election = check.set "mutex",
  },
  latch = {
    election = check.set "latch",
  },
  kazoo = {
    mutex = check.set "kazoo-lock",
    election = check.set "kazoo-lock",
    rwlock = check.set "kazoo-read kazoo-lock",
  },
}
local unfair = check.set "unfair"

--- Returns the modes of this lock's nodes at `terms.path`.
function locks.modes(terms)
  local lock_options = terms.lock_options
  return lock_options.kind == "unfair" and unfair
    or modes_of[lock_options.layout][terms.family]
end

--- Returns the contenders at `terms.path` that hold the lock.
function locks.holders(terms)
  return surveys.holders(terms.engine:check_open(), terms.path,
    locks.modes(terms))
end

--- Asks a server for the holders. Returns rows like those of `contenders`; an
-- empty list if the lock is free.
function Lock:holders()
  return locks.holders(self._terms)
end

--- Cancels all acquisitions in progress that were begun with these terms.
function locks.cancel(terms)
  waits.cancel_of(terms.engine:check_open(), terms)
end

--- Ends every wait that was begun through this lock object, with "cancelled".
function Lock:cancel()
  locks.cancel(self._terms)
end

check.methods(Lock, locks.usages)

function Lock:__tostring()
  return errors.describe("zklock %s %s", self._terms.owners.signature,
    self.path)
end

return locks

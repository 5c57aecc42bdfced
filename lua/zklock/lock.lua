--- Locks: what users have of mutexes and their relatives.
local Attempt = require "zklock.attempt"
local check = require "zklock.check"
local errors = require "zklock.errors"
local options = require "zklock.options"
local Owners = require "zklock.owner"
local protect = require "zklock.protect"
local surveys = require "zklock.survey"
local ticket_of = require "zklock.ticket"
local under = require "zklock.under"
local waits = require "zklock.wait"

local Lock = {}
Lock.__index = Lock

-- What the library does with locks, and their users do not.
local locks = {}

-- What a lock has at its path beside the contenders of a queue.
local insides = {
  unfair = check.set "holder",
  semaphore = check.set "locks leases",
  ["double barrier"] = check.set "ready",
}

-- What all users of a path in one session must agree about.
local counted = { semaphore = "permit", ["double barrier"] = "member" }

local function signature_of(family, way)
  return ("%s%s%s%s"):format(
    way.kind == "unfair" and "unfair " or "", family,
    counted[family] and (" of %d %s%s"):format(way.permits, counted[family],
      way.permits == 1 and "" or "s") or "",
    way.layout ~= "curator" and (" in %s's layout"):format(way.layout) or "")
end

local function new_waiters() return setmetatable({}, { __mode = "k" }) end

--- The terms of a lock: what its acquisitions ask for, each time.  `family`:
-- "mutex", "rwlock", "semaphore", "election" or "double barrier"; `kind`: the
-- side of it.
function locks.terms(engine, path, family, kind, given, permits)
  local terms = options.read_lock(given, family, kind, permits, engine.data)
  terms.engine, terms.path = engine, path
  terms.family, terms.kind = family, kind
  terms.mode = terms.way.kind == "unfair" and "unfair"
    or kind == "permit" and "lease" or kind
  terms.owners = Owners.of(engine, path, signature_of(family, terms.way),
    insides[terms.way.kind] or insides[family])
  terms.waiters = new_waiters() -- begun through this lock object
  return terms
end

function locks.new(engine, path, ...)
  return setmetatable({
    path = path,
    _session = engine.session,
    _terms = locks.terms(engine, path, ...),
  }, Lock)
end

--- The terms of a lock, with waiters of their own: for what multi begins and
-- cancels.  Nil: it is no lock.
function locks.copy_terms(lock)
  if getmetatable(lock) ~= Lock then return nil end
  local terms = {}
  for key, value in pairs(lock._terms) do terms[key] = value end
  terms.waiters = new_waiters()
  return terms
end

local function loop_of(self) return self._terms.engine.adapters.loop end

local function method(fn) return protect.method(Attempt, loop_of, fn) end

--- Waits until the lock is granted: a guard, or `nil, message, code`.
-- `how`: nil (for ever), seconds, or `{ timeout=, data=, max_hold=, owner= }`.
Lock.acquire = method(function(attempt, self, how)
  local terms = self._terms
  return Attempt.acquire(attempt, terms, options.read_request(terms, how))
end)

--- Takes the lock if it is free; never waits for another holder ("busy").
Lock.try_acquire = method(function(attempt, self, how)
  local terms = self._terms
  local request = options.read_request(terms, options.check_try(how))
  request.timeout, request.refusal = 0, "busy"
  return Attempt.acquire(attempt, terms, request)
end)

--- Runs `fn(guard)` under the lock and releases it, whatever happens.
-- `true, …results`; `nil, message, code` if the lock was not granted (fn did
-- not run); the same error if fn raises; `nil, message, "lost", …results` if
-- the hold was lost while fn ran.
Lock.with_lock = method(function(attempt, self, fn, how)
  check.callback(fn, "argument 1 of with_lock")
  local terms = self._terms
  local guard, message, code =
    Attempt.acquire(attempt, terms, options.read_request(terms, how))
  if not guard then return nil, message, code end
  return under.run(attempt, guard, fn)
end)

--- Releases the calling task's innermost hold of this lock.
function Lock:release(how)
  local terms = self._terms
  local owner = terms.engine.adapters:owner()
  local guard = terms.owners:top(terms.kind, owner)
  if not guard then
    errors.misuse("%s is not held by the calling task", self.path)
  end
  return guard:release(how)
end

local new_ticket = ticket_of(waits.cancel)

--- Begins what is asked for and returns at once: a ticket.
function locks.begin(terms, request, callback)
  terms.engine:check_open()
  local scope = terms.engine.adapters:scope()
  if scope then request.scope = scope end
  local ticket = new_ticket(false)
  ticket._it = Attempt.begin(terms, request, callback)
  return ticket
end

--- Begins to wait and returns at once; `callback(guard, message, code)` runs
-- in step().  Returns a ticket with `cancel()`.
function Lock:acquire_async(how, callback)
  how, callback = check.async(how, callback, "acquire_async")
  local terms = self._terms
  return locks.begin(terms, options.read_request(terms, how), callback)
end

-- What the nodes of a family are, as the core calls them.
local modes_of = {
  curator = {
    mutex = check.set "mutex",
    rwlock = check.set "read write",
    semaphore = check.set "lease",
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

--- In which modes nodes at `terms.path` are the lock's.
function locks.modes(terms)
  local way = terms.way
  return way.kind == "unfair" and unfair or modes_of[way.layout][terms.family]
end

--- Those of the nodes at `terms.path` that hold the lock.
function locks.holders(terms)
  terms.engine:check_open()
  return surveys.holders(terms.engine, terms.path, locks.modes(terms))
end

--- Asks who holds the lock now: rows as those of contenders, none if nobody.
function Lock:holders()
  return locks.holders(self._terms)
end

--- Ends every wait that was begun on these terms.
function locks.cancel(terms)
  terms.engine:check_open()
  waits.cancel_all(terms.waiters)
end

--- Ends every wait that was begun through this lock object.
function Lock:cancel()
  locks.cancel(self._terms)
end

check.lock_methods(Lock)

function Lock:__tostring()
  return errors.describe("zklock %s %s", self._terms.owners:signature(),
    self.path)
end

return locks

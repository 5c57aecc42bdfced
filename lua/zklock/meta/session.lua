---@meta _

-- # Session
--
-- A session is one connection to the servers and all the locks that are made with it; `zklock.connect` returns one. It reconnects
-- by itself, and begins a new ZooKeeper session when the old one has expired. A program needs one session for all its locks. After
-- `fork` the child must open its own.
--
-- After `session:close` every method raises an error except `state`, `id`, `stats`, `metrics`, `step` and `close`. In a child of
-- `fork` every method of the parent's session raises an error.
--
-- The tables of doc/options.md show which options go with which lock.

--- A session: one connection to the servers, and all the locks that are made with it.
---@class zklock.Session
local session = {}

-- ## Locks

--- Returns a lock that one task at a time holds, across all processes that use this path.
---
--- The call sends no request, so it cannot fail; `lock:acquire` sends one and waits. Keep the lock object or its guard: if your
--- program can no longer reach the guard, the lock object or the owner of a hold, the garbage collector releases the lock and logs
--- a warning. In nginx a hold ends at the latest with its request. Two lock objects of one session for one path are the same lock.
---
--- Raises: for an invalid path, for options that are unknown or do not go together, and if this session already uses the path in
--- another way (another kind of lock, another `fair`, `layout` or number of permits).
---
--- ```lua
--- local mutex = session:mutex "/locks/orders"
--- assert(mutex:with_lock(function(guard) print(guard:is_held()) end)) --> true
--- ```
---@param path string begins with a slash; at most 1 000 bytes, with the chroot
---@param options? zklock.MutexOptions
---@return zklock.Lock lock
function session:mutex(path, options) end

--- Returns two locks for many readers or one writer, in the order of arrival.
---
--- The holder of the write lock can also acquire the read lock. If it then releases the write lock, it keeps its queue position and
--- its token as a reader (a *downgrade*). The other way round, a reader that asks for `write` gets `deadlock`. A mutex and a rwlock
--- on one path do not exclude each other: zklock refuses the second one with `conflict` (doc/paths.md). One session can use a path
--- in one way only.
---
--- Raises: as `session:mutex`.
---
--- ```lua
--- local documents = session:rwlock "/locks/documents"
--- assert(documents.read:with_lock(function() print "reading" end))    --> reading
--- assert(documents.write:with_lock(function() print "writing" end))   --> writing
--- ```
---@param path string the path
---@param options? zklock.RWLockOptions
---@return zklock.RWLock rwlock its two sides
function session:rwlock(path, options) end

--- Returns a lock that up to `permits` holders share. It is not reentrant: each acquisition takes a permit. If clients use
--- different values of `permits`, each obeys its own.
---
--- Raises: as `session:mutex`, and if `permits` is not an integer from 1 to 1000000.
---
--- ```lua
--- local downloads = session:semaphore("/locks/downloads", 2)
--- local first = assert(downloads:acquire(5))
--- local second = assert(downloads:acquire(5))
--- print(downloads:try_acquire() == nil)   --> true
--- first:release()
--- second:release()
--- ```
---@param path string the path
---@param permits integer how many holders can share it
---@param options? zklock.HoldOptions
---@return zklock.Lock lock
function session:semaphore(path, permits, options) end

--- Returns one lock over several locks of this session, of any kinds: an acquisition takes all or none. The parts are sorted, a
--- part that is given twice counts once, and all share one deadline; so two multis never wait for each other. If one part is lost,
--- the whole hold is lost and zklock releases the other parts. Options belong to the parts.
---
--- Raises: for a list that is empty or has gaps, for values that are not locks, and for locks of another session.
---
--- ```lua
--- local both = session:multi {
---   session:mutex "/locks/from",
---   session:mutex "/locks/to",
--- }
--- local guard = assert(both:acquire(5))
--- print(guard:tokens()["/locks/from"].turn)   --> 0
--- guard:release()
--- ```
---@param locks zklock.Lock[] mutexes, semaphores, sides of rwlocks
---@return zklock.Multi lock
function session:multi(locks) end

--- Runs `fn(guard)` under the mutex of `path`, as `session:mutex(path):with_lock([options,] fn)` does. `options` can have the options
--- of a mutex and those of `lock:with_lock` together.
---
--- Codes: timeout, lost, disconnected, closed, auth, denied, invalid, conflict, deadlock
---
--- Raises: as `session:mutex` and `lock:with_lock`; and what `fn` raises, after the lock was released.
---
--- ```lua
--- local ok, sum = assert(session:with_lock("/locks/orders", { timeout = 5 }, function() return 1 + 2 end))
--- print(sum)   --> 3
--- ```
---@param path string the path
---@param options? zklock.Seconds|zklock.WithLockOptions the timeout in seconds, or a table. Default: no timeout
---@param fn fun(guard: zklock.Guard): any runs under the lock
---@return true? ok
---@return any ... the results of `fn`; or the message, the code, and after `lost` the results of `fn`
---@overload fun(self: zklock.Session, path: string, fn: fun(guard: zklock.Guard): any): true?, any
function session:with_lock(path, options, fn) end

-- ## Recipes built on locks

--- Returns an election, in which one of many processes leads: see [elections](#election).
---
--- Raises: as `session:mutex`.
---
--- ```lua
--- local election = session:election("/elections/primary", { data = "web1" })
--- local guard = assert(election:campaign(5))
--- print(election:leader().data)   --> web1
--- guard:release()
--- ```
---@param path string the path
---@param options? zklock.ElectionOptions
---@return zklock.Election election
function session:election(path, options) end

--- Returns a barrier, which blocks waiters until a process lifts it: see [barriers](#barrier).
---
--- Raises: as `session:mutex`.
---
--- ```lua
--- local barrier = session:barrier "/barriers/migration"
--- print(barrier:is_set())   --> false
--- ```
---@param path string the path
---@return zklock.Barrier barrier
function session:barrier(path) end

--- Returns a double barrier, which `n` members enter together and leave together: see [double barriers](#double-barrier).
---
--- Raises: as `session:mutex`, and if `n` is not an integer from 1 to 1000000.
---
--- ```lua
--- local gate = session:double_barrier("/barriers/load-test", 1)
--- assert(gate:enter(5))
--- assert(gate:leave(5))
--- ```
---@param path string the path
---@param n integer the number of members
---@param options? zklock.HoldOptions
---@return zklock.DoubleBarrier double_barrier
function session:double_barrier(path, n, options) end

--- Runs `fn` in one of many processes, once in each period. It waits for the mutex of `path`, and calls `fn(guard)` if there was no
--- success yet, or the last success is at least `per` seconds ago by the servers' clock.
---
--- The run is a success if `fn` returns nothing or a true first value, and the lock is still held. Otherwise the next caller tries
--- again; so after a lost hold the job can run once more in the same period. The persistent node `PATH.once` records the success.
--- The command `zklock run --once-per` uses the same node, so both share the period.
---
--- Returns `true` and the results of `fn`. If the job is not due, returns `false` and how many seconds ago the last success was. On
--- failure returns `nil, message, code`; after `lost` also the results of `fn`.
---
--- The seconds are negative if the last success lies in the future, because the servers' clocks differ or one was wrong. Up to
--- `per` in the future, the job is not due; beyond that it is. For the bounds see --once-per in doc/command.md.
--- `session:barrier(path .. ".once"):lift()` deletes the record.
---
--- Codes: timeout, lost, disconnected, closed, auth, denied, invalid, conflict
---
--- Raises: as `session:mutex`, and if `per` is missing; and what `fn` raises, after the lock was released.
---
--- ```lua
--- local ran = session:once("/jobs/report", { per = 3600 }, function() return true end)
--- print(ran)          --> true
--- local again, seconds = session:once("/jobs/report", { per = 3600 }, function() return true end)
--- print(again)        --> false
--- print(seconds < 60) --> true
--- ```
---@param path string the path
---@param options zklock.OnceOptions
---@param fn fun(guard: zklock.Guard): any the job
---@return boolean? ran true: `fn` ran, and the lock was held to the end
---@return any ... results, seconds, or message and code
function session:once(path, options, fn) end

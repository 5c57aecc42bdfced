---@meta _

-- # Session
--
-- What `zklock.connect` returns: one connection to the servers, and all the locks that are made with it. It reconnects by itself, and
-- begins a new ZooKeeper session when the old one has expired. A program needs one session for all its locks; after `fork` the
-- child needs its own.
--
-- After `session:close` every method raises, but `state`, `id`, `stats`, `metrics`, `step` and `close`. In a child of `fork` every
-- method of the parent's session raises.
--
-- Which options go with which lock is shown by the tables of doc/options.md.

--- A session: one connection to the servers, and all the locks that are made with it.
---@class zklock.Session
local session = {}

-- ## Locks

--- A lock that one task at a time holds, in all processes that use this path.
---
--- Nothing is asked of a server yet, so it cannot fail; `lock:acquire` waits and asks. Keep the lock object or its guard. If your
--- program can reach neither the guard, the lock object nor the owner of a hold, the garbage collector releases it, and the log has a
--- warning. In nginx the hold lasts until its request ends. Two lock objects of one session on one path are the same lock.
---
--- Raises: for a bad path, unknown options or such as do not go together, and if this session uses the path in another way already
--- (another kind of lock, another `fair`, `layout` or number of permits).
---
--- ```lua
--- local mutex = session:mutex "/locks/orders"
--- assert(mutex:with_lock(function(guard) print(guard:is_held()) end)) --> true
--- ```
---@param path string begins with a slash; at most 1 000 bytes, with the chroot
---@param options? zklock.MutexOptions
---@return zklock.Lock lock
function session:mutex(path, options) end

--- Two locks: many readers or one writer, in the order of arrival.
---
--- Who holds the write lock may take the read lock, too, and keeps its place when it releases the write lock (a *downgrade*): the
--- reader has the writer's token. The other way round, `write` by who holds `read`, is `deadlock`. A mutex and a rwlock on one path
--- do not exclude each other: the second one is refused with `conflict` (doc/paths.md), and one session may use a path in one way only.
---
--- Raises: as `session:mutex`.
---
--- ```lua
--- local documents = session:rwlock "/locks/documents"
--- assert(documents.read:with_lock(function() print "reading" end))    --> reading
--- assert(documents.write:with_lock(function() print "writing" end))   --> writing
--- ```
---@param path string the path of the lock, or of what is built on it
---@param options? zklock.RWLockOptions
---@return zklock.RWLock rwlock its two sides
function session:rwlock(path, options) end

--- A lock that up to `permits` holders share. It is not reentrant: each acquisition takes a permit. Clients that disagree about
--- `permits` each obey their own number.
---
--- Raises: as `session:mutex`, and if `permits` is no whole number from 1 to 1000000.
---
--- ```lua
--- local downloads = session:semaphore("/locks/downloads", 2)
--- local first = assert(downloads:acquire(5))
--- local second = assert(downloads:acquire(5))
--- print(downloads:try_acquire() == nil)   --> true
--- first:release()
--- second:release()
--- ```
---@param path string the path of the lock, or of what is built on it
---@param permits integer how many may hold it at the same time
---@param options? zklock.HoldOptions
---@return zklock.Lock lock
function session:semaphore(path, permits, options) end

--- One lock over several of this session, of any kinds: all or nothing. Its parts are sorted, one that is given twice counts once,
--- and there is one deadline for all; so two multis never wait for each other. When one part is lost, the whole is, and the rest
--- is given back. Its options are those of its parts.
---
--- Raises: for a list that is empty or has gaps, for what is no lock, and for locks of another session.
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

--- Runs `fn(guard)` under the mutex of `path`: short for `session:mutex(path):with_lock(fn, options)`. A table of options has those of a
--- mutex and those of `lock:with_lock` together.
---
--- Codes: timeout, lost, disconnected, closed, auth, denied, invalid, conflict, deadlock
---
--- Raises: as `session:mutex` and `lock:with_lock`; and what `fn` raises, with the lock released.
---
--- ```lua
--- local ok, sum = assert(session:with_lock("/locks/orders", function() return 1 + 2 end, { timeout = 5 }))
--- print(sum)   --> 3
--- ```
---@param path string the path of the lock, or of what is built on it
---@param fn fun(guard: zklock.Guard): any what is to be done; its results are returned
---@param options? zklock.Seconds|zklock.WithLockOptions how long to wait, or options. Default: wait for ever
---@return true? ok
---@return any ... what `fn` has returned; or the message, the code, and after `lost` what `fn` has returned
function session:with_lock(path, fn, options) end

-- ## What is built on locks

--- Of many processes one leads: see [elections](#election).
---
--- Raises: as `session:mutex`.
---
--- ```lua
--- local election = session:election("/elections/primary", { data = "web1" })
--- local guard = assert(election:campaign(5))
--- print(election:leader().data)   --> web1
--- guard:release()
--- ```
---@param path string the path of the lock, or of what is built on it
---@param options? zklock.ElectionOptions
---@return zklock.Election election
function session:election(path, options) end

--- What holds back who waits for it, until somebody lifts it: see [barriers](#barrier).
---
--- Raises: as `session:mutex`.
---
--- ```lua
--- local barrier = session:barrier "/barriers/migration"
--- print(barrier:is_set())   --> false
--- ```
---@param path string the path of the lock, or of what is built on it
---@return zklock.Barrier barrier
function session:barrier(path) end

--- What `n` members enter together and leave together: see [double barriers](#double-barrier).
---
--- Raises: as `session:mutex`, and if `n` is no whole number from 1 to 1000000.
---
--- ```lua
--- local gate = session:double_barrier("/barriers/load-test", 1)
--- assert(gate:enter(5))
--- assert(gate:leave(5))
--- ```
---@param path string the path of the lock, or of what is built on it
---@param n integer how many members begin together
---@param options? zklock.HoldOptions
---@return zklock.DoubleBarrier double_barrier
function session:double_barrier(path, n, options) end

--- Of many processes one runs `fn` in each period. It waits for the mutex of `path` and calls `fn(guard)` if the last success is
--- `per` seconds ago by the servers' clock, or if there was none.
---
--- A success is an `fn` that returned nothing, or something true first, with the lock still held. After anything else the next one who
--- comes tries again; so a run whose hold was lost does not count, and the job may run once more in the same period. The success is
--- written into the persistent node `PATH.once`, as the command's `zklock run --once-per` does: the two take turns.
---
--- What it returns: `true` and what `fn` has returned; or, if it is not due, `false` and how many seconds ago the last success
--- was; or `nil, message, code`, and after `lost` what `fn` has returned.
---
--- The seconds are negative if the last success lies in the future: the servers' clocks differ, or one was wrong. By up to `per` it is
--- not due; by more it is. For the bounds see --once-per in doc/command.md. `session:barrier(path .. ".once"):lift()` deletes the
--- note of the last success.
---
--- Codes: timeout, lost, disconnected, closed, auth, denied, invalid, conflict
---
--- Raises: as `session:mutex`, and if `per` is missing; and what `fn` raises, with the lock released.
---
--- ```lua
--- local ran = session:once("/jobs/report", { per = 3600 }, function() return true end)
--- print(ran)          --> true
--- local again, seconds = session:once("/jobs/report", { per = 3600 }, function() return true end)
--- print(again)        --> false
--- print(seconds < 60) --> true
--- ```
---@param path string the path of the lock, or of what is built on it
---@param options zklock.OnceOptions
---@param fn fun(guard: zklock.Guard): any the job
---@return boolean? ran did `fn` run, and was the lock its own to the end?
---@return any ... results, seconds, or message and code
function session:once(path, options, fn) end

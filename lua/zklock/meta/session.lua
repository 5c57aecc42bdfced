---@meta _

-- # Session
--
-- A session is a client's connection to the servers, with all its locks. `zklock.connect` returns a session. The session
-- reconnects automatically, and begins a new ZooKeeper session if the old ZooKeeper session has expired. One session is enough
-- for all locks of a program.
--
-- A `path` is a string that begins with a slash, and has at most 1 000 bytes, including the chroot.

--- A session: one connection to the servers, and all the locks that are made with it.
---@class zklock.Session
local session = {}

-- ## Locks
--
-- The calls that create lock objects send no request. They raise an error for an invalid path, and for options that do not go
-- together (doc/api.md#which-options-go-together).
--
-- Keep a reference to the guard of a hold, or to the lock object and the owner. Otherwise the garbage collector releases the
-- lock, and zklock logs a warning.

--- Returns a mutex: a lock that one task at a time can hold, across all processes that use this path. Two mutex objects of one
--- session with the same path are the same lock.
---
--- ```lua
--- local mutex = session:mutex "/locks/orders"
--- assert(mutex:with_lock(function(guard) print(guard:is_held()) end)) --> true
--- ```
---@param path string
---@param options? zklock.MutexOptions
---@return zklock.Lock lock
function session:mutex(path, options) end

--- Returns a readers-writer lock: many readers or one writer can hold it. Clients acquire it in the order of arrival.
---
--- The holder of `write` can also acquire `read`. When the holder then releases `write`, it becomes a reader with the same queue
--- position and token (a *downgrade*). A holder of `read` that asks for `write` gets `deadlock`.
---
--- ```lua
--- local documents = session:rwlock "/locks/documents"
--- assert(documents.read:with_lock(function() print "reading" end))    --> reading
--- assert(documents.write:with_lock(function() print "writing" end))   --> writing
--- ```
---@param path string
---@param options? zklock.RWLockOptions
---@return zklock.RWLock rwlock its two sides
function session:rwlock(path, options) end

--- Returns a lock that up to `permits` holders share. Each acquisition takes one permit. If clients use different values of
--- `permits`, each client applies its own value.
---
--- ```lua
--- local downloads = session:semaphore("/locks/downloads", 2)
--- assert(downloads:with_lock(function() print "one of two" end))   --> one of two
--- ```
---@param path string
---@param permits integer 1 to 1 000 000
---@param options? zklock.HoldOptions
---@return zklock.Lock lock
function session:semaphore(path, permits, options) end

--- Returns one lock over several locks of this session: an acquisition takes all of them or none. zklock sorts the parts, so two
--- multis never wait for each other. If one part is lost, the whole hold is lost, and zklock releases the other parts.
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
---@param locks zklock.Lock[] mutexes, semaphores, sides of rwlocks; at least one
---@return zklock.Multi lock
function session:multi(locks) end

--- Runs `fn(guard)` under the mutex of `path`, as `session:mutex(path):with_lock` does.
---
--- Codes: timeout, lost, disconnected, closed, auth, denied, invalid, conflict, deadlock
---
--- Raises: the error of `fn`, after the release of the lock.
---
--- ```lua
--- local ok, sum = assert(session:with_lock("/locks/orders", { timeout = 5 }, function() return 1 + 2 end))
--- print(sum)   --> 3
--- ```
---@param path string
---@param options? zklock.Seconds|zklock.WithLockOptions
---@param fn fun(guard: zklock.Guard): any
---@return true? ok
---@return any ... the results of `fn`
---@overload fun(self: zklock.Session, path: string, fn: fun(guard: zklock.Guard): any): true?, any
function session:with_lock(path, options, fn) end

-- ## Recipes built on locks

--- Returns an [election](#election), in which one of many processes leads.
---@param path string
---@param options? zklock.ElectionOptions
---@return zklock.Election election
function session:election(path, options) end

--- Returns a [barrier](#barrier), which blocks waiters until a process lifts it.
---@param path string
---@return zklock.Barrier barrier
function session:barrier(path) end

--- Returns a [double barrier](#double-barrier), which `n` members enter together and leave together.
---@param path string
---@param n integer the number of members, 1 to 1 000 000
---@param options? zklock.HoldOptions
---@return zklock.DoubleBarrier double_barrier
function session:double_barrier(path, n, options) end

--- Runs a job in one of many processes, once in each period. Acquires the mutex of `path`. Then calls `fn(guard)`, unless the
--- last success is less than `per` seconds ago by the servers' clock.
---
--- A run succeeds if the lock is still held when `fn` returns, and `fn` returns no value, or a first value other than nil and
--- false. After a failed run, the next caller runs the job again. So after a loss the job can run a second time in the same
--- period.
---
--- Returns `true` and the results of `fn`. If the job is not due, returns `false` and the seconds since the last success. After a
--- loss, returns `nil, message, "lost"` and the results of `fn`.
---
--- The persistent node `PATH.once` records the success; `session:barrier(path .. ".once"):lift()` deletes it. The command
--- `zklock run --once-per` uses the same node. For wrong clocks of servers, see --once-per in doc/command.md.
---
--- Codes: timeout, lost, disconnected, closed, auth, denied, invalid, conflict
---
--- Raises: the error of `fn`, after the release of the lock.
---
--- ```lua
--- local ran = session:once("/jobs/report", { per = 3600 }, function() return true end)
--- print(ran)          --> true
--- local again, seconds = session:once("/jobs/report", { per = 3600 }, function() return true end)
--- print(again)        --> false
--- print(seconds < 60) --> true
--- ```
---@param path string
---@param options zklock.OnceOptions
---@param fn fun(guard: zklock.Guard): any
---@return boolean? ran
---@return any ... the results of `fn`, or the seconds
function session:once(path, options, fn) end

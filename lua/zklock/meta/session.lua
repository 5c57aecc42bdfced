---@meta _

-- # Session
--
-- A session is a client's connection to the servers. `zklock.connect` returns a session. The session reconnects automatically. If
-- its ZooKeeper session expires, it begins a new ZooKeeper session. One session is enough for all locks of a program.
--
-- A `path` is a string that begins with a slash, and has at most 1 000 bytes, including the chroot.

--- A session: one connection to the servers, and all the locks that are made with it.
---@class zklock.Session
local session = {}

-- ## Locks
--
-- The calls that create lock objects send no request. They raise an error for an invalid path, and for options that do not go
-- together (see doc/api.md#which-options-go-together).
--
-- While your program holds a lock, keep a reference to the guard, or to both the lock object and the owner. Otherwise the garbage
-- collector releases the lock, and zklock logs a warning.

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
--- position and token. This is called a *downgrade*. A holder of `read` that asks for `write` gets `deadlock`.
---
--- ```lua
--- local documents = session:rwlock "/locks/documents"
--- assert(documents.read:with_lock(function() print "reading" end))    --> reading
--- assert(documents.write:with_lock(function() print "writing" end))   --> writing
--- ```
---@param path string
---@param options? zklock.RWLockOptions
---@return zklock.RWLock rwlock
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

--- Returns a lock that combines several locks of this session, its *parts*. An acquisition takes all parts or none. zklock
--- acquires the parts in sorted order, so that two multis never wait for each other. If one part is lost, the whole hold is lost,
--- and zklock releases the other parts.
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
---@param locks zklock.Lock[] one or more mutexes, semaphores or sides of rwlocks
---@return zklock.Multi lock
function session:multi(locks) end

--- Runs `fn(guard)` while the session holds the mutex of `path`, as `session:mutex(path):with_lock` does.
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

--- Runs a job in one of many processes, once in each period. Acquires the mutex of `path`. Then calls `fn(guard)`, unless the job
--- last succeeded less than `per` seconds ago, by the servers' clock.
---
--- A run fails if `fn` raises an error, if the first result of `fn` is nil or false, or if the lock is lost before `fn` returns.
--- If `fn` returns nothing, the run succeeds. After a failed run, the next caller runs the job again, even in the same period.
---
--- Returns `true` and the results of `fn`. If the job is not due, returns `false` and the seconds since the last success. If the
--- lock was lost, returns `nil, message, "lost"` and the results of `fn`.
---
--- zklock records the success in the persistent node `PATH.once`. To delete this record, call `session:barrier(path ..
--- ".once"):lift()`. The command `zklock run --once-per` uses the same node. For wrong clocks of servers, see --once-per in
--- doc/command.md.
---
--- Codes: timeout, lost, disconnected, closed, auth, denied, invalid, conflict
---
--- Raises: the error of `fn`, after the release of the lock.
---
--- ```lua
--- local ran = session:once("/jobs/report", { per = 3600 }, function() return true end)
--- print(ran)          --> true
--- local again = session:once("/jobs/report", { per = 3600 }, function() return true end)
--- print(again)        --> false
--- ```
---@param path string
---@param options zklock.OnceOptions
---@param fn fun(guard: zklock.Guard): any
---@return boolean? ran
---@return any ... the results of `fn`, or the seconds
function session:once(path, options, fn) end

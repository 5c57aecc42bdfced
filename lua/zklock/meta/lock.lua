---@meta _

-- # Lock
--
-- A mutex, a side of a rwlock and a semaphore have the same methods, and so has a multi. A lock object holds nothing by itself: each
-- acquisition gives a [guard](#guard).
--
-- **Who owns a hold** is the task that acquired it: the running coroutine (the main chunk counts as one), or what an adapter or the
-- option `owner` says. The owner may acquire again at once (`reentrant`), and `lock:release` ends its innermost hold.
--
-- **A node at the lock's path that no session owns** (persistent, container, TTL) and that is named like a contender blocks the lock until
-- it is deleted, as in Curator and kazoo. The log and `zklock ls` name it; `zklock evict` deletes it. (doc/protocol.md)
--
-- On Lua 5.1 nothing can yield inside the `fn` of `lock:with_lock`, for there is no yield across `pcall` there.

--- A lock: a mutex, a side of a rwlock, a semaphore or a multi.
---@class zklock.Lock
---
--- The path that it was made for; of a multi those of its parts, with commas between them.
---@field path string
local lock = {}

-- ## Two sides
--
-- `session:rwlock` returns both locks in one table.

--- The two locks of a rwlock.
---@class zklock.RWLock
---
--- What many may hold at the same time.
---@field read zklock.Lock
---
--- What one holds, and nobody reads meanwhile.
---@field write zklock.Lock

-- ## Acquiring

--- Waits until the lock is granted. In an event loop only the calling task waits.
---
--- A timeout of 0 takes what is free, and waits for nothing but the server's answer; where the session is not connected the call returns
--- `disconnected` at once (doc/options.md). The message of `timeout` says how many are
--- ahead, and who holds the lock if that is known without a request. `lost` is told to an owner that holds already, if that hold was
--- lost and its guard has not been released. `deadlock` is told to an owner that holds already, if the lock is not reentrant or the
--- wait could never end.
---
--- Codes: timeout, cancelled, lost, disconnected, closed, auth, denied, invalid, conflict, deadlock
---
--- Raises: for unknown options; and where nothing can wait (a callback of a loop, some phases of nginx, a coroutine of a scheduler
--- that is not known).
---
--- ```lua
--- local mutex = session:mutex "/locks/orders"
--- local guard, message, code = mutex:acquire(5)
--- if not guard then error(message) end
--- print(guard:is_held())   --> true
--- guard:release()
--- ```
---@param options? zklock.Seconds|zklock.AcquireOptions how long to wait, or options. Default: wait for ever
---@return zklock.Guard? guard
---@return string? message
---@return zklock.Code? code
function lock:acquire(options) end

--- Takes the lock if it is free, and never waits for another holder. The message of `busy` names the holder if this session
--- knows it. It does wait for the server's answer; where the session is not connected it returns `disconnected` at once.
---
--- Codes: busy, cancelled, lost, disconnected, closed, auth, denied, invalid, conflict, deadlock
---
--- Raises: as `lock:acquire`, and for a `timeout`.
---
--- ```lua
--- local mutex = session:mutex "/locks/orders"
--- local guard, message, code = mutex:try_acquire()
--- if guard then
---   guard:release()
--- elseif code == zklock.errors.busy then
---   print(message)
--- end
--- ```
---@param options? zklock.TryOptions
---@return zklock.Guard? guard
---@return string? message
---@return zklock.Code? code
function lock:try_acquire(options) end

--- Acquires the lock, calls `fn(guard)`, and releases, whatever `fn` does.
---
--- What it returns: `true` and what `fn` has returned; or `nil, message, code` if the lock was not granted, and `fn` did not run; or
--- `nil, message, "lost"` and what `fn` has returned, if the hold was lost while `fn` ran.
---
--- Codes: timeout, cancelled, lost, disconnected, closed, auth, denied, invalid, conflict, deadlock
---
--- Raises: as `lock:acquire`; and what `fn` raises, as it is, with the lock released.
---
--- ```lua
--- local mutex = session:mutex "/locks/orders"
--- local ok, message, code = mutex:with_lock(function(guard)
---   print("the fencing token has " .. #guard:token() .. " digits")   --> the fencing token has 19 digits
--- end, { timeout = 5 })
--- if not ok then print(code, message) end
--- ```
---@param fn fun(guard: zklock.Guard): any what is to be done under the lock
---@param options? zklock.Seconds|zklock.AcquireOptions how long to wait, or options. Default: wait for ever
---@return true? ok
---@return any ... what `fn` has returned; or the message, the code, and after `lost` what `fn` has returned
function lock:with_lock(fn, options) end

--- Begins to wait and returns at once. `fn(guard)` or `fn(nil, message, code)` is called later, from `session:step` or in a task of
--- the loop. The acquisition is an owner of its own, unless the option `owner` names one.
---
--- The codes that `fn` may get are those of `lock:acquire`.
---
--- Raises: as `lock:acquire`, but not where nothing can wait.
---
--- ```lua
--- local done = false
--- local ticket = session:mutex "/locks/orders":acquire_async({ timeout = 5 }, function(guard, message)
---   assert(guard, message)
---   guard:release()
---   done = true
--- end)
--- while not done do session:step() end
--- ticket:cancel()   -- too late: it does nothing
--- ```
---@param options? zklock.Seconds|zklock.AcquireOptions may be left out. Default: wait for ever
---@param fn fun(guard?: zklock.Guard, message?: string, code?: zklock.Code) hears how it ends
---@return zklock.Ticket ticket ends the wait
---@overload fun(self: zklock.Lock, fn: fun(guard?: zklock.Guard, message?: string, code?: zklock.Code)): zklock.Ticket
function lock:acquire_async(options, fn) end

--- Ends every wait that was begun through this lock object: each hears `cancelled`, unless its grant came first.
---
--- ```lua
--- local mutex = session:mutex "/locks/orders"
--- local guard = assert(mutex:acquire(5))
--- local heard
--- mutex:acquire_async(function(_, _, code) heard = code end)
--- mutex:cancel()
--- while not heard do session:step() end
--- print(heard)   --> cancelled
--- guard:release()
--- ```
function lock:cancel() end

-- ## Releasing and asking

--- Ends the calling task's innermost hold of this lock: `guard:release` without the guard.
---
--- Codes: lost, closed, auth, denied
---
--- Raises: if the calling task does not hold the lock.
---
--- ```lua
--- local mutex = session:mutex "/locks/orders"
--- assert(mutex:acquire(5))
--- assert(mutex:release())
--- ```
---@param options? zklock.ReleaseOptions
---@return true? ok
---@return string? message
---@return zklock.Code? code
function lock:release(options) end

--- Asks a server who holds the lock now. The rows are as those of `session:contenders`; there are none when it is free. Of a multi each
--- row has the `path` of its part, too.
---
--- Codes: disconnected, closed, auth, denied, invalid
---
--- ```lua
--- local mutex = session:mutex("/locks/orders", { data = "web1" })
--- local guard = assert(mutex:acquire(5))
--- print(assert(mutex:holders())[1].data)   --> web1
--- guard:release()
--- print(#assert(mutex:holders()))          --> 0
--- ```
---@return zklock.Contender[]? rows
---@return string? message
---@return zklock.Code? code
function lock:holders() end

-- ## Multi
--
-- What `session:multi` returns has the methods of a lock. Its guard has `guard:tokens` in place of `guard:token`, `guard:token_number`
-- and `guard:turn`.

--- One lock over several: all or nothing.
---@class zklock.Multi: zklock.Lock
---
--- As `lock:acquire`; the guard is a multi's.
---@field acquire fun(self: zklock.Multi, options?: zklock.Seconds|zklock.AcquireOptions): zklock.MultiGuard?, string?, zklock.Code?
---
--- As `lock:try_acquire`; the guard is a multi's.
---@field try_acquire fun(self: zklock.Multi, options?: zklock.TryOptions): zklock.MultiGuard?, string?, zklock.Code?
---
--- As `lock:acquire_async`; the guard is a multi's.
---@field acquire_async fun(self: any, options: any, fn: fun(guard?: zklock.MultiGuard, message?: string, code?: string)): zklock.Ticket
---
--- As `lock:with_lock`; the guard is a multi's.
---@field with_lock fun(self: any, fn: fun(guard: zklock.MultiGuard): any, options?: zklock.Seconds|zklock.AcquireOptions): true?, any

-- ## Ticket
--
-- What a call returns that does not wait.

--- What a call returns that does not wait.
---@class zklock.Ticket
local ticket = {}

--- Ends what the call has begun. Its callback hears `cancelled`, unless the end was first; a callback that is told who leads hears
--- nothing more. Twice does no harm.
---
--- ```lua
--- local guard = assert(session:mutex "/locks/orders":acquire(5))
--- local heard
--- local ticket = session:mutex "/locks/orders":acquire_async(function(_, _, code) heard = code end)
--- ticket:cancel()
--- while not heard do session:step() end
--- print(heard)   --> cancelled
--- guard:release()
--- ```
function ticket:cancel() end

---@meta _

-- # Lock
--
-- Mutexes, semaphores, multis and both sides of a rwlock have the same methods. Each acquisition returns a [guard](#guard).
--
-- **The owner of a hold** is the coroutine that acquired it, or the value of the option `owner`. The main chunk counts as a
-- coroutine. The owner can acquire a reentrant lock again at once. Each `lock:release` ends the owner's latest acquisition.

--- A lock: a mutex, a side of a rwlock, a semaphore or a multi.
---@class zklock.Lock
---
--- The path of the lock; for a multi, the paths of its parts, separated by commas.
---@field path string
local lock = {}

-- ## Two sides
--
-- `session:rwlock` returns both locks in one table.

--- The two locks of a rwlock.
---@class zklock.RWLock
---
--- The lock that many readers can hold at the same time.
---@field read zklock.Lock
---
--- The lock that one writer holds alone, without readers.
---@field write zklock.Lock

-- ## Acquiring

--- Waits until zklock has acquired the lock. With a timeout of 0, acquires the lock only if it is free
--- (doc/api.md#a-timeout-of-0).
---
--- An owner that already holds the lock gets `deadlock` if the lock is not reentrant, or if the wait could never end. If the
--- owner's hold was lost, `acquire` returns `lost` until you release the guard of this hold.
---
--- Codes: timeout, cancelled, lost, disconnected, closed, auth, denied, invalid, conflict, deadlock
---
--- ```lua
--- local mutex = session:mutex "/locks/orders"
--- local guard, message, code = mutex:acquire(5)
--- if not guard then error(message) end
--- print(guard:is_held())   --> true
--- guard:release()
--- ```
---@param options? zklock.Seconds|zklock.AcquireOptions
---@return zklock.Guard? guard
---@return string? message
---@return zklock.Code? code
function lock:acquire(options) end

--- Acquires the lock if it is free. Never waits for a holder to release it (doc/api.md#a-timeout-of-0).
---
--- Codes: busy, cancelled, lost, disconnected, closed, auth, denied, invalid, conflict, deadlock
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

--- Acquires the lock, calls `fn(guard)`, and releases the lock, even if `fn` raises an error.
---
--- Returns `true` and the results of `fn`. If zklock did not acquire the lock, or lost the lock before it called `fn`, returns
--- `nil, message, code`. If the hold was lost while `fn` ran, returns `nil, message, "lost"` and the results of `fn`. On Lua 5.1,
--- `fn` cannot yield.
---
--- Codes: timeout, cancelled, lost, disconnected, closed, auth, denied, invalid, conflict, deadlock
---
--- Raises: the error of `fn`, unchanged, after the release of the lock.
---
--- ```lua
--- local mutex = session:mutex "/locks/orders"
--- local ok, message, code = mutex:with_lock({ timeout = 5 }, function(guard)
---   print(guard:is_held())   --> true
--- end)
--- if not ok then print(code, message) end
--- ```
---@param options? zklock.Seconds|zklock.AcquireOptions
---@param fn fun(guard: zklock.Guard): any
---@return true? ok
---@return any ... the results of `fn`
---@overload fun(self: zklock.Lock, fn: fun(guard: zklock.Guard): any): true?, any
function lock:with_lock(options, fn) end

--- Begins to acquire the lock, and calls `fn` with the result. Unless you pass `owner`, each acquisition has a new owner. So the
--- acquisition waits even if the calling task already holds the lock.
---
--- ```lua
--- local done = false
--- session:mutex "/locks/orders":acquire_async({ timeout = 5 }, function(guard, message)
---   assert(guard, message)
---   guard:release()
---   done = true
--- end)
--- while not done do session:step() end
--- ```
---@param options? zklock.Seconds|zklock.AcquireOptions
---@param fn fun(guard?: zklock.Guard, message?: string, code?: zklock.Code)
---@return zklock.Ticket ticket
---@overload fun(self: zklock.Lock, fn: fun(guard?: zklock.Guard, message?: string, code?: zklock.Code)): zklock.Ticket
function lock:acquire_async(options, fn) end

--- Ends every wait of this lock object. The waits return `cancelled`, unless the lock was granted first.
function lock:cancel() end

-- ## Releasing and querying

--- Ends the calling task's latest acquisition of this lock, as `guard:release` does.
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

--- Asks a server for the current holders. The list is empty if the lock is free.
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
-- `session:multi` returns a multi. Its guard is a [guard of a multi](#guard-of-a-multi).

--- One lock over several: all or nothing.
---@class zklock.Multi: zklock.Lock
---
--- As `lock:acquire`.
---@field acquire fun(self: zklock.Multi, options?: zklock.Seconds|zklock.AcquireOptions): zklock.MultiGuard?, string?, zklock.Code?
---
--- As `lock:try_acquire`.
---@field try_acquire fun(self: zklock.Multi, options?: zklock.TryOptions): zklock.MultiGuard?, string?, zklock.Code?
---
--- As `lock:acquire_async`.
---@field acquire_async fun(self: any, options: any, fn: fun(guard?: zklock.MultiGuard, message?: string, code?: string)): zklock.Ticket
---
--- As `lock:with_lock`.
---@field with_lock fun(self: any, options: any, fn?: fun(guard: zklock.MultiGuard): any): true?, any

-- ## Ticket
--
-- Calls whose names end in `_async`, and `election:observe`, return a ticket.

--- Cancels what a call that does not wait has begun.
---@class zklock.Ticket
local ticket = {}

--- Ends the operation that the ticket represents. zklock calls the operation's `fn` with the code `cancelled`, unless the result
--- came first. After it has ended an `election:observe`, zklock does not call `fn` again.
---
--- ```lua
--- local guard = assert(session:mutex "/locks/orders":acquire(5))
--- local result
--- local ticket = session:mutex "/locks/orders":acquire_async(function(_, _, code) result = code end)
--- ticket:cancel()
--- while not result do session:step() end
--- print(result)   --> cancelled
--- guard:release()
--- ```
function ticket:cancel() end

---@meta _

-- # Lock
--
-- A mutex, each side of a rwlock, a semaphore and a multi have the same methods. A lock object holds nothing by itself: each
-- acquisition returns a [guard](#guard).
--
-- **The owner of a hold** is the task that acquired it: the running coroutine (the main chunk counts as one), or the value that an
-- adapter or the option `owner` gives. The owner can acquire the lock again at once (`reentrant`), and its `lock:release` ends its
-- innermost hold.
--
-- **A node that no session owns** (persistent, container, TTL) and that is named like a contender of the lock blocks the lock
-- until it is deleted, as in Curator and kazoo. The log and `zklock ls` name the node; `zklock evict` deletes it.
-- (doc/dev/protocol.md)
--
-- On Lua 5.1 the `fn` of `lock:with_lock` cannot yield, because a coroutine cannot yield across `pcall` there.

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

--- Waits until the lock is granted. In an event loop only the calling task waits.
---
--- With a timeout of 0 it takes a free lock and waits only for the server's reply; if the session is not connected, it returns
--- `disconnected` at once (doc/options.md). The message of `timeout` says how many contenders are ahead, and names the holder if
--- that is known without a request. An owner that already holds the lock gets `lost` if that hold was lost and its guard is not
--- released yet. It gets `deadlock` if the lock is not reentrant or the wait could never end.
---
--- Codes: timeout, cancelled, lost, disconnected, closed, auth, denied, invalid, conflict, deadlock
---
--- Raises: for unknown options; and where nothing can wait (a callback of a loop, some phases of nginx, a coroutine of an unknown
--- scheduler).
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

--- Takes the lock if it is free, and never waits for another holder. The message of `busy` names the holder if this session knows
--- it. The call waits for the server's reply; if the session is not connected, it returns `disconnected` at once.
---
--- Codes: busy, cancelled, lost, disconnected, closed, auth, denied, invalid, conflict, deadlock
---
--- Raises: as `lock:acquire`, and if `timeout` is given.
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
--- Returns `true` and the results of `fn`. If the lock was not granted, returns `nil, message, code` without calling `fn`. If the
--- hold was lost while `fn` ran, returns `nil, message, "lost"` and the results of `fn`.
---
--- Codes: timeout, cancelled, lost, disconnected, closed, auth, denied, invalid, conflict, deadlock
---
--- Raises: as `lock:acquire`; and what `fn` raises, unchanged, after the lock was released.
---
--- ```lua
--- local mutex = session:mutex "/locks/orders"
--- local ok, message, code = mutex:with_lock({ timeout = 5 }, function(guard)
---   print("the fencing token has " .. #guard:token() .. " digits")   --> the fencing token has 19 digits
--- end)
--- if not ok then print(code, message) end
--- ```
---@param options? zklock.Seconds|zklock.AcquireOptions the timeout in seconds, or a table. Default: no timeout
---@param fn fun(guard: zklock.Guard): any runs under the lock
---@return true? ok
---@return any ... the results of `fn`; or the message, the code, and after `lost` the results of `fn`
---@overload fun(self: zklock.Lock, fn: fun(guard: zklock.Guard): any): true?, any
function lock:with_lock(options, fn) end

--- Begins to acquire the lock and returns at once. Later `fn(guard)` or `fn(nil, message, code)` is called, from `session:step` or
--- in a task of the loop. The acquisition is an owner of its own, unless the option `owner` names one.
---
--- `fn` gets the codes of `lock:acquire`.
---
--- Raises: as `lock:acquire`, except where nothing can wait: there the call is allowed.
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
---@param options? zklock.Seconds|zklock.AcquireOptions the timeout in seconds, or a table. Default: no timeout
---@param fn fun(guard?: zklock.Guard, message?: string, code?: zklock.Code) is called with the result
---@return zklock.Ticket ticket ends the wait
---@overload fun(self: zklock.Lock, fn: fun(guard?: zklock.Guard, message?: string, code?: zklock.Code)): zklock.Ticket
function lock:acquire_async(options, fn) end

--- Ends every wait that was begun through this lock object with `cancelled`, unless its grant came first.
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

-- ## Releasing and querying

--- Releases the calling task's innermost hold of this lock, as `guard:release` does.
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

--- Asks a server for the current holders. The rows are those of `session:contenders`; the list is empty if the lock is free. For a
--- multi each row also has the `path` of its part.
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
-- A multi, which `session:multi` returns, has the methods of a lock. Its guard has `guard:tokens` in place of `guard:token`,
-- `guard:token_number` and `guard:turn`.

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
---@field with_lock fun(self: any, options: any, fn?: fun(guard: zklock.MultiGuard): any): true?, any

-- ## Ticket
--
-- A ticket cancels what a call with `_async`, or `election:observe`, has begun.

--- Cancels what a call that does not wait has begun.
---@class zklock.Ticket
local ticket = {}

--- Ends what the call has begun. Its callback is called with `cancelled`, unless the result came first. A callback of
--- `election:observe` is not called again. Calling it again does nothing.
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

---@meta _

-- # Double barrier
--
-- What `n` members enter together and leave together. A session may have a thousand members at a path. doc/elections.md says what the
-- others see of a member that dies.

--- What `n` members enter together and leave together.
---@class zklock.DoubleBarrier
---
--- The path that it was made for.
---@field path string
local double_barrier = {}

--- Waits until `n` members are there. The guard tells a loss as any other does. `deadlock` is for who is inside already.
---
--- Codes: timeout, cancelled, lost, disconnected, closed, auth, denied, invalid, conflict, deadlock
---
--- Raises: as `lock:acquire`.
---
--- ```lua
--- local gate = session:double_barrier("/barriers/load-test", 2)
--- print((select(3, gate:enter(0.05))))   --> timeout
--- ```
---@param options? zklock.Seconds|zklock.AcquireOptions how long to wait, or options. Default: wait for ever
---@return zklock.Guard? guard
---@return string? message
---@return zklock.Code? code
function double_barrier:enter(options) end

--- Begins to enter and returns at once: as `lock:acquire_async`.
---
--- ```lua
--- local gate, inside = session:double_barrier("/barriers/load-test", 2), 0
--- for _ = 1, 2 do
---   gate:enter_async(5, function(guard, message)
---     assert(guard, message)
---     inside = inside + 1
---   end)
--- end
--- while inside < 2 do session:step() end
--- ```
---@param options? zklock.Seconds|zklock.AcquireOptions may be left out. Default: wait for ever
---@param fn fun(guard?: zklock.Guard, message?: string, code?: zklock.Code) hears how it ends
---@return zklock.Ticket ticket ends the wait
---@overload fun(self: zklock.DoubleBarrier, fn: fun(guard?: zklock.Guard, message?: string, code?: zklock.Code)): zklock.Ticket
function double_barrier:enter_async(options, fn) end

--- Waits until all who were inside when it began have begun to leave, or are gone. Whatever it says, the caller is not inside any more;
--- `lost` if the hold had been lost. `guard:release` leaves, too, and waits for nobody.
---
--- Codes: timeout, cancelled, lost, disconnected, closed, auth, denied, invalid
---
--- Raises: if the calling task is not inside, and no `guard` says who is to leave.
---
--- ```lua
--- local gate = session:double_barrier("/barriers/load-test", 1)
--- local guard = assert(gate:enter(5))
--- print(gate:leave { guard = guard, timeout = 5 })   --> true
--- ```
---@param options? zklock.Seconds|zklock.LeaveOptions how long to wait, or options. Default: wait for ever
---@return true? ok
---@return string? message
---@return zklock.Code? code
function double_barrier:leave(options) end

--- Begins to leave and returns at once. `fn(true)` or `fn(nil, message, code)` is called from `session:step` or in a task of the loop.
---
--- Raises: as `double_barrier:leave`.
---
--- ```lua
--- local gate = session:double_barrier("/barriers/load-test", 1)
--- assert(gate:enter(5))
--- local left = false
--- gate:leave_async(5, function(ok, message) left = assert(ok, message) end)
--- while not left do session:step() end
--- ```
---@param options? zklock.Seconds|zklock.LeaveOptions may be left out. Default: wait for ever
---@param fn fun(ok?: true, message?: string, code?: zklock.Code) hears how it ends
---@return zklock.Ticket ticket waits for the others no more
---@overload fun(self: zklock.DoubleBarrier, fn: fun(ok?: true, message?: string, code?: zklock.Code)): zklock.Ticket
function double_barrier:leave_async(options, fn) end

--- Ends every wait that was begun through this object: each hears `cancelled`. Who enters does not; who leaves has left.
---
--- ```lua
--- session:double_barrier("/barriers/load-test", 2):cancel()
--- ```
function double_barrier:cancel() end

---@meta _

-- # Double barrier
--
-- A double barrier lets `n` members enter together and leave together. No member enters before `n` have arrived; no member leaves
-- before all have begun to leave.
--
-- If a member stops waiting to enter, for example after a timeout, the other members wait for another member. But if the last
-- member arrives at that moment, the other members can enter without the member that has stopped waiting. If a member dies
-- inside, the other members treat it as having left when its session expires.
--
-- A member that arrives while `n` members are inside joins them. If some of these members have already left, the new member waits
-- for the next group of `n` members.

--- A double barrier lets `n` members enter together and leave together.
---@class zklock.DoubleBarrier
---
--- The path of the double barrier.
---@field path string
local double_barrier = {}

--- Waits until `n` members have arrived, and returns a guard. If the calling task is already inside, returns `deadlock`.
---
--- Codes: timeout, cancelled, lost, disconnected, closed, auth, denied, invalid, conflict, deadlock
---
--- ```lua
--- local gate = session:double_barrier("/barriers/load-test", 2)
--- print((select(3, gate:enter(0.05))))   --> timeout
--- ```
---@param options? zklock.Seconds|zklock.AcquireOptions
---@return zklock.Guard? guard
---@return string? message
---@return zklock.Code? code
function double_barrier:enter(options) end

--- Begins to enter, and calls `fn` with the result.
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
---@param options? zklock.Seconds|zklock.AcquireOptions
---@param fn fun(guard?: zklock.Guard, message?: string, code?: zklock.Code)
---@return zklock.Ticket ticket
---@overload fun(self: zklock.DoubleBarrier, fn: fun(guard?: zklock.Guard, message?: string, code?: zklock.Code)): zklock.Ticket
function double_barrier:enter_async(options, fn) end

--- Waits until each member that was inside at the time of the call has begun to leave or is gone. Whatever `leave` returns, the
--- caller is no longer inside. If the hold was already lost, returns `lost`. `guard:release` also leaves, but does not wait.
---
--- Codes: timeout, cancelled, lost, disconnected, closed, auth, denied, invalid
---
--- Raises: if the calling task is not inside, and you do not pass the option `guard`.
---
--- ```lua
--- local gate = session:double_barrier("/barriers/load-test", 1)
--- local guard = assert(gate:enter(5))
--- print(gate:leave { guard = guard, timeout = 5 })   --> true
--- ```
---@param options? zklock.Seconds|zklock.LeaveOptions
---@return true? ok
---@return string? message
---@return zklock.Code? code
function double_barrier:leave(options) end

--- Begins to leave, and calls `fn` with the result.
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
---@param options? zklock.Seconds|zklock.LeaveOptions
---@param fn fun(ok?: true, message?: string, code?: zklock.Code)
---@return zklock.Ticket ticket
---@overload fun(self: zklock.DoubleBarrier, fn: fun(ok?: true, message?: string, code?: zklock.Code)): zklock.Ticket
function double_barrier:leave_async(options, fn) end

--- Ends every wait of this object. Each pending `enter` and `leave` returns `cancelled`. After a cancelled `enter`, the member is
--- not inside. After a cancelled `leave`, the member has left, but has not waited for the other members.
function double_barrier:cancel() end

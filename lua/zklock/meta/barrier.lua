---@meta _

-- # Barrier
--
-- A barrier blocks waiters until a process lifts it. It is a persistent node at its path and outlives the process that has set
-- it. A waiter that begins after the barrier was set and before it is lifted does not pass, whichever server answers.

--- A barrier blocks waiters until a process lifts it.
---@class zklock.Barrier
---
--- The path of the barrier.
---@field path string
local barrier = {}

--- Closes the barrier: later `wait` calls block until `lift`. Returns `invalid` if a session owns the node at the path.
---
--- Codes: disconnected, closed, auth, denied, invalid
---
--- ```lua
--- local barrier = session:barrier "/barriers/migration"
--- print(barrier:set())   --> true	true
--- print(barrier:set())   --> true	false
--- ```
---@return true? ok
---@return boolean|string changed true: it was not set before
---@return zklock.Code? code
function barrier:set() end

--- Opens the barrier: all waiters continue.
---
--- Codes: disconnected, closed, auth, denied, invalid
---
--- ```lua
--- local barrier = session:barrier "/barriers/migration"
--- print(barrier:lift())   --> true	false
--- ```
---@return true? ok
---@return boolean|string changed true: it was set before
---@return zklock.Code? code
function barrier:lift() end

--- Asks a server whether the barrier is set.
---
--- Codes: disconnected, closed, auth, denied, invalid
---
--- ```lua
--- print(session:barrier "/barriers/migration":is_set())   --> false
--- ```
---@return boolean? is_set
---@return string? message
---@return zklock.Code? code
function barrier:is_set() end

--- Waits until the barrier is not set, or was not set for a moment. The wait continues through lost connections and expired
--- sessions. A thousand waiters of one session use one watch.
---
--- Codes: timeout, cancelled, disconnected, closed, auth, denied, invalid
---
--- ```lua
--- local barrier = session:barrier "/barriers/migration"
--- print(barrier:wait(5))                   --> true
--- barrier:set()
--- print((select(3, barrier:wait(0.05))))   --> timeout
--- ```
---@param options? zklock.Seconds|zklock.WaitOptions
---@return true? ok
---@return string? message
---@return zklock.Code? code
function barrier:wait(options) end

--- Begins to wait, and calls `fn` with the result.
---
--- ```lua
--- local passed = false
--- session:barrier "/barriers/migration":wait_async(5, function(ok, message)
---   passed = assert(ok, message)
--- end)
--- while not passed do session:step() end
--- ```
---@param options? zklock.Seconds|zklock.WaitOptions
---@param fn fun(ok?: true, message?: string, code?: zklock.Code)
---@return zklock.Ticket ticket
---@overload fun(self: zklock.Barrier, fn: fun(ok?: true, message?: string, code?: zklock.Code)): zklock.Ticket
function barrier:wait_async(options, fn) end

--- Ends every wait that was begun through this object. The waits return `cancelled`.
function barrier:cancel() end

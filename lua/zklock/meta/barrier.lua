---@meta _

-- # Barrier
--
-- A barrier blocks waiters until a process lifts it. The barrier is a persistent node, so it outlives the process that has set
-- it. Between `set` and `lift`, each new waiter blocks, even if its server lags behind.

--- A barrier blocks waiters until a process lifts it.
---@class zklock.Barrier
---
--- The path of the barrier.
---@field path string
local barrier = {}

--- Closes the barrier: later `wait` calls block until `lift`. If the node at the path is ephemeral, returns `invalid`.
---
--- Codes: disconnected, closed, auth, denied, invalid
---
--- ```lua
--- local barrier = session:barrier "/barriers/migration"
--- print(barrier:set())   --> true	true
--- print(barrier:set())   --> true	false
--- ```
---@return true? ok
---@return boolean|string changed true if the barrier was not set before
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
---@return boolean|string changed true if the barrier was set before
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

--- Waits until the barrier is lifted, or returns at once if it is not set. A waiter also passes if a process lifts the barrier
--- and sets it again at once. The wait continues across lost connections and expired sessions.
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

--- Ends every wait of this object. The waits return `cancelled`.
function barrier:cancel() end

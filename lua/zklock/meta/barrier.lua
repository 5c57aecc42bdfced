---@meta _

-- # Barrier
--
-- A barrier holds back who waits for it, until somebody lifts it. It is a persistent node at its path, and outlives who has set
-- it. Nobody passes who has come after it was set and before it is lifted, whichever server answers. doc/elections.md has the details.

--- What holds back who waits for it, until somebody lifts it.
---@class zklock.Barrier
---
--- The path that it was made for.
---@field path string
local barrier = {}

--- Makes who waits from now on wait. `invalid` if a session owns the node that is there.
---
--- Codes: disconnected, closed, auth, denied, invalid
---
--- ```lua
--- local barrier = session:barrier "/barriers/migration"
--- print(barrier:set())   --> true	true
--- print(barrier:set())   --> true	false
--- ```
---@return true? ok
---@return boolean|string changed it was not set before
---@return zklock.Code? code
function barrier:set() end

--- Lets everybody go on who waits.
---
--- Codes: disconnected, closed, auth, denied, invalid
---
--- ```lua
--- local barrier = session:barrier "/barriers/migration"
--- print(barrier:lift())   --> true	false
--- ```
---@return true? ok
---@return boolean|string changed it was set
---@return zklock.Code? code
function barrier:lift() end

--- Asks a server.
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

--- Waits until the barrier is not set, or was not for a moment. It goes on through lost connections and sessions. A thousand waiters of one
--- session cost one watch.
---
--- Codes: timeout, cancelled, disconnected, closed, auth, denied, invalid
---
--- Raises: where nothing can wait.
---
--- ```lua
--- local barrier = session:barrier "/barriers/migration"
--- print(barrier:wait(5))                   --> true
--- barrier:set()
--- print((select(3, barrier:wait(0.05))))   --> timeout
--- ```
---@param options? zklock.Seconds|zklock.WaitOptions how long to wait. Default: wait for ever
---@return true? ok
---@return string? message
---@return zklock.Code? code
function barrier:wait(options) end

--- Begins to wait and returns at once. `fn(true)` or `fn(nil, message, code)` is called from `session:step` or in a task of the loop.
---
--- ```lua
--- local passed = false
--- session:barrier "/barriers/migration":wait_async(5, function(ok, message)
---   passed = assert(ok, message)
--- end)
--- while not passed do session:step() end
--- ```
---@param options? zklock.Seconds|zklock.WaitOptions may be left out. Default: wait for ever
---@param fn fun(ok?: true, message?: string, code?: zklock.Code) hears how it ends
---@return zklock.Ticket ticket ends the wait
---@overload fun(self: zklock.Barrier, fn: fun(ok?: true, message?: string, code?: zklock.Code)): zklock.Ticket
function barrier:wait_async(options, fn) end

--- Ends every wait that was begun through this object: each hears `cancelled`.
---
--- ```lua
--- session:barrier "/barriers/migration":cancel()
--- ```
function barrier:cancel() end

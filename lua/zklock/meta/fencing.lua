---@meta _

-- ## Fencing
--
-- All guards except a multi's have these methods:

---@class zklock.Guard: zklock.AnyGuard
local guard = {}

--- Returns the fencing token, a string of 19 digits. All tokens have this length, so comparing them as strings also compares them
--- as numbers. The token grows with each new hold of the path, across processes and restarts, as long as the servers keep their
--- data. If the owner acquires the lock again, the token stays the same. After a downgrade the reader keeps the writer's token.
---
--- ```lua
--- local mutex = session:mutex "/locks/orders"
--- local first, second
--- mutex:with_lock(function(guard) first = guard:token() end)
--- mutex:with_lock(function(guard) second = guard:token() end)
--- print(first < second)   --> true
--- mutex:with_lock(function(guard) print(guard:token_number() > 0) end)   --> true
--- ```
---@return string token
function guard:token() end

--- Returns the fencing token as a number, for a resource that needs a number.
---
--- Raises: if this Lua cannot represent the token exactly (above 2^53 on Lua 5.1 and LuaJIT).
---@return integer token
function guard:token_number() end

--- Returns how many earlier holds have used this hold's node. With the option `local_turns`, the tasks of a session can pass one
--- node to each other, so their holds have the same token. To find the newer of two holds, compare their tokens first. If the
--- tokens are equal, compare the turns.
---
--- ```lua
--- local guard = assert(session:mutex("/locks/orders", { local_turns = 3 }):acquire(5))
--- print(guard:turn())   --> 0
--- guard:release()
--- ```
---@return integer turn
function guard:turn() end

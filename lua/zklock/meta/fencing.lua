---@meta _

-- ## Fencing
--
-- The guard of every lock but a multi has these.

---@class zklock.Guard: zklock.AnyGuard
local guard = {}

--- The fencing token: 19 digits, so `<` on strings is right everywhere. It grows with every new hold of the path: across processes,
--- restarts, and a path that is deleted and made again, as long as the servers keep their data. (A reader that a writer has become
--- keeps the writer's.) A re-entry has the token of the hold.
---
--- ```lua
--- local mutex = session:mutex "/locks/orders"
--- local first, second
--- mutex:with_lock(function(guard) first = guard:token() end)
--- mutex:with_lock(function(guard) second = guard:token() end)
--- print(first < second)   --> true
--- ```
---@return string token
function guard:token() end

--- The fencing token as a number, for a resource that wants one.
---
--- Raises: if it is not exact as a number of this Lua (above 2^53 on Lua 5.1 and LuaJIT).
---
--- ```lua
--- local guard = assert(session:mutex "/locks/orders":acquire(5))
--- print(guard:token_number() == tonumber(guard:token()))   --> true
--- guard:release()
--- ```
---@return integer token
function guard:token_number() end

--- How many local turns (option `handoffs`) our node has had before this one: 0, 1, … Tasks that share a node share its token, so token
--- and turn fence together.
---
--- ```lua
--- local guard = assert(session:mutex("/locks/orders", { handoffs = 3 }):acquire(5))
--- print(guard:turn())   --> 0
--- guard:release()
--- ```
---@return integer turn
function guard:turn() end

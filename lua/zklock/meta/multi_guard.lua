---@meta _

-- ## Guard of a multi
--
-- Each part of a multi has its own token, and no single token orders two multis that share only some of their parts. So a multi's
-- guard has `guard:tokens` in place of `guard:token`, `guard:token_number` and `guard:turn`. It has all other methods of a guard.

--- The guard of a multi.
---@class zklock.MultiGuard: zklock.AnyGuard
---
--- As `guard:on_lost`; the callback gets the multi's guard.
---@field on_lost fun(self: any, fn: fun(guard: zklock.MultiGuard, reason: zklock.Reason, message: string)): zklock.MultiGuard
---
--- As `guard:on_revoke`; the callback gets the multi's guard.
---@field on_revoke fun(self: zklock.MultiGuard, fn: fun(guard: zklock.MultiGuard)): zklock.MultiGuard
local guard = {}

--- Returns the fencing token and turn of each part of a multi, by the part's path. Each resource compares the entry of its own
--- path: first the tokens, as strings, and if these are equal the turns.
---
--- ```lua
--- local guard = assert(session:multi { session:mutex "/locks/from", session:mutex "/locks/to" }:acquire(5))
--- for path, part in pairs(guard:tokens()) do
---   print(("%s: a token of %d digits, turn %d"):format(path, #part.token, part.turn))
--- end
--- guard:release()
--- ```
---@return table<string, zklock.PartToken> tokens by the path of the part
function guard:tokens() end

--- The token and turn that fence one part of a multi.
---@class zklock.PartToken
---
--- The fencing token of the part's hold.
---@field token string
---
--- How many local turns (option `local_turns`) the part's node has had before this one: 0, 1, …
---@field turn integer

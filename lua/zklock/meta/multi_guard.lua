---@meta _

-- ## Guard of a multi
--
-- Each part of a multi has its own token, so a multi's guard has `guard:tokens` in place of `guard:token`, `guard:token_number`
-- and `guard:turn`. It has all other methods of a guard.

--- The guard of a multi.
---@class zklock.MultiGuard: zklock.AnyGuard
---
--- As `guard:on_lost`.
---@field on_lost fun(self: any, fn: fun(guard: zklock.MultiGuard, reason: zklock.Reason, message: string)): zklock.MultiGuard
---
--- As `guard:on_revoke`.
---@field on_revoke fun(self: zklock.MultiGuard, fn: fun(guard: zklock.MultiGuard)): zklock.MultiGuard
local guard = {}

--- Returns the fencing token and turn of each part. Each resource compares the values of its own path: first the tokens, as
--- strings, and then, if the tokens are equal, the turns.
---@return table<string, zklock.PartToken> tokens by the path of the part
function guard:tokens() end

--- The token and turn that fence one part of a multi.
---@class zklock.PartToken
---
--- The fencing token of the part's hold.
---@field token string
---
--- The turn of the part's node, as `guard:turn`.
---@field turn integer

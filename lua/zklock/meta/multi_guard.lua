---@meta _

-- ## Guard of a multi
--
-- Each part of a multi has its own token. So a multi's guard has `guard:tokens` in place of `guard:token`, `guard:token_number`
-- and `guard:turn`. All other methods are the same.

--- The guard of a multi.
---@class zklock.MultiGuard: zklock.AnyGuard
---
--- As `guard:on_lost`.
---@field on_lost fun(self: any, fn: fun(guard: zklock.MultiGuard, reason: zklock.Reason, message: string)): zklock.MultiGuard
---
--- As `guard:on_revoke`.
---@field on_revoke fun(self: zklock.MultiGuard, fn: fun(guard: zklock.MultiGuard)): zklock.MultiGuard
local guard = {}

--- Returns the fencing token and the turn of each part. A resource compares only the values for the path that protects it. It
--- compares the tokens first, as strings. If the tokens are equal, it compares the turns.
---@return table<string, zklock.PartToken> tokens with the path of the part as key
function guard:tokens() end

--- The token and turn that fence one part of a multi.
---@class zklock.PartToken
---
--- The fencing token of the part's hold.
---@field token string
---
--- The turn of the part's hold, as `guard:turn` returns it.
---@field turn integer

---@meta _

-- # Guard
--
-- A successful acquisition returns a guard. The guard releases the lock, and reports whether this process still holds it. Since
-- Lua 5.4 `local guard <close> = assert(mutex:acquire(5))` releases the lock at the end of the block.
--
-- **Call `guard:is_held` before each part of the work.** A process can still be paused between this call and its write. If a late
-- write would do harm, send the fencing token, `guard:token`, with each write. The resource must refuse a token that is smaller
-- than the largest token that it has seen.

--- The guard of every lock except a multi.
---@class zklock.Guard: zklock.AnyGuard

--- A hold of a lock: it releases the lock and reports whether this process still holds it. All guards have these methods.
---@class zklock.AnyGuard
---
--- The `path` of the lock object.
---@field path string
---
--- The path of the hold's node, without the chroot; for a multi, the paths of all its nodes, separated by commas.
---@field node string
local guard = {}

--- Releases the lock. Returns as soon as zklock guarantees the release: if the connection is down, zklock deletes the node when
--- it reconnects, or the servers delete it when the session expires. With `wait = true`, returns after a server has confirmed the
--- release. A second call returns the result of the first.
---
--- If the lock was already lost, runs the `guard:on_lost` callbacks and returns `lost`. If an ACL forbids the deletion,
--- `release()` returns `true` and logs an error, but `release { wait = true }` returns `denied`.
---
--- Codes: lost, closed, auth, denied
---
--- ```lua
--- local guard = assert(session:mutex "/locks/orders":acquire(5))
--- assert(guard:release { wait = true })
--- print(guard:state(), guard:lease())     --> released	0
--- ```
---@param options? zklock.ReleaseOptions
---@return true? ok
---@return string? message
---@return zklock.Code? code
function guard:release(options) end

--- Returns whether this process holds the lock. `is_held` compares the lease with the local clock and sends no request, so call
--- it in every loop. Even without a connection, it returns false before another client can acquire the lock.
---
--- ```lua
--- local guard = assert(session:mutex "/locks/orders":acquire(5))
--- for part = 1, 3 do
---   if not guard:is_held() then break end
---   print("part " .. part)   --> part 1
--- end
--- guard:release()
--- print(guard:is_held())     --> false
--- ```
---@return boolean held
function guard:is_held() end

--- Returns how many seconds `guard:is_held` stays true without a reply from a server, or 0 if the lock is not held. `lease` sends
--- no request.
---@return zklock.Seconds lease
function guard:lease() end

--- Asks a server whether this session still holds the lock. If the hold is lost, runs the `guard:on_lost` callbacks before it
--- returns.
---
--- Codes: lost, disconnected, closed, auth, denied, invalid
---@return true? ok
---@return string? message
---@return zklock.Code? code
function guard:verify() end

--- Returns the state of the hold, without a request.
---@return zklock.GuardState state
function guard:state() end

--- Returns why the hold was lost, or nil if zklock has detected no loss. The reason can still be nil after `is_held()` has
--- returned false. `guard:release` and `guard:verify` then detect the loss and its reason.
---@return zklock.Reason? reason
function guard:reason() end

--- Calls `fn(guard, reason, message)` once, when the hold is lost. If the hold is already lost, calls `fn` at once. `fn` can also
--- run inside the call that detects the loss (see doc/errors.md). `fn` can acquire and release locks, and close the session.
---
--- ```lua
--- local mutex = session:mutex("/locks/orders", { max_hold = 0.05 })
--- local guard = assert(mutex:acquire(5))
--- guard:on_lost(function(_, reason, message)
---   print(reason, #message > 0)   --> max_hold_reached	true
--- end)
--- while guard:is_held() do session:step() end
--- guard:release()
--- print(guard:reason())   --> max_hold_reached
--- ```
---@param fn fun(guard: zklock.Guard, reason: zklock.Reason, message: string)
---@return zklock.Guard guard itself
function guard:on_lost(fn) end

--- Calls `fn(guard)` once, when a client asks for the lock by `session:revoke` or `zklock revoke`. The lock stays held until your
--- program releases it, for example at the next safe point. A multi's guard calls `fn` when a client asks for any of its parts.
---
--- ```lua
--- local guard = assert(session:mutex "/locks/orders":acquire(5))
--- local wanted = false
--- guard:on_revoke(function() wanted = true end)
--- print(session:revoke "/locks/orders")   --> 1
--- while not wanted do session:step() end
--- guard:release()
--- ```
---@param fn fun(guard: zklock.Guard)
---@return zklock.Guard guard itself
function guard:on_revoke(fn) end

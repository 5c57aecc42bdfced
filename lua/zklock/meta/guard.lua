---@meta _

-- # Guard
--
-- A successful acquisition returns a guard, which releases the lock and reports whether this process still holds it.
--
-- **Call `guard:is_held` before each part of the work.** Time can pass between that call and the arrival of your write, because a
-- process can be paused for longer than any lease. If a late write must not happen, send the fencing token, `guard:token`, to the
-- resource, which refuses a token smaller than one it has seen.
--
-- Since Lua 5.4 `local guard <close> = assert(mutex:acquire(5))` releases at the end of the block.

--- The guard of every lock except a multi.
---@class zklock.Guard: zklock.AnyGuard

--- A hold of a lock: it releases the lock and reports whether this process still holds it. All guards have these methods.
---@class zklock.AnyGuard
---
--- The path of the lock; for a multi, the paths of its parts, separated by commas.
---@field path string
---
--- The path of the hold's node, without the chroot; for a multi, the paths of the nodes of all parts, separated by commas.
---@field node string
local guard = {}

--- Releases the lock. Returns as soon as zklock guarantees the release: if the connection is down, zklock deletes the node when it
--- reconnects, or the servers delete it when the session expires. With `wait = true`, returns after a server has confirmed the
--- release. Calling it again returns the first result.
---
--- If the lock was already lost, runs the `guard:on_lost` callbacks and returns `nil, message, "lost"`. If an ACL does not let the
--- session delete its node, `release()` returns `true` and logs an error; with `wait` it returns `denied` (doc/paths.md).
---
--- Codes: lost, closed, auth, denied
---
--- Raises: for unknown options.
---
--- ```lua
--- local guard = assert(session:mutex "/locks/orders":acquire(5))
--- assert(guard:release { wait = true })   -- now another client can acquire it
--- print((guard:release()))                --> true
--- ```
---@param options? zklock.ReleaseOptions
---@return true? ok
---@return string? message
---@return zklock.Code? code
function guard:release(options) end

--- Returns whether this process holds the lock, proven by its own clock. It sends no request and costs almost nothing, so call it
--- in every loop. It returns false from the moment at which a server could grant the lock to another client, even if no server can
--- be reached.
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

--- Returns for how many seconds `guard:is_held` stays true without a reply from a server; 0 if the lock is not held. It sends no
--- request.
---
--- ```lua
--- local guard = assert(session:mutex "/locks/orders":acquire(5))
--- print(guard:lease() > 0)   --> true
--- guard:release()
--- print(guard:lease())       --> 0
--- ```
---@return zklock.Seconds lease
function guard:lease() end

--- Asks a server whether this session still holds the lock. It waits for the reply, which costs a round trip; `guard:is_held` does
--- not. If the hold is lost, it runs the `guard:on_lost` callbacks before it returns.
---
--- Codes: lost, disconnected, closed, auth, denied, invalid
---
--- ```lua
--- local guard = assert(session:mutex "/locks/orders":acquire(5))
--- print(guard:verify())              --> true
--- guard:release()
--- print((select(3, guard:verify()))) --> lost
--- ```
---@return true? ok
---@return string? message
---@return zklock.Code? code
function guard:verify() end

--- Returns the state of the hold, without a request.
---
--- ```lua
--- local guard = assert(session:mutex "/locks/orders":acquire(5))
--- print(guard:state())   --> held
--- guard:release()
--- print(guard:state())   --> released
--- ```
---@return zklock.GuardState state
function guard:state() end

--- Returns why the hold was lost; nil if it was not lost, or if the loss was not reported or found yet. After `is_held()` has
--- returned false, `guard:release` and `guard:verify` find it.
---
--- ```lua
--- local guard = assert(session:mutex("/locks/orders", { max_hold = 0.05 }):acquire(5))
--- while guard:state() ~= "lost" do session:step() end
--- print(guard:reason())   --> max_hold_reached
--- guard:release()
--- ```
---@return zklock.Reason? reason
function guard:reason() end

--- Calls `fn(guard, reason, message)` once, when the hold is lost; at once if it is already lost. The message is the one that
--- `guard:release` returns. The callback runs in a call that waits, in `session:step`, or in the call that finds the loss:
--- doc/errors.md has the details. The callback can acquire, release and close.
---
--- Raises: if `fn` is not callable.
---
--- ```lua
--- local mutex = session:mutex("/locks/orders", { max_hold = 0.05 })
--- local guard = assert(mutex:acquire(5))
--- guard:on_lost(function(_, reason, message)
---   print(reason, #message > 0)   --> max_hold_reached	true
--- end)
--- while guard:is_held() do session:step() end
--- guard:release()         -- runs the callback, if it has not run yet
--- ```
---@param fn fun(guard: zklock.Guard, reason: zklock.Reason, message: string) the callback
---@return zklock.Guard guard itself
function guard:on_lost(fn) end

--- Calls `fn(guard)` once, from `session:step` or in a task of the loop, when a client asks for the lock by `session:revoke` or
--- `zklock revoke`. The holder decides: it stops at the next safe point and releases. The guard of a multi calls it when a client
--- asks for any of the parts.
---
--- Raises: if `fn` is not callable.
---
--- ```lua
--- local guard = assert(session:mutex "/locks/orders":acquire(5))
--- local wanted = false
--- guard:on_revoke(function() wanted = true end)
--- print(session:revoke "/locks/orders")   --> 1
--- while not wanted do session:step() end
--- guard:release()
--- ```
---@param fn fun(guard: zklock.Guard) the callback
---@return zklock.Guard guard itself
function guard:on_revoke(fn) end

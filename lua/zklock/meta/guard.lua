---@meta _

-- # Guard
--
-- A guard is what a successful acquisition returns: the right to release, and the place to ask whether the lock is still ours.
--
-- **Look before each part of the work.** Between `guard:is_held` saying true and your write arriving, time may pass, for a process
-- may be paused for longer than any lease. Where a late write must not happen, give the resource the fencing token,
-- `guard:token`, and let it refuse a smaller one than it has seen.
--
-- On Lua 5.4 `local guard <close> = assert(mutex:acquire(5))` releases at the end of the block.

--- The guard of every lock but a multi.
---@class zklock.Guard: zklock.AnyGuard

--- A hold of a lock: the right to release it, and the place to ask whether it is still ours. All guards have this.
---@class zklock.AnyGuard
---
--- The lock's path; of a multi those of its parts, with commas between them.
---@field path string
---
--- The path of our node, without the chroot; of a multi those of all parts, with commas between them.
---@field node string
local guard = {}

--- Gives the lock back. It returns as soon as that is guaranteed, whatever becomes of the connection; with `wait = true` when a server
--- has confirmed it. The second time it returns what it did the first time.
---
--- If the hold had been lost before, it is `nil, message, "lost"`, and `guard:on_lost` callbacks run before it returns. If an ACL forbids
--- us to delete our node, plain `release()` is `true` and the log is told; with `wait` it is `denied` (doc/paths.md).
---
--- Codes: lost, closed, auth, denied
---
--- Raises: for unknown options.
---
--- ```lua
--- local guard = assert(session:mutex "/locks/orders":acquire(5))
--- assert(guard:release { wait = true })   -- from here on somebody else can have it
--- print((guard:release()))                --> true
--- ```
---@param options? zklock.ReleaseOptions
---@return true? ok
---@return string? message
---@return zklock.Code? code
function guard:release(options) end

--- Do we hold the lock, provably, by this process's own clock? It asks nobody and costs next to nothing, so call it in every
--- loop. It is false from the moment at which a server might give the lock away, also if nobody could tell us.
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

--- For how many seconds `guard:is_held` stays true without hearing from a server. It asks nobody. 0 if the lock is not held.
---
--- ```lua
--- local guard = assert(session:mutex "/locks/orders":acquire(5))
--- print(guard:lease() > 0)   --> true
--- guard:release()
--- print(guard:lease())       --> 0
--- ```
---@return zklock.Seconds lease
function guard:lease() end

--- Asks a server whether the lock is ours. It waits for the answer, which costs a round trip; `guard:is_held` does not.
--- When it finds the hold lost, `guard:on_lost` callbacks run before it returns.
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

--- The state of the hold, in a word. It asks nobody.
---
--- ```lua
--- local guard = assert(session:mutex "/locks/orders":acquire(5))
--- print(guard:state())   --> held
--- guard:release()
--- print(guard:state())   --> released
--- ```
---@return zklock.GuardState state
function guard:state() end

--- Why the hold was lost; nil if it was not, or if that has not been told or found out yet: after an `is_held()` that is false
--- `guard:release` and `guard:verify` find it out.
---
--- ```lua
--- local guard = assert(session:mutex("/locks/orders", { max_hold = 0.05 }):acquire(5))
--- while guard:state() ~= "lost" do session:step() end
--- print(guard:reason())   --> max_hold
--- guard:release()
--- ```
---@return zklock.Reason? reason
function guard:reason() end

--- `fn(guard, code, reason)` is called once, when the hold is lost; at once, if it already is. The code is `lost`, or `expired` if the
--- session is over as well. It runs in a call that waits, in `session:step`, or in the call that finds the loss out: doc/losses.md says in
--- which. It may acquire, release and close.
---
--- Raises: for what cannot be called.
---
--- ```lua
--- local mutex = session:mutex("/locks/orders", { max_hold = 0.05 })
--- local guard = assert(mutex:acquire(5))
--- guard:on_lost(function(_, code, reason)
---   print(code, reason)   --> lost	max_hold
--- end)
--- while guard:is_held() do session:step() end
--- guard:release()         -- at the latest here it is told
--- ```
---@param fn fun(guard: zklock.Guard, code: zklock.Code, reason: zklock.Reason) hears of the loss
---@return zklock.Guard guard itself
function guard:on_lost(fn) end

--- `fn(guard)` is called once, from `session:step` or in a task of the loop, when somebody asks for the lock by `session:revoke` or
--- `zklock revoke`. The holder decides: it stops at the next safe point and releases. Of a multi it is called when somebody asks for
--- any of the parts.
---
--- Raises: for what cannot be called.
---
--- ```lua
--- local guard = assert(session:mutex "/locks/orders":acquire(5))
--- local wanted = false
--- guard:on_revoke(function() wanted = true end)
--- print(session:revoke "/locks/orders")   --> 1
--- while not wanted do session:step() end
--- guard:release()
--- ```
---@param fn fun(guard: zklock.Guard) hears of the wish
---@return zklock.Guard guard itself
function guard:on_revoke(fn) end

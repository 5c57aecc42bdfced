---@meta _

-- # Election
--
-- In an election one of many processes leads. The leader holds the mutex of the path: two processes never both believe that they
-- lead, a loss has a reason, and `guard:token` fences. **A leader can be deposed before it is notified**: check `guard:is_held`
-- before each part of the work, as under any lock. doc/elections.md has the details.

--- An election, in which one of many processes leads.
---@class zklock.Election
---
--- The path of the election.
---@field path string
local election = {}

--- Waits until the calling task leads. If it already leads, returns `deadlock`.
---
--- Codes: timeout, cancelled, lost, disconnected, closed, auth, denied, invalid, conflict, deadlock
---
--- Raises: as `lock:acquire`.
---
--- ```lua
--- local guard = assert(session:election "/elections/primary":campaign(5))
--- print(guard:is_held())   --> true
--- guard:release()
--- ```
---@param options? zklock.Seconds|zklock.AcquireOptions how long to wait, or options. Default: wait for ever
---@return zklock.Guard? guard
---@return string? message
---@return zklock.Code? code
function election:campaign(options) end

--- Begins to campaign and returns at once, as `lock:acquire_async` does.
---
--- ```lua
--- local leads
--- session:election "/elections/primary":campaign_async(5, function(guard, message)
---   leads = assert(guard, message)
--- end)
--- while not leads do session:step() end
--- leads:release()
--- ```
---@param options? zklock.Seconds|zklock.AcquireOptions the timeout in seconds, or a table. Default: no timeout
---@param fn fun(guard?: zklock.Guard, message?: string, code?: zklock.Code) is called with the result
---@return zklock.Ticket ticket ends the campaign
---@overload fun(self: zklock.Election, fn: fun(guard?: zklock.Guard, message?: string, code?: zklock.Code)): zklock.Ticket
function election:campaign_async(options, fn) end

--- Ends every campaign that was begun through this object, including that of `election:run`, with `cancelled`.
---
--- ```lua
--- session:election "/elections/primary":cancel()
--- ```
function election:cancel() end

--- Campaigns, calls `fn(guard)` while it leads, releases the leadership when `fn` returns, and campaigns again from the end of the
--- queue. Returns `true` after `election:stop`, or an error if a campaign fails. It never runs two calls of `fn` at the same time.
---
--- If `fn` raises an error, `run` first releases the leadership and then calls `on_error(problem)`. Without `on_error` it logs the
--- error; without `log` it raises the error itself. After the error it pauses without campaigning: `backoff` seconds, doubled with
--- each error in a row up to `max_backoff`, half of it jitter.
---
--- If `fn` continues after a loss or after `election:resign`, another process can lead meanwhile; `run` waits until `fn` returns.
--- If `fn` never returns, the process leads for as long as the hold lasts (see `max_hold`).
---
--- Codes: cancelled, lost, disconnected, closed, auth, denied, invalid, conflict, deadlock
---
--- Raises: if `run` is already running through this object, and where nothing can wait; and what a hook (Ctrl-C) raises.
---
--- ```lua
--- local election = session:election "/elections/primary"
--- assert(election:run(function(guard)
---   print("leads", guard:is_held())   --> leads	true
---   election:stop()
--- end))
--- ```
---@param options? zklock.RunOptions a table
---@param fn fun(guard: zklock.Guard) what the leader does
---@return true? ok
---@return string? message
---@return zklock.Code? code
---@overload fun(self: zklock.Election, fn: fun(guard: zklock.Guard)): true?, string?, zklock.Code?
function election:run(options, fn) end

--- Ends `election:run`: at once if it campaigns or pauses. A running `fn` is not interrupted; it can check `election:is_stopping`.
---
--- ```lua
--- session:election "/elections/primary":stop()   -- nothing runs: nothing happens
--- ```
function election:stop() end

--- Returns whether `election:stop` has asked the running `election:run` to end.
---
--- ```lua
--- local election = session:election "/elections/primary"
--- print(election:is_stopping())     --> false
--- election:run(function()
---   election:stop()
---   print(election:is_stopping())   --> true
--- end)
--- ```
---@return boolean stopping
function election:is_stopping() end

--- Releases the leadership that is held through this object, whichever task holds it. Returns `false` if there is none.
---
--- Codes: lost, closed, auth, denied
---
--- Raises: for unknown options.
---
--- ```lua
--- local election = session:election "/elections/primary"
--- assert(election:campaign(5))
--- print(election:resign { wait = true })   --> true
--- print(election:resign())                 --> false
--- ```
---@param options? zklock.ReleaseOptions
---@return boolean? ok
---@return string? message
---@return zklock.Code? code
function election:resign(options) end

--- Asks a server for the leader. Returns a row, or nil if there is no leader.
---
--- Codes: disconnected, closed, auth, denied, invalid
---
--- ```lua
--- local election = session:election("/elections/primary", { data = "web1" })
--- print(election:leader())        --> nil
--- local guard = assert(election:campaign(5))
--- print(election:leader().data)   --> web1
--- guard:release()
--- ```
---@return zklock.Leader? leader
---@return string? message
---@return zklock.Code? code
function election:leader() end

--- Calls `fn(leader)` with the present leader or nil, and again at each change, until `ticket:cancel`. Returns a ticket at once.
---
--- `fn` is called from `session:step` or in a task of the loop. If the session ends, the last call is `fn(nil, message, code)`.
--- Two calls never overlap. It uses one watch, on the leader's node, and seven requests for each change, however many participants
--- there are. A code is one of those of `election:leader`.
---
--- Raises: if `fn` is not callable.
---
--- ```lua
--- local election = session:election("/elections/primary", { data = "web1" })
--- local ticket = election:observe(function(leader)
---   print(leader and leader.data or "no leader")
--- end)
--- ticket:cancel()   -- no further calls
--- ```
---@param fn fun(leader?: zklock.Leader, message?: string, code?: zklock.Code) is called with the leader
---@return zklock.Ticket ticket
function election:observe(fn) end

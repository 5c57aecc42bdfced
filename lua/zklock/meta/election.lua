---@meta _

-- # Election
--
-- In an election one of many processes leads. The leader holds the mutex of the path, so at most one process leads.
-- `guard:on_lost` reports a loss, and `guard:token` is the fencing token. **A leader can lose the leadership before it is
-- notified**, so check `guard:is_held` before each part of the work.

--- An election, in which one of many processes leads.
---@class zklock.Election
---
--- The path of the election.
---@field path string
local election = {}

--- Waits until the calling task leads. If the task already leads, returns `deadlock`.
---
--- Codes: timeout, cancelled, lost, disconnected, closed, auth, denied, invalid, conflict, deadlock
---
--- ```lua
--- local guard = assert(session:election "/elections/primary":campaign(5))
--- print(guard:is_held())   --> true
--- guard:release()
--- ```
---@param options? zklock.Seconds|zklock.AcquireOptions
---@return zklock.Guard? guard
---@return string? message
---@return zklock.Code? code
function election:campaign(options) end

--- Begins to campaign, and calls `fn` with the result.
---
--- ```lua
--- local leads
--- session:election "/elections/primary":campaign_async(5, function(guard, message)
---   leads = assert(guard, message)
--- end)
--- while not leads do session:step() end
--- leads:release()
--- ```
---@param options? zklock.Seconds|zklock.AcquireOptions
---@param fn fun(guard?: zklock.Guard, message?: string, code?: zklock.Code)
---@return zklock.Ticket ticket
---@overload fun(self: zklock.Election, fn: fun(guard?: zklock.Guard, message?: string, code?: zklock.Code)): zklock.Ticket
function election:campaign_async(options, fn) end

--- Ends every campaign of this object, including a campaign of `election:run`. The campaigns return `cancelled`.
function election:cancel() end

--- Campaigns, calls `fn(guard)` when this process leads, and releases the leadership when `fn` returns. Then `run` campaigns
--- again from the end of the queue. Returns `true` after `election:stop`, or an error if a campaign fails. Calls of `fn` never
--- overlap.
---
--- If `fn` raises an error, `run` releases the leadership and calls `on_error(problem)`. Without `on_error`, `run` logs the
--- error. Then `run` pauses for `backoff` seconds before it campaigns again. The pause doubles with each consecutive error, up to
--- `max_backoff`; half of the pause is jitter.
---
--- If neither `on_error` nor `log` is set, `run` raises the error and ends. `run` always raises the error of a debug hook
--- (Ctrl-C).
---
--- `run` waits until `fn` returns, even after a loss or after `election:resign`. Another process can then lead while `fn` still
--- runs. With `loop = "poll"`, a blocked `fn` blocks all other tasks.
---
--- Codes: cancelled, lost, disconnected, closed, auth, denied, invalid, conflict, deadlock
---
--- Raises: if `run` is already running through this object.
---
--- ```lua
--- local election = session:election "/elections/primary"
--- assert(election:run(function(guard)
---   print("leads", guard:is_held())   --> leads	true
---   election:stop()
---   print(election:is_stopping())     --> true
--- end))
--- ```
---@param options? zklock.RunOptions
---@param fn fun(guard: zklock.Guard)
---@return true? ok
---@return string? message
---@return zklock.Code? code
---@overload fun(self: zklock.Election, fn: fun(guard: zklock.Guard)): true?, string?, zklock.Code?
function election:run(options, fn) end

--- Ends `election:run`. If `run` campaigns or pauses, it ends at once; otherwise it ends when `fn` returns. A long `fn` can check
--- `election:is_stopping`.
function election:stop() end

--- Returns whether `election:stop` has asked the running `election:run` to end.
---@return boolean stopping
function election:is_stopping() end

--- Releases the leadership that a task of this process has acquired through this object. Any task can call `resign`. Returns
--- `false` if no task leads with this object.
---
--- Codes: lost, closed, auth, denied
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

--- Asks a server for the leader. Returns nil if no participant leads.
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

--- Calls `fn(leader)` with the current leader, and again at each change of leader, until `ticket:cancel`. Without a leader,
--- `leader` is nil. If the session ends, the last call is `fn(nil, message, code)`, with a code of `election:leader`. Calls never
--- overlap.
---
--- ```lua
--- local election = session:election("/elections/primary", { data = "web1" })
--- local ticket = election:observe(function(leader)
---   print(leader and leader.data or "no leader")
--- end)
--- ticket:cancel()
--- ```
---@param fn fun(leader?: zklock.Leader, message?: string, code?: zklock.Code)
---@return zklock.Ticket ticket
function election:observe(fn) end

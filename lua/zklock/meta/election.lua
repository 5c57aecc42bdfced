---@meta _

-- # Election
--
-- Of many processes one leads. Who leads holds the mutex of the path: never do two believe so, a loss is told with its reason, and
-- `guard:token` fences. **A leader can be deposed without being told in time**: look at `guard:is_held` before each part of the
-- work, as under any lock. doc/elections.md has the details.

--- Of many processes one leads.
---@class zklock.Election
---
--- The path that it was made for.
---@field path string
local election = {}

--- Waits until this task leads. `deadlock` is for who leads already.
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

--- Begins to campaign and returns at once: as `lock:acquire_async`.
---
--- ```lua
--- local leads
--- session:election "/elections/primary":campaign_async(5, function(guard, message)
---   leads = assert(guard, message)
--- end)
--- while not leads do session:step() end
--- leads:release()
--- ```
---@param options? zklock.Seconds|zklock.AcquireOptions may be left out. Default: wait for ever
---@param fn fun(guard?: zklock.Guard, message?: string, code?: zklock.Code) hears how it ends
---@return zklock.Ticket ticket ends the campaign
---@overload fun(self: zklock.Election, fn: fun(guard?: zklock.Guard, message?: string, code?: zklock.Code)): zklock.Ticket
function election:campaign_async(options, fn) end

--- Ends all campaigns that were begun through this object, that of `election:run`, too: each hears `cancelled`.
---
--- ```lua
--- session:election "/elections/primary":cancel()
--- ```
function election:cancel() end

--- Campaigns, calls `fn(guard)` while it leads, gives the leadership back when `fn` returns, and campaigns again at the queue's end; until
--- `election:stop`, which makes it return `true`, or until a campaign is refused. It never calls two functions at a time.
---
--- If `fn` raises, the leadership is given back first; then `on_error(problem)` hears it, or else the log; if there is neither, `run`
--- raises it. Then it pauses, and is no candidate meanwhile: `backoff` seconds, doubled each time in a row, up to `max_backoff`, half of
--- it by chance.
---
--- If `fn` goes on after a loss or after `election:resign`, somebody else may lead by then; `run` waits until it returns.
--- If it never returns, it leads for as long as the hold lasts (see `max_hold`).
---
--- Codes: cancelled, lost, disconnected, closed, auth, denied, invalid, conflict, deadlock
---
--- Raises: if `run` is under way through this object, and where nothing can wait; and what a hook (Ctrl-C) raises.
---
--- ```lua
--- local election = session:election "/elections/primary"
--- assert(election:run(function(guard)
---   print("leads", guard:is_held())   --> leads	true
---   election:stop()
--- end))
--- ```
---@param fn fun(guard: zklock.Guard) what the leader does
---@param options? zklock.RunOptions
---@return true? ok
---@return string? message
---@return zklock.Code? code
function election:run(fn, options) end

--- Ends `election:run`: a campaign or a pause at once. A function that leads is not interrupted, and may ask `election:is_stopping`.
---
--- ```lua
--- session:election "/elections/primary":stop()   -- nothing runs: nothing happens
--- ```
function election:stop() end

--- Is `election:run` to end?
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

--- Gives the leadership back that is held through this object, whichever task has it. `false` if there is none.
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

--- Without an argument it asks who leads: a row, or nil if nobody does.
---
--- With `fn` it returns at once, with a ticket: `fn(leader)` is called from `session:step` or in a task of the loop, with who leads now, or
--- nil, and again at each change, until `ticket:cancel`. At last it is `fn(nil, message, code)` if the session ends. There are never
--- two calls at a time. It takes one watch, of the leader's node, and seven requests a change, however many contend.
---
--- Codes: disconnected, closed, auth, denied, invalid
---
--- Raises: for what cannot be called.
---
--- ```lua
--- local election = session:election("/elections/primary", { data = "web1" })
--- print(election:leader())        --> nil
--- local guard = assert(election:campaign(5))
--- print(election:leader().data)   --> web1
--- guard:release()
--- ```
---@param fn? fun(leader?: zklock.Leader, message?: string, code?: zklock.Code) hears who leads. Default: ask once, and wait for the answer
---@return zklock.Leader|zklock.Ticket|nil leader who leads; with `fn` a ticket
---@return string? message
---@return zklock.Code? code
function election:leader(fn) end

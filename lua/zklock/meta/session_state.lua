---@meta _

---@class zklock.Session
local session = {}

-- ## State

--- From now on `fn` hears of this event, beside those that listen already. Callbacks run in a call that waits, or in
--- `session:step`; where a loop watches the session, in a task of their own. What they raise goes to the option `log`.
---
--- Raises: for another word, and for what cannot be called.
---
--- ```lua
--- session:on("suspended", function(event) io.stderr:write("ZooKeeper: ", event, "\n") end)
--- ```
---@param event zklock.Event which
---@param fn fun(event: zklock.Event, session: zklock.Session) hears of it
---@return zklock.Session session itself
function session:on(event, fn) end

--- The state of the session, in a word. It asks nobody. After `session:close` it is `closed`.
---
--- ```lua
--- print(session:state())   --> connected
--- ```
---@return zklock.SessionState state
function session:state() end

--- ZooKeeper's session id in hexadecimal, as its logs and rows of `session:contenders` have it; after `session:close` as well.
---
--- ```lua
--- print(session:id():sub(1, 2))   --> 0x
--- ```
---@return string id `"0x0"` before the first connection
function session:id() end

--- The session timeout that the server has granted.
---
--- ```lua
--- print(session:timeout() > 0)   --> true
--- ```
---@return zklock.Seconds timeout 0 before the first connection
function session:timeout() end

--- Counters since the session was opened; after `session:close` what they were then.
---
--- ```lua
--- assert(session:with_lock("/locks/orders", function() end))
--- print(session:stats().grants)   --> 1
--- ```
---@return zklock.Stats stats
function session:stats() end

--- What the session has counted, in the text format of Prometheus, version 0.0.4; after `session:close` what was known then. Of locks it
--- counts by path and mode: the first 100 of these by themselves, all others together, with the path `others`. doc/metrics.md lists the
--- metrics, with what each means and which alarms to set.
---
--- Raises: for labels that are no table of strings, and for a label's name that is not made of letters, digits and underscores, begins
--- with two underscores, or is one of ours (`path`, `mode`, `state`, `code`, `reason`, `le`).
---
--- ```lua
--- assert(session:with_lock("/locks/orders", function() end))
--- local text = session:metrics { service = "orders" }
--- print(text:match "zklock_session_up{[^\n]*")   --> zklock_session_up{service="orders"} 1
--- ```
---@param labels? table<string, string> what each sample is to have beside its own labels. Default: none
---@return string text
function session:metrics(labels) end

--- From now on `fn(event)` is called at each begin and end of a wait and of a hold: for logs and tracing. There is one such function: the
--- next one takes its place, and nil ends it. It is called at once, by whatever call the event happens in, so let it be quick; what
--- it raises goes to the option `log`, as with other callbacks. A re-entry is no event of its own.
---
--- Raises: for what cannot be called.
---
--- ```lua
--- session:on_trace(function(event) print(event.what, event.path) end)
--- local guard = assert(session:mutex "/locks/orders":acquire(5))
--- --> wait	/locks/orders
--- --> grant	/locks/orders
--- guard:release()
--- --> release	/locks/orders
--- session:on_trace(nil)
--- ```
---@param fn? fun(event: zklock.TraceEvent) hears of it. Default: nobody does any more
---@return zklock.Session session itself
function session:on_trace(fn) end

-- ## For a loop of your own

--- Runs what is due, callbacks and the ends of waits, and returns; it never blocks. Call it when the descriptor of `session:fd` is
--- readable. A plain script whose calls wait needs it only for callbacks while nothing waits.
---
--- Raises: what a callback has raised, one error by each call, if there is no option `log`.
---
--- ```lua
--- local granted
--- session:mutex "/locks/orders":acquire_async(5, function(guard) granted = assert(guard) end)
--- while not granted do session:step() end   -- in a real loop: when session:fd() is readable
--- granted:release()
--- ```
function session:step() end

--- The file descriptor that is readable when `session:step` has something to do. It is the same for the session's whole life.
---
--- ```lua
--- print(session:fd() >= 0)   --> true
--- ```
---@return integer fd
function session:fd() end

--- Releases all that the session holds, ends the ZooKeeper session, and wakes every waiter with `closed`. The second time it does nothing.
--- A session that nobody refers to any more is closed by the garbage collector, and on Lua 5.4 `local session <close>` closes it at
--- the end of the block. In a plain script it waits for the servers' word, for 2 s at most.
---
--- ```lua
--- session:close()
--- print(session:state())   --> closed
--- ```
---@return true ok
function session:close() end

---@meta _

---@class zklock.Session
local session = {}

-- ## State

--- Adds `fn` as a callback for an event, beside the existing ones. Callbacks run in a call that waits or in `session:step`. If a
--- loop watches the session, they run in a task of their own. Errors that callbacks raise go to the option `log`.
---
--- Raises: for an unknown event, and if `fn` is not callable.
---
--- ```lua
--- session:on("suspended", function(event) io.stderr:write("ZooKeeper: ", event, "\n") end)
--- ```
---@param event zklock.Event its name
---@param fn fun(event: zklock.Event, session: zklock.Session) the callback
---@return zklock.Session session itself
function session:on(event, fn) end

--- Returns the state of the session, without a request. After `session:close` it is `closed`.
---
--- ```lua
--- print(session:state())   --> connected
--- ```
---@return zklock.SessionState state
function session:state() end

--- Returns ZooKeeper's session id in hexadecimal, as its logs and the rows of `session:contenders` show it; also after
--- `session:close`.
---
--- ```lua
--- print(session:id():sub(1, 2))   --> 0x
--- ```
---@return string id `"0x0"` before the first connection
function session:id() end

--- Returns the session timeout that the server has granted.
---
--- ```lua
--- print(session:timeout() > 0)   --> true
--- ```
---@return zklock.Seconds timeout 0 before the first connection
function session:timeout() end

--- Returns the session's counters since it was opened; after `session:close`, their last values.
---
--- ```lua
--- assert(session:with_lock("/locks/orders", function() end))
--- print(session:stats().grants)   --> 1
--- ```
---@return zklock.Stats stats
function session:stats() end

--- Returns the session's metrics in the text format of Prometheus, version 0.0.4; after `session:close`, their last values. Locks
--- are counted by path and mode: the first 100 of these have their own series, and all others share the path `others`.
--- doc/metrics.md explains the metrics and the alarms to set.
---
--- Raises: if `labels` is not a table of strings, and if a label's name has characters other than letters, digits and underscores,
--- begins with two underscores, or is reserved (`path`, `mode`, `state`, `code`, `reason`, `le`).
---
--- ```lua
--- assert(session:with_lock("/locks/orders", function() end))
--- local text = session:metrics { service = "orders" }
--- print(text:match "zklock_session_up{[^\n]*")   --> zklock_session_up{service="orders"} 1
--- ```
---@param labels? table<string, string> labels to add to each sample. Default: none
---@return string text
function session:metrics(labels) end

--- Calls `fn(event)` at the beginning and the end of each wait and each hold, for logs and tracing. A session has one such
--- function: another call replaces it, and nil removes it. The function runs inside the call in which the event happens, so it must
--- be quick. Errors that it raises go to the option `log`, as with other callbacks. A re-entry is not an event.
---
--- Raises: if `fn` is not callable.
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
---@param fn? fun(event: zklock.TraceEvent) the callback. Default: none, which removes it
---@return zklock.Session session itself
function session:on_trace(fn) end

-- ## For a loop of your own

--- Runs what is due, such as callbacks and the ends of waits, and returns; it never blocks. Call it when the descriptor of
--- `session:fd` is readable. A plain script whose calls wait needs `step` only to run callbacks between them.
---
--- Raises: what a callback has raised, one error in each call, if the option `log` is not set.
---
--- ```lua
--- local granted
--- session:mutex "/locks/orders":acquire_async(5, function(guard) granted = assert(guard) end)
--- while not granted do session:step() end   -- in a real loop: when session:fd() is readable
--- granted:release()
--- ```
function session:step() end

--- Returns the file descriptor that is readable when `session:step` has something to do. It stays the same for the session's whole
--- life.
---
--- ```lua
--- print(session:fd() >= 0)   --> true
--- ```
---@return integer fd
function session:fd() end

--- Releases all that the session holds, ends the ZooKeeper session, and ends every wait with `closed`. Calling it again does
--- nothing. The garbage collector closes a session that the program can no longer reach. Since Lua 5.4 `local session <close>` closes
--- it at the end of the block. In a plain script `close` waits for the servers' confirmation, for at most 2 s.
---
--- ```lua
--- session:close()
--- print(session:state())   --> closed
--- ```
---@return true ok
function session:close() end

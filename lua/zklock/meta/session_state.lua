---@meta _

---@class zklock.Session
local session = {}

-- ## State

--- Adds `fn` as a callback for an event. Earlier callbacks stay registered.
---
--- ```lua
--- session:on("suspended", function(event) io.stderr:write("ZooKeeper: ", event, "\n") end)
--- ```
---@param event zklock.Event the name of the event
---@param fn fun(event: zklock.Event, session: zklock.Session)
---@return zklock.Session session itself
function session:on(event, fn) end

--- Returns the state of the session, without a request.
---
--- ```lua
--- print(session:state(), session:timeout() > 0)   --> connected	true
--- print(session:id():sub(1, 2))   --> 0x
--- ```
---@return zklock.SessionState state
function session:state() end

--- Returns ZooKeeper's session id in hexadecimal, as the servers' logs and `session:contenders` show it.
---@return string id `"0x0"` before the first connection
function session:id() end

--- Returns the session timeout that the server has granted.
---@return zklock.Seconds timeout 0 before the first connection
function session:timeout() end

--- Returns the session's counters, which start at 0.
---
--- ```lua
--- assert(session:with_lock("/locks/orders", function() end))
--- print(session:stats().grants)   --> 1
--- ```
---@return zklock.Stats stats
function session:stats() end

--- Returns the session's metrics (doc/metrics.md) in the text format of Prometheus, version 0.0.4.
---
--- Raises: if a label's name has characters other than letters, digits and underscores, begins with two underscores, or is
--- reserved (`path`, `mode`, `state`, `code`, `reason`, `le`).
---
--- ```lua
--- assert(session:with_lock("/locks/orders", function() end))
--- local text = session:metrics { service = "orders" }
--- print(text:match "zklock_session_up{[^\n]*")   --> zklock_session_up{service="orders"} 1
--- ```
---@param labels? table<string, string> labels to add to each sample.
---@return string text
function session:metrics(labels) end

--- Calls `fn(event)` at the beginning and the end of each wait and each hold. A session has one trace function; `on_trace()`
--- removes it. The function runs inside the call in which the event happens, so it must be quick.
---
--- ```lua
--- session:on_trace(nil)
--- ```
---@param fn? fun(event: zklock.TraceEvent)
---@return zklock.Session session itself
function session:on_trace(fn) end

-- ## For a loop of your own

--- Runs due callbacks, ends due waits, and returns without blocking. Call `step` when the descriptor of `session:fd` is readable.
--- In a plain script, calls that wait also run due callbacks; between such calls, use `step`.
---
--- Raises: the errors of callbacks, one error in each call, if the option `log` is not set.
---
--- ```lua
--- local granted
--- session:mutex "/locks/orders":acquire_async(5, function(guard) granted = assert(guard) end)
--- while not granted do session:step() end   -- or when session:fd() is readable
--- granted:release()
--- ```
function session:step() end

--- Returns a file descriptor, which becomes readable when your loop should call `session:step`. The descriptor never changes
--- during the session's life.
---@return integer fd
function session:fd() end

--- Releases all locks of the session, ends the ZooKeeper session, and ends every wait with `closed`. In a plain script `close`
--- waits for the servers' confirmation, for at most 2 s. The garbage collector closes a session that the program can no longer
--- reach. Since Lua 5.4 `local session <close>` closes the session at the end of the block.
---
--- ```lua
--- session:close()
--- print(session:state())   --> closed
--- ```
---@return true ok
function session:close() end

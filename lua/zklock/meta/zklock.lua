---@meta _

-- # The module
--
-- `local zklock = require "zklock"`. It sets no global and starts nothing; a session does.

--- What `require "zklock"` returns.
---@class zklock.Module
---
--- The error codes, each by its own name: `zklock.errors.timeout == "timeout"`. A misspelt one raises, where a misspelt string
--- would only never be equal.
---@field errors zklock.Errors
---
--- Which ZooKeeper client library the module uses: `"st"`, which is libzookeeper_st; or `"virtual"`, if `zklock.testing` has put a
--- simulated ensemble in its place.
---@field backend "st"|"virtual"
---
--- The version, such as `"1.2.3"`.
---@field version string
---
--- The same by the custom of Lua modules: `"zklock "` and the version.
---@field _VERSION string
local zklock = {}

--- Opens a session and waits until it is connected.
---
--- `hosts` are the servers, comma-separated: `host`, `host:2181`, `[::1]:2181`. An optional *chroot* may follow the last one, as in
--- `"zk1:2181,zk2:2181/app"`: all paths of the session are below it. The first lock makes it if it is missing. A text that another
--- client reads differently is refused: doc/paths.md has the rules.
---
--- Whoever is refused has no session: nothing is left open. In nginx requests use `zklock.ngx.session` instead.
---
--- Codes: disconnected, auth, closed, unsupported
---
--- Raises: for hosts that no client or not every client can read, and for options that are unknown, of a wrong type, or do not go together.
---
--- ```lua
--- local session, message, code = zklock.connect("zk1:2181,zk2:2181,zk3:2181/app", {
---   session_timeout = 20,
---   log = function(level, text) io.stderr:write(level, ": ", text, "\n") end,
--- })
--- if not session then error(message) end
--- session:close()
--- ```
---@param hosts string the servers, and the chroot
---@param options? zklock.ConnectOptions
---@return zklock.Session? session
---@return string? message why there is none
---@return zklock.Code? code
function zklock.connect(hosts, options) end

--- From now on these signals release everything that the process holds before they end it. Without it zklock installs no handler of
--- any signal, and a process that SIGTERM ends leaves its locks until its session timeout is over.
---
--- Such a signal stops the calling thread where it is, ends the process's sessions, and then ends the process as that signal
--- always does. No Lua code runs any more. A program that `os.execute` or `io.popen` has started goes on. Call it in the program's only
--- Lua thread. doc/signals.md has the details.
---
--- Codes: unsupported
---
--- Raises: for any other name, and in nginx, whose signals are its own.
---
--- ```lua
--- assert(zklock.release_on_signal("TERM", "HUP"))
--- ```
---@param ... zklock.Signal the names. Default: `"TERM", "HUP"`
---@return true? ok
---@return string? message
---@return zklock.Code? code
function zklock.release_on_signal(...) end

--- Makes one component of a path of any text, a stranger's too. Two texts never have the same key, and no key is taken for a
--- contender of a lock, whatever the program puts before it. Of a text of more than 64 bytes the key is its SHA-256. A key has at
--- most 194 bytes. doc/paths.md says why strangers' text must not stand in a path as it is.
---
--- Raises: if `text` is no string.
---
--- ```lua
--- print(zklock.key "ann")   --> =ann=
--- print(zklock.key "a/b")   --> =a%2Fb=
--- print(zklock.key "")      --> ==
--- local mutex = session:mutex("/locks/user-" .. zklock.key "ann@example.com")
--- ```
---@param text string any text
---@return string key
function zklock.key(text) end

--- The text whose key it is. Of a text of more than 64 bytes it cannot be told.
---
--- Codes: invalid
---
--- Raises: if `key` is no string.
---
--- ```lua
--- print(zklock.unkey "=a%2Fb=")           --> a/b
--- print((select(3, zklock.unkey "ann")))  --> invalid
--- ```
---@param key string what `zklock.key` has given
---@return string? text
---@return string? message
---@return zklock.Code? code
function zklock.unkey(key) end

--- Seconds on the clock that leases are measured with: it never goes back, and has nothing to do with the time of day. For timers of
--- your own beside zklock's, as in an adapter.
---
--- ```lua
--- local begun = zklock.now()
--- session:contenders "/locks/orders"
--- print(zklock.now() - begun < 60)   --> true
--- ```
---@return zklock.Seconds now
function zklock.now() end

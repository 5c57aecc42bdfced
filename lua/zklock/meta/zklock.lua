---@meta _

-- # The module
--
-- `local zklock = require "zklock"`. Loading the module sets no global variable and starts no thread; `zklock.connect` starts one.

--- What `require "zklock"` returns.
---@class zklock.Module
---
--- The error codes, each under its own name: `zklock.errors.timeout == "timeout"`. A misspelt name raises an error; a misspelt
--- string would only compare as unequal.
---@field errors zklock.Errors
---
--- Which ZooKeeper client library the module uses: `"st"` is libzookeeper_st; `"virtual"` is the simulated ensemble of
--- `zklock.testing`.
---@field backend "st"|"virtual"
---
--- The version, such as `"1.2.3"`.
---@field version string
---
--- The version in the form that Lua modules use: `"zklock "` and the version.
---@field _VERSION string
local zklock = {}

--- Opens a session and waits until it is connected.
---
--- `hosts` lists the servers, separated by commas: `host`, `host:2181`, `[::1]:2181`. An optional *chroot* can follow the last
--- server, as in `"zk1:2181,zk2:2181/app"`: all paths of the session are then below it, and the first lock creates it if it is
--- missing. A string that another client would read differently raises an error: doc/paths.md has the rules.
---
--- If `connect` fails, it leaves nothing open. In nginx requests use `zklock.ngx.session` instead.
---
--- Codes: disconnected, auth, closed, unsupported
---
--- Raises: if a client cannot read `hosts`, or clients read it differently; and if options are unknown, of a wrong type, or do not
--- go together.
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
---@return string? message why it failed
---@return zklock.Code? code
function zklock.connect(hosts, options) end

--- Makes these signals release everything that the process holds before they end the process. Without this call, zklock installs no
--- signal handler, and the locks of a process that SIGTERM ends stay taken until its session timeout has passed.
---
--- Such a signal stops the calling thread at once, ends the process's sessions, and then ends the process as the signal normally
--- does. No Lua code runs after the signal. A program that `os.execute` or `io.popen` has started keeps running. Call this function
--- in the program's only Lua thread. doc/signals.md has the details.
---
--- Codes: unsupported
---
--- Raises: for any other name, and in nginx, because nginx handles these signals itself.
---
--- ```lua
--- assert(zklock.release_on_signal("TERM", "HUP"))
--- ```
---@param ... zklock.Signal the names. Default: `"TERM", "HUP"`
---@return true? ok
---@return string? message
---@return zklock.Code? code
function zklock.release_on_signal(...) end

--- Returns a path component for any text, including untrusted input. Different texts have different components. None
--- can be mistaken for a contender's node, whatever prefix the program adds. For a text of more than 64 bytes it returns the SHA-256
--- hash. A component has at most 194 bytes. doc/paths.md explains why a path must not contain untrusted input unencoded.
---
--- Raises: if `text` is not a string.
---
--- ```lua
--- print(zklock.escape "ann")   --> =ann=
--- print(zklock.escape "a/b")   --> =a%2Fb=
--- print(zklock.escape "")      --> ==
--- local mutex = session:mutex("/locks/user-" .. zklock.escape "ann@example.com")
--- ```
---@param text string any text
---@return string escaped
function zklock.escape(text) end

--- Returns the original text of a component from `zklock.escape`. Those of texts over 64 bytes are hashes and cannot be reversed:
--- for these it returns `invalid`.
---
--- Codes: invalid
---
--- Raises: if `escaped` is not a string.
---
--- ```lua
--- print(zklock.unescape "=a%2Fb=")           --> a/b
--- print((select(3, zklock.unescape "ann")))  --> invalid
--- ```
---@param escaped string a result of `zklock.escape`
---@return string? text
---@return string? message
---@return zklock.Code? code
function zklock.unescape(escaped) end

--- Returns the seconds on the monotonic clock that measures leases. The clock never goes back and is unrelated to the time of day.
--- Use it for timers of your own beside zklock's, as in an adapter.
---
--- ```lua
--- local begun = zklock.now()
--- session:contenders "/locks/orders"
--- print(zklock.now() - begun < 60)   --> true
--- ```
---@return zklock.Seconds now
function zklock.now() end

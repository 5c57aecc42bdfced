---@meta _

-- # The module
--
-- Load the module with `local zklock = require "zklock"`. Loading sets no global variable and starts no thread.

--- What `require "zklock"` returns.
---@class zklock.Module
---
--- The error codes, each under its own name: `zklock.errors.timeout == "timeout"`. A misspelt name raises an error.
---@field errors zklock.Errors
---
--- The ZooKeeper client library in use: `"st"` is libzookeeper_st, and `"virtual"` is the simulation of `zklock.testing`.
---@field backend "st"|"virtual"
---
--- The version, such as `"1.2.3"`.
---@field version string
---
--- `"zklock "` and the version.
---@field _VERSION string
local zklock = {}

--- Opens a session and waits until it is connected. If `connect` fails, it leaves nothing open. In nginx requests, use
--- `zklock.ngx.session` instead.
---
--- `hosts` lists the servers, separated by commas: `host`, `host:2181`, `[::1]:2181`. A *chroot* can follow the last server, as
--- in `"zk1:2181,zk2:2181/app"`. Then all paths of the session are below `/app`. The first acquisition of a lock creates a
--- missing chroot.
---
--- Codes: disconnected, auth, closed, unsupported
---
--- Raises: if different clients could parse `hosts` differently (doc/api.md#hosts-and-chroot).
---
--- ```lua
--- local session, message, code = zklock.connect("zk1:2181,zk2:2181,zk3:2181/app", {
---   session_timeout = 20,
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

--- Installs a signal handler that releases all locks of the process and then ends the process. Without this call, zklock installs
--- no signal handler, and the locks of a process that SIGTERM has ended stay taken until its session expires. See
--- doc/api.md#sigterm-and-sighup.
---
--- Codes: unsupported
---
--- Raises: in nginx, which handles these signals itself.
---
--- ```lua
--- assert(zklock.release_on_signal("TERM", "HUP"))
--- ```
---@param ... zklock.Signal the names of the signals. Default: `"TERM", "HUP"`
---@return true? ok
---@return string? message
---@return zklock.Code? code
function zklock.release_on_signal(...) end

--- Returns a safe path component for any text, even for untrusted input. See doc/api.md#paths-made-of-untrusted-input.
---
--- ```lua
--- print(zklock.escape "a/b")   --> =a%2Fb=
--- local mutex = session:mutex("/locks/user-" .. zklock.escape "ann@example.com")
--- ```
---@param text string any text
---@return string escaped at most 194 bytes
function zklock.escape(text) end

--- Returns the text from which `zklock.escape` made a component. Returns `invalid` for a hash, which `escape` returns for a text
--- over 64 bytes, and for any string that `escape` cannot return.
---
--- Codes: invalid
---
--- ```lua
--- print(zklock.unescape "=a%2Fb=")           --> a/b
--- print((select(3, zklock.unescape "ann")))  --> invalid
--- ```
---@param escaped string a result of `escape`
---@return string? text
---@return string? message
---@return zklock.Code? code
function zklock.unescape(escaped) end

--- Returns the time on the monotonic clock that measures leases. This clock is unrelated to the time of day.
---
--- ```lua
--- print(zklock.now() > 0) --> true
--- ```
---@return zklock.Seconds now
function zklock.now() end

---@meta _

-- # nginx and OpenResty
--
-- In nginx, load the module with `require "zklock.ngx"`. This module also has `escape` and `unescape`. doc/nginx.md has the
-- details, and examples/nginx/ has complete configurations.

--- What `require "zklock.ngx"` returns.
---@class zklock.ngx.Module
---
--- As `zklock.escape`.
---@field escape fun(text: string): string
---
--- As `zklock.unescape`.
---@field unescape fun(escaped: string): string?, string?, zklock.Code?
local ngx = {}

--- Returns this worker's session with these hosts and options. The first call begins to connect and returns at once. Later calls
--- that need the connection wait for it, but no longer than their own timeout. The master process never opens a session. When a
--- request ends, its waits and holds end at once. If the session was closed, the next call opens another session.
---
--- Codes: disconnected, unsupported
---
--- Raises: if `loop` is not `"auto"` or `"ngx"`, and for more than 32 sessions in a worker.
---
--- ```nginx
--- location = /orders {
---   content_by_lua_block {
---     local zklock = require "zklock.ngx"
---     local session = assert(zklock.session "zk1:2181,zk2:2181,zk3:2181/app")
---     local ok, result = session:with_lock("/locks/orders", { timeout = 2 }, function(guard)
---       return "the fencing token is " .. guard:token()
---     end)
---     if ok then return ngx.say(result) end
---     ngx.log(ngx.ERR, result)
---     ngx.exit(503)
---   }
--- }
--- ```
---@param hosts string as for `zklock.connect`
---@param options? zklock.ConnectOptions
---@return zklock.Session? session
---@return string? message
---@return zklock.Code? code
function ngx.session(hosts, options) end

--- Ends the waits and holds of the running request. Call it in `log_by_lua` if zklock cannot detect the end of requests
--- (doc/nginx.md lists these cases).
---
--- ```nginx
--- location = /cleanup {
---   content_by_lua_block { ngx.say "done" }
---   log_by_lua_block { require("zklock.ngx").cleanup() }
--- }
--- ```
function ngx.cleanup() end

--- Serves the operators' page (doc/metrics.md): an HTML page of the holds and waits of nginx's workers. With `?format=json` the
--- page is JSON. At `/metrics` below the page's location, `status` serves the metrics in Prometheus's text format.
---
--- With the line `lua_shared_dict zklock 1m;` in the block `http`, the page covers all workers. Without this line, it covers only
--- the worker that answers. The page shows paths and the data of holders, so let only operators reach it.
---
--- ```nginx
--- location /zklock {
---   allow 127.0.0.1;
---   deny all;
---   content_by_lua_block { require("zklock.ngx").status() }
--- }
--- ```
---@param options? zklock.ngx.Status
function ngx.status(options) end

-- ## The operators' page

--- The options of `zklock.ngx.status`.
---@class zklock.ngx.Status
---
--- The location of the page in nginx. Default: `/zklock`
---@field location? string

---@meta _

-- # nginx and OpenResty
--
-- `local zklock = require "zklock.ngx"`, in handlers. It has `key` and `unkey` of `require "zklock"`, too. doc/loops.md has the details,
-- and examples/nginx/ whole configurations.

--- What `require "zklock.ngx"` returns.
---@class zklock.ngx.Module
---
--- The same as `zklock.key`.
---@field key fun(text: string): string
---
--- The same as `zklock.unkey`.
---@field unkey fun(key: string): string?, string?, zklock.Code?
local ngx = {}

--- This worker's one session with these hosts and options, though they are made anew in each request. The first call opens it, never in the
--- master, and returns at once: whatever needs the connection waits for it inside its own timeout. When a request ends, its waits and
--- holds end with it, at once. One that was closed is opened anew by the next call.
---
--- Codes: disconnected, unsupported
---
--- Raises: as `zklock.connect`; for another `loop`; and for more than 32 sessions in a worker, which other hosts or options in each
--- request would make.
---
--- ```nginx
--- location = /orders {
---   content_by_lua_block {
---     local zklock = require "zklock.ngx"
---     local session = assert(zklock.session "zk1:2181,zk2:2181,zk3:2181/app")
---     local ok, result = session:with_lock("/locks/orders", function(guard)
---       return "the fencing token is " .. guard:token()
---     end, { timeout = 2 })
---     if ok then return ngx.say(result) end
---     ngx.log(ngx.ERR, result) -- not granted in time; or lost
---     ngx.exit(503)
---   }
--- }
--- ```
---@param hosts string as of `zklock.connect`
---@param options? zklock.ConnectOptions `log` is nginx's error log, if it is not given
---@return zklock.Session? session
---@return string? message
---@return zklock.Code? code
function ngx.session(hosts, options) end

--- For `log_by_lua`, where nginx cannot tell the end of a request by itself (doc/loops.md says where): ends the waits and holds of the
--- running request.
---
--- ```nginx
--- location = /cleanup {
---   content_by_lua_block { ngx.say "done" }
---   log_by_lua_block { require("zklock.ngx").cleanup() }
--- }
--- ```
function ngx.cleanup() end

--- The content handler of an operators' page: what the sessions of nginx's workers hold and wait for, and how it has been, in HTML without
--- scripts. With `?format=json` it is JSON; `/metrics` below its location is Prometheus's text. It tells of all workers where the block
--- `http` has the line `lua_shared_dict zklock 1m;`, else of the one that answers. It shows paths and the data of whoever holds: let only
--- operators reach it. doc/metrics.md shows it, and how to secure it.
---
--- Raises: for an option that there is not, and for a location that is no string.
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

--- What `zklock.ngx.status` takes.
---@class zklock.ngx.Status
---
--- Where in nginx the page is. Default: `/zklock`
---@field location? string

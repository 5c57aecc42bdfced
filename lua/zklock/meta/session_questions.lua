---@meta _

---@class zklock.Session
local session = {}

-- ## Queries and repairs
--
-- These calls return data that is at least as new as the call, whichever server answers. They return `disconnected` if the session
-- has no connection, or if no leader can confirm that the data is current. The path can be any ZooKeeper path, not only a lock's.

--- Returns the queue of a path, in order. Each row is a contender: a holder or a waiter. A node that no session owns (`session =
--- "0x0"`) holds nothing and blocks the contenders behind it. A directory of more than 50 000 children is `invalid`; doc/guarantees.md
--- lists all bounds.
---
--- A missing path is not an error, because directories are containers, which servers delete when they are empty.
---
--- Codes: disconnected, closed, auth, denied, invalid
---
--- ```lua
--- local guard = assert(session:mutex "/locks/orders":acquire(5))
--- for place, row in ipairs(assert(session:contenders "/locks/orders")) do
---   print(place, row.mode, row.holds)   --> 1	mutex	true
--- end
--- guard:release()
--- ```
---@param path string any path
---@return zklock.Contender[]? rows
---@return boolean|string exists whether the path exists
---@return zklock.Code? code
function session:contenders(path) end

--- Asks every holder of a path to release it: each holder's `guard:on_revoke` callback is called, and the holder decides. If a
--- holder cannot be asked, the other holders still are, and the message names it. The code is then `denied`, or `invalid` if its
--- data leaves no room for the request.
---
--- Codes: disconnected, closed, auth, denied, invalid
---
--- ```lua
--- print(session:revoke "/locks/orders")   --> 0
--- ```
---@param path string any path
---@return integer? count the number of holders that were asked
---@return string? message
---@return zklock.Code? code
function session:revoke(path) end

--- Returns what is at a path, or `false` if nothing is there. `"/"` is the chroot.
---
--- Codes: disconnected, closed, auth, denied, invalid
---
--- ```lua
--- print(session:stat "/nothing")                 --> false
--- local guard = assert(session:mutex "/locks/orders":acquire(5))
--- print(assert(session:stat(guard.node)).kind)   --> ephemeral
--- guard:release()
--- ```
---@param path string any path
---@param with_data? boolean read the node's data, too. Default: false
---@return zklock.Stat|false|nil stat
---@return string? message
---@return zklock.Code? code
function session:stat(path, with_data) end

--- Returns the names of all nodes below a path, sorted by their bytes. `"/"` is the chroot. A missing path is not an error. More
--- than 50 000 nodes are `invalid`.
---
--- Codes: disconnected, closed, auth, denied, invalid
---
--- ```lua
--- local names, exists = assert(session:children "/locks")
--- print(#names, exists)   --> 0	false
--- ```
---@param path string any path
---@return string[]? names
---@return boolean|string exists whether the path exists
---@return zklock.Code? code
function session:children(path) end

--- Creates the persistent node `path` with the session's ACL, or overwrites it; `session:stat(path).modified` then has the servers'
--- time of the write. If the parent is missing, returns `invalid`. If the reply is lost, returns `disconnected`; the write may have
--- happened.
---
--- With `node`, such as `guard.node`, one transaction checks that this node exists and writes; if the node is gone, returns `lost`.
--- So a request that a server applies late, when another client holds the lock, changes nothing. This does not help with an unfair
--- lock, where each holder's node has the same name, or with a multi, whose guard has several nodes.
---
--- A directory that locks have created is a container: the servers delete it with its data when it is empty. A node below it
--- stays.
---
--- Codes: lost, disconnected, closed, auth, denied, invalid
---
--- Raises: for a path that a lock could not have either.
---
--- ```lua
--- assert(session:with_lock("/locks/report", function(guard)
---   assert(session:touch("/locks/last-report", nil, guard.node))
--- end))
--- print(session:stat "/locks/last-report".version)   --> 0
--- ```
---@param path string any path
---@param data? string at most 1 024 bytes. Default: `"host:pid"`
---@param node? string the path of a node that must exist
---@return true? ok
---@return string? message
---@return zklock.Code? code
function session:touch(path, data, node) end

--- Deletes the node of any contender. A holder loses the lock with the reason `node_deleted`, but not at the same moment: SECURITY.md
--- gives the delay. A waiter goes to the end of the queue. To ask the holder first, use `session:revoke`. A node that has children
--- is `invalid`.
---
--- Node names can be used again: the node of an unfair lock is always called `holder`. With `token`, the node is deleted only if it
--- has that token, so that a later contender with the same name keeps its own. ZooKeeper cannot exclude every case: see the section
--- evict of doc/command.md.
---
--- Codes: disconnected, closed, auth, denied, invalid
---
--- Raises: if `node` is not a valid name of a contender's node, or `token` is not a valid fencing token.
---
--- ```lua
--- local guard = assert(session:mutex "/locks/orders":acquire(5))
--- local row = assert(session:contenders "/locks/orders")[1]
--- print(session:evict("/locks/orders", row.node, row.token))   --> true
--- print(select(3, guard:verify()))                  --> lost
--- guard:release()
--- ```
---@param path string any path
---@param node string the `node` of a row of `session:contenders`
---@param token? string the `token` of the row. Default: any
---@return boolean? was_there false: the node was already gone
---@return string? message
---@return zklock.Code? code
function session:evict(path, node, token) end

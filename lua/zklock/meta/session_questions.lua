---@meta _

---@class zklock.Session
local session = {}

-- ## Queries and repairs
--
-- A query sees every change that was committed before the call, whichever server answers. A query returns `disconnected` if the
-- session has no connection, or if no leader of the ensemble can confirm that the answer is current. Queries accept every
-- ZooKeeper path; `"/"` is the chroot.

--- Returns the queue of a path, in order. A missing path is not an error, because servers delete the empty directories of locks.
--- For a directory of more than 50 000 children, returns `invalid`.
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
---@param path string
---@return zklock.Contender[]? rows
---@return boolean|string exists whether the path exists
---@return zklock.Code? code
function session:contenders(path) end

--- Asks every holder of a path to release the lock: in the holder's process, zklock calls the `guard:on_revoke` callbacks.
---
--- If zklock cannot ask a holder, it still asks the other holders, and returns a message that names this holder. The code is then
--- `denied`, or `invalid` if the holder's data is too long to append the request.
---
--- Codes: disconnected, closed, auth, denied, invalid
---
--- ```lua
--- print(session:revoke "/locks/orders")   --> 0
--- ```
---@param path string
---@return integer? count how many holders were asked
---@return string? message
---@return zklock.Code? code
function session:revoke(path) end

--- Returns the properties of a path's node, or `false` if there is no node.
---
--- Codes: disconnected, closed, auth, denied, invalid
---
--- ```lua
--- print(session:stat "/nothing")                 --> false
--- local guard = assert(session:mutex "/locks/orders":acquire(5))
--- print(assert(session:stat(guard.node)).kind)   --> ephemeral
--- guard:release()
--- ```
---@param path string
---@param with_data? boolean whether to read the node's data, too. Default: false
---@return zklock.Stat|false|nil stat
---@return string? message
---@return zklock.Code? code
function session:stat(path, with_data) end

--- Returns the names of a path's children, sorted by their bytes. A missing path is not an error. For more than 50 000
--- children, returns `invalid`.
---
--- Codes: disconnected, closed, auth, denied, invalid
---
--- ```lua
--- local names, exists = assert(session:children "/locks")
--- print(#names, exists)   --> 0	false
--- ```
---@param path string
---@return string[]? names
---@return boolean|string exists whether the path exists
---@return zklock.Code? code
function session:children(path) end

--- Creates or overwrites the persistent node `path`. If the parent is missing, returns `invalid`. If `touch` returns
--- `disconnected`, a server may have made the write.
---
--- With `node`, such as `guard.node`, writes only if this node exists; one transaction checks and writes. If the node is gone,
--- `touch` writes nothing and returns `lost`. So a late request changes nothing after the lock has passed to another client.
--- `node` protects neither an unfair lock, because all holders' nodes have the same name, nor a multi, because its guard has
--- several nodes.
---
--- Do not write to a directory that a lock has created, because servers delete such a directory, and its data, when it is empty.
--- Write to a node below the directory.
---
--- Codes: lost, disconnected, closed, auth, denied, invalid
---
--- Raises: if `path` is invalid for a lock.
---
--- ```lua
--- assert(session:with_lock("/locks/report", function(guard)
---   assert(session:touch("/locks/last-report", nil, guard.node))
--- end))
--- print(session:stat "/locks/last-report".version)   --> 0
--- ```
---@param path string
---@param data? string at most 1 024 bytes. Default: `"host:pid"`
---@param node? string the path of a node that must exist
---@return true? ok
---@return string? message
---@return zklock.Code? code
function session:touch(path, data, node) end

--- Deletes the node of a holder or a waiter. A holder loses the lock with the reason `node_deleted`, but can believe for a while
--- that it still holds the lock (see SECURITY.md). A waiter goes to the end of the queue. If the node has children, returns
--- `invalid`.
---
--- With `token`, deletes the node only if it has that token. All nodes of an unfair lock are called `holder`, so without `token`
--- a late `evict` can delete the next holder's node. See evict in doc/command.md.
---
--- Codes: disconnected, closed, auth, denied, invalid
---
--- Raises: if `node` does not have the form of a contender's name, or `token` is not a fencing token.
---
--- ```lua
--- local guard = assert(session:mutex "/locks/orders":acquire(5))
--- local row = assert(session:contenders "/locks/orders")[1]
--- print(session:evict("/locks/orders", row.node, row.token))   --> true
--- print(select(3, guard:verify()))                  --> lost
--- guard:release()
--- ```
---@param path string
---@param node string the `node` of a row of `session:contenders`
---@param token? string the `token` of the row. Default: any
---@return boolean? was_there false if the node was already gone
---@return string? message
---@return zklock.Code? code
function session:evict(path, node, token) end

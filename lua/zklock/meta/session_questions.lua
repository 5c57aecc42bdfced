---@meta _

---@class zklock.Session
local session = {}

-- ## Looking and mending
--
-- What these tell is not older than the call, whichever server answers; while there is no leader to vouch for that they answer
-- `disconnected`. Without a connection they are `disconnected`, too. Paths may be anything of ZooKeeper's, not locks only.

--- The queue of a path, in order. Each row is a contender, who holds or waits. A node that no session owns (`session = "0x0"`) holds
--- nothing, and blocks those behind it. A directory of more than 50 000 children is `invalid`; doc/limits.md has the other bounds.
---
--- That the path does not exist is no error: directories are containers, and vanish when they are empty.
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
---@return boolean|string exists does the path exist?
---@return zklock.Code? code
function session:contenders(path) end

--- Asks every holder of a path to let go: each hears it by `guard:on_revoke`, and decides. If one cannot be asked (`denied`; or `invalid`,
--- where no mark fits behind its data), the others are, and the message names it.
---
--- Codes: disconnected, closed, auth, denied, invalid
---
--- ```lua
--- print(session:revoke "/locks/orders")   --> 0
--- ```
---@param path string any path
---@return integer? count how many were asked
---@return string? message
---@return zklock.Code? code
function session:revoke(path) end

--- What is at a path. `"/"` is the chroot. That nothing is there is no error: `false`.
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

--- The names of all nodes below a path, sorted by their bytes. `"/"`: those below the chroot. That the path does not exist is no
--- error. More than 50 000 are `invalid`.
---
--- Codes: disconnected, closed, auth, denied, invalid
---
--- ```lua
--- local names, exists = assert(session:children "/locks")
--- print(#names, exists)   --> 0	false
--- ```
---@param path string any path
---@return string[]? names
---@return boolean|string exists does the path exist?
---@return zklock.Code? code
function session:children(path) end

--- Makes the persistent node `path`, with the session's ACL, or writes it anew: `session:stat(path).modified` is then the servers' time
--- of this. Where there is no parent it is `invalid`. Where the answer is lost it is `disconnected`, and may have been done.
---
--- With `node`, such as `guard.node`, it is one transaction with a check that this node is there; if it is not, the answer is `lost`.
--- So a request that a server applies late, when another client holds the lock, does nothing. (The node of an unfair lock has the same
--- name for each holder, and the guard of a multi has several nodes: there it does not help.)
---
--- A directory that locks have made is a container: it vanishes with its stamp once it is empty. A node below it stays.
---
--- Codes: lost, disconnected, closed, auth, denied, invalid
---
--- Raises: for a path at which no lock may be either.
---
--- ```lua
--- assert(session:with_lock("/locks/report", function(guard)
---   assert(session:stamp("/locks/last-report", nil, guard.node))
--- end))
--- print(session:stat "/locks/last-report".version)   --> 0
--- ```
---@param path string any path
---@param data? string at most 1 024 bytes. Default: `"host:pid"`
---@param node? string the path of a node that must be there
---@return true? ok
---@return string? message
---@return zklock.Code? code
function session:stamp(path, data, node) end

--- Deletes a contender's node, whoever it is. Who holds loses the lock, with the reason `deleted`, but not at the same moment (SECURITY.md
--- says how late): `session:revoke` asks first. Who waits goes to the end of the queue. A node that has children is `invalid`.
---
--- Names are used again: the node of an unfair lock is always called `holder`. With `token`, the node is deleted only if it has that
--- token, so that a later contender of the same name keeps its own. ZooKeeper cannot exclude every case: see the section evict of
--- doc/command.md.
---
--- Codes: disconnected, closed, auth, denied, invalid
---
--- Raises: if `node` is not spelled as a contender's node, or `token` as a fencing token.
---
--- ```lua
--- local guard = assert(session:mutex "/locks/orders":acquire(5))
--- local row = assert(session:contenders "/locks/orders")[1]
--- print(session:evict("/locks/orders", row.node, row.token))   --> true
--- print(select(3, guard:verify()))                  --> lost
--- guard:release()
--- ```
---@param path string any path
---@param node string as a row of `session:contenders` has it
---@param token? string as the row has it. Default: any
---@return boolean? was_there false: it was not there any more
---@return string? message
---@return zklock.Code? code
function session:evict(path, node, token) end

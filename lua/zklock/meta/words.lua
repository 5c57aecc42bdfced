---@meta _

-- # Words

-- ## Error codes
--
-- What a refusal returns as its third value, and what callbacks get. Compare with `zklock.errors`, which raises for a misspelt word.

--- Why a call was refused.
---@alias zklock.Code
---| "timeout" # the deadline passed before the lock was granted, with a server in reach
---| "busy" # `try_acquire` found the lock taken
---| "cancelled" # `cancel()` ended the wait, or [a worker of nginx that exits](loops.md#reload-quit-upgrade)
---| "lost" # the hold ended without our releasing it
---| "expired" # the ZooKeeper session ended with the hold: what `on_lost` hears then in place of `lost`
---| "disconnected" # no server could be reached in time; the message has the last error
---| "closed" # the session was closed while the call waited
---| "auth" # the servers refuse the credentials of `auth`, or require others
---| "denied" # an ACL forbids what was asked for
---| "invalid" # ZooKeeper refused the request as malformed, or it is beyond one of our bounds
---| "conflict" # a lock of another kind is in use at the path
---| "deadlock" # the wait could never end
---| "unsupported" # the client library or the server lacks what was asked for, or has it in a way that cannot be used

--- What to do about each code; each field's value is its own name.
---@class zklock.Errors
---
--- Try again later, or wait for longer. The message says how many are ahead and, if it is known, who holds the lock.
---@field timeout "timeout"
---
--- Do something else, or wait with `acquire`. The message names the holder if this session knows it.
---@field busy "busy"
---
--- Nothing: the program itself ended the wait.
---@field cancelled "cancelled"
---
--- Stop the work: somebody else may hold the lock by now. `guard:reason` says why. After `guard:release` it can be acquired again.
---@field lost "lost"
---
--- The same: all holds of the session are lost. The session begins a new one by itself.
---@field expired "expired"
---
--- See whether the servers run; the session goes on trying, so call again later. What was to be changed may have been done.
---@field disconnected "disconnected"
---
--- Open another session, if the program still needs one.
---@field closed "closed"
---
--- See the option `auth`: the message says which schemes it has.
---@field auth "auth"
--- See the ACL of the path that the message names. Waits for other paths are not disturbed.
---@field denied "denied"
---
--- Correct what the message names: a parent that is missing, a directory of too many children (doc/limits.md).
---@field invalid "invalid"
---
--- Use one kind of lock at a path, or try again later. The message names the other kind and its owner. With the option `share_path`
--- locks of different kinds share a path on purpose (doc/paths.md).
---@field conflict "conflict"
---
--- Mend the program: the caller holds the lock already, or holds `read` and asks for `write`.
---@field deadlock "deadlock"
---
--- Leave the option out. For TLS and SASL doc/tls.md says what takes their place.
---@field unsupported "unsupported"

-- ## Loss reasons
--
-- What `guard:reason` says, and what `guard:on_lost` callbacks get. The message and one line of the log say it in words. A reason is what
-- was known first: who was stopped for long hears `silence`, though the session has expired, and its node is gone, too.

--- Why a hold was lost.
---@alias zklock.Reason
---| "max_hold" # it was held for as long as the option `max_hold` allows
---| "deleted" # its node was deleted: by an operator, or by whoever else may
---| "silence" # no server answered until the lease was over; the session is `suspended` by then
---| "suspended" # the connection was lost, and the option `on_suspend` is `"lose"`
---| "closed" # its ZooKeeper session had time left, and is no more: somebody else closed it, or the servers have forgotten it
---| "expired" # its ZooKeeper session is over, and may have expired

-- ## Session events
--
-- What `session:on` and the option `on_event` hear of.

--- What happens to a session.
---@alias zklock.Event
---| "connected" # a server answers, in a new ZooKeeper session: at first, and after `expired`
---| "suspended" # there is no connection; or something was held, and the lease is over without an answer
---| "reconnected" # a server answers again, in the same ZooKeeper session
---| "expired" # the ZooKeeper session is over, with all its holds; another is begun
---| "closed" # `session:close`; nothing is told any more

-- ## Session states
--
-- What `session:state` says.

--- The state of a session.
---@alias zklock.SessionState
---| "connecting" # no server has answered yet
---| "connected" # a server answers
---| "suspended" # there is no connection; or something was held, and the lease is over without an answer
---| "expired" # the ZooKeeper session is over, and another is begun
---| "closed" # by `session:close`

-- ## Guard states
--
-- What `guard:state` says.

--- The state of a hold.
---@alias zklock.GuardState
---| "held" # it is ours, provably
---| "suspended" # there is no connection or no proof any more; a server's answer may save it
---| "released" # by us, or the session was closed
---| "lost" # it ended without our releasing it

-- ## Modes
--
-- What a contender's node is, in the rows of `session:contenders` and `lock:holders`.

--- What a contender's node is.
---@alias zklock.Mode
---| "mutex" # of a mutex or an election, in any layout
---| "read" # of a rwlock: a reader
---| "write" # of a rwlock: a writer
---| "lease" # of a semaphore: a permit, or who waits for one
---| "unfair" # of a mutex with `fair = false`; it has no `sequence`
---| "member" # of a double barrier; it holds nothing

-- ## Log levels
--
-- What the option `log` gets first.

--- How grave a line of the log is.
---@alias zklock.LogLevel
---| "error" # an error in a callback of yours, or what keeps others waiting until somebody mends it
---| "warn" # what an operator should know: no connection, a lost hold, a forgotten one
---| "info" # what may be of interest

-- ## Signals
--
-- What `zklock.release_on_signal` takes.

--- A signal's name.
---@alias zklock.Signal
---| "TERM" # what `kill` and service managers send
---| "HUP" # the terminal has gone
---| "INT" # Ctrl-C
---| "QUIT" # Ctrl-\

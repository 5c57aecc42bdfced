---@meta _

-- # Codes and states

-- ## Error codes
--
-- `zklock.errors` has each code under its own name. Each code of this table links to its messages, their causes and what to do.

--- Why a call failed.
---@alias zklock.Code
---| "timeout" # the deadline passed before the lock was granted, while a server was reachable
---| "busy" # `try_acquire` found the lock taken
---| "cancelled" # `cancel()` ended the wait, or [nginx's worker is ending](nginx.md#reload-quit-upgrade)
---| "lost" # the hold ended before its holder released it
---| "disconnected" # no server was reachable in time. The session keeps trying to connect. A server may have made the requested change
---| "closed" # the session was closed while the call waited
---| "auth" # the servers reject the credentials in `auth`, they require other credentials, or the TLS handshake fails with every server
---| "denied" # an ACL does not allow the request. Waits for other paths continue
---| "invalid" # ZooKeeper refused the request as malformed, or the request exceeds one of zklock's limits
---| "conflict" # a lock of another kind is in use at the path
---| "deadlock" # the wait could never end, because the caller itself holds the lock
---| "unsupported" # the client library or the server does not support the request

--- What to do about each code. The value of each field is its own name.
---@class zklock.Errors
---
--- Try again later, or wait longer.
---@field timeout "timeout"
---
--- Do something else, or wait with `acquire`.
---@field busy "busy"
---
--- Nothing.
---@field cancelled "cancelled"
---
--- Stop the work, because another client can hold the lock now.
---@field lost "lost"
---
--- Check whether the servers run. The session keeps trying to connect, so call again later. A server may have made the requested
--- change. The message gives the last error.
---@field disconnected "disconnected"
---
--- Open another session, if the program still needs one.
---@field closed "closed"
---
--- Check the option `auth` or `tls`.
---@field auth "auth"
---
--- Check the ACL of the path that the message names. Waits for other paths continue.
---@field denied "denied"
---
--- Fix the cause that the message names, such as a missing parent or a directory with too many children (doc/guarantees.md).
---@field invalid "invalid"
---
--- Use [one kind of lock at each path](#one-kind-of-lock-at-each-path), or try again later.
---@field conflict "conflict"
---
--- Fix the program. For example, a caller that holds `read` asks for `write`.
---@field deadlock "deadlock"
---
--- Remove the option, or install what the message names. For SASL, see doc/operations.md.
---@field unsupported "unsupported"

-- ## Loss reasons
--
-- `guard:reason` returns one of these values. zklock reports the reason that it detected first. For example, after a long pause
-- it reports `lease_expired`, even if the session has expired, too.

--- Why a hold was lost.
---@alias zklock.Reason
---| "max_hold_reached" # the hold lasted as long as the option `max_hold` allows
---| "node_deleted" # an operator or another client has deleted the hold's node
---| "lease_expired" # no server answered before the lease ended; the session is then `suspended`
---| "connection_lost" # the connection was lost, and the option `lose_on_suspend` is true
---| "session_closed" # the ZooKeeper session ended before the lease: another client closed the session, or the servers lost their data
---| "session_expired" # the ZooKeeper session ended after the lease, usually because the session expired

-- ## Session events
--
-- zklock calls the function `on_event` at each of these events, but a callback of `session:on` only at its own event.

--- An event of a session.
---@alias zklock.Event
---| "connected" # a server has opened a ZooKeeper session: the first one, or a new one after `expired`
---| "suspended" # the connection was lost, or the lease of a hold ended without an answer from a server
---| "reconnected" # after `suspended`, a server answers again, and the ZooKeeper session continues
---| "expired" # the ZooKeeper session has ended, all its holds are lost, and zklock opens a new ZooKeeper session
---| "closed" # your program has called `session:close`; no event follows

-- ## Session states

--- The state of a session.
---@alias zklock.SessionState
---| "connecting" # no server has answered yet
---| "connected" # a server answers
---| "suspended" # there is no connection, or the lease of a hold ended without an answer from a server
---| "expired" # the ZooKeeper session has ended, and zklock opens a new ZooKeeper session
---| "closed" # your program has called `session:close`

-- ## Guard states

--- The state of a hold.
---@alias zklock.GuardState
---| "held" # zklock can prove that this process holds the lock
---| "suspended" # zklock cannot prove the hold now, for example without a connection; a server's reply can restore the proof
---| "released" # the holder has released the lock, or the session was closed
---| "lost" # the hold ended before its holder released it

-- ## Modes
--
-- The kind of lock that the client of a node holds or waits for.

--- The kind of lock that the client of a node holds or waits for.
---@alias zklock.Mode
---| "mutex" # a mutex or an election, in any layout
---| "read" # a reader of a rwlock
---| "write" # a writer of a rwlock
---| "permit" # a holder of a semaphore's permit, or a waiter for a permit
---| "unfair" # a mutex with `fair = false`; it has no `sequence`
---| "member" # a member of a double barrier, which holds no lock

-- ## Log levels

--- The severity of a line of the log.
---@alias zklock.LogLevel
---| "error" # an error in your callback, or a problem that blocks other clients until an operator fixes it
---| "warn" # a problem that an operator should know: no connection, a lost hold, or a hold that your program can no longer reach
---| "info" # information

-- ## Signals

--- The name of a signal, for `zklock.release_on_signal`.
---@alias zklock.Signal
---| "TERM" # the default signal of `kill` and of service managers
---| "HUP" # the signal of a terminal that closes
---| "INT" # Ctrl-C
---| "QUIT" # Ctrl-\

---@meta _

-- # Options
--
-- An unknown option raises an error, and so does an option that does not go with the lock: zklock ignores no option. The tables of
-- doc/options.md show which options go together.

--- A time in seconds; fractions are allowed.
---@alias zklock.Seconds number

--- A length of text or data, in bytes.
---@alias zklock.Bytes integer

-- ## Options of connect

--- The options of `zklock.connect` and `zklock.ngx.session`.
---@class zklock.ConnectOptions
---
--- How long the servers keep the session without hearing from it. The lock of a process that was killed passes to the next waiter
--- after this time. The client requests it, and the server can grant another value. At least 0.1. Default: 10
---@field session_timeout? zklock.Seconds
---
--- The shortest session timeout that any server of the ensemble grants. Set it if a server may shorten the timeout in a reply that
--- never arrives (doc/dev/protocol.md). Default: none
---@field min_session_timeout? zklock.Seconds
---
--- The longest `tickTime` of any server of the ensemble (the servers' default is 2). With it, holds last longer while servers are
--- unresponsive. At most half of `session_timeout`. Behind an `observerMasterPort`, set it to twice the tick. Default: none
---@field tick_time? zklock.Seconds
---
--- How long `zklock.connect` waits. On a session of `zklock.ngx.session` that has never been connected, it also limits queries such
--- as `session:contenders`, which have no timeout of their own. Default: 10
---@field connect_timeout? zklock.Seconds
---
--- The session's credentials. Default: none
---@field auth? zklock.Credential|zklock.Credential[]
---
--- Which clients can use the nodes and directories that zklock creates: all clients (`"open"`), only their creator
--- (`"creator"`), or the creator while all clients can read (`"read"`); or a list of entries. `"creator"` and `"read"` need
--- `auth`. doc/paths.md has the details. Default: `"open"`
---@field acl? "open"|"creator"|"read"|zklock.ACLEntry[]
---
--- The event loop. `"auto"` detects it in each call that waits; `"poll"` blocks the thread; another name requires that loop; a
--- table is an [adapter](#adapter-of-a-loop). doc/loops.md has each loop's details. Default: `"auto"`
---@field loop? "auto"|"poll"|"ngx"|"skynet"|"cqueues"|"copas"|"luv"|zklock.Adapter|zklock.AdapterMaker
---
--- Is called at each event of the session. Default: none
---@field on_event? fun(event: zklock.Event, session: zklock.Session)
---
--- Is called with each line of the log: failed connections with the reason, expired sessions, requests that servers refuse, errors
--- in callbacks, forgotten holds. A repeated message is logged once a minute, with the number of suppressed ones. Without this
--- option zklock prints nothing; in `zklock.ngx.session` the default is nginx's error log. Messages of the client library itself
--- are dropped. Default: none
---@field log? fun(level: zklock.LogLevel, message: string)
---
--- The certificates for TLS. Without it, the connection is plain text. doc/operations.md shows how to use it, and what takes the place of
--- SASL. Default: none
---@field tls? zklock.TLSFiles

-- ## Credentials
--
-- The option `auth` of connect is one credential or a list of them.

--- One of the session's credentials (`auth`).
---@class zklock.Credential
---
--- How servers check the credential: `"digest"` is a user with a password. `"sasl"` is `unsupported`.
---@field scheme string
---
--- For `digest`: `"user:password"`. At most 8 192 bytes. No message shows it.
---@field credential string

-- ## ACL entries
--
-- The option `acl` of connect can be a list of these. The list must let an identity of this session read, create and delete;
-- otherwise `connect` raises an error. The whole list has at most 4 096 bytes, some 80 entries.

--- One entry of `acl`: an identity and its permissions.
---@class zklock.ACLEntry
---
--- `"world"`, `"auth"`, `"digest"`, `"ip"`, `"x509"`, …
---@field scheme string
---
--- For `world`: `"anyone"`; for `auth`, which means the creator: `""`; for `digest`: `"user:hash"`, never the password.
---@field id string
---
--- The permissions, as letters: `c` (create), `d` (delete), `r` (read), `w` (write), `a` (change the ACL).
---@field perms string

-- ## TLS files
--
-- The option `tls` of connect. The files are in PEM format. zklock reads them again for each connection; if one can no longer be
-- used, it logs a warning and uses what it has read before.

--- The files of `tls`.
---@class zklock.TLSFiles
---
--- The file with the certificates of the authorities that sign the servers' certificates. zklock trusts no others, also not those
--- of the system.
---@field ca string
---
--- The file with the client's certificate, followed by those of its authorities, if the servers do not have these. It goes
--- together with `key`. Default: none
---@field cert? string
---
--- The file with the client's private key, without a passphrase. Only the user of this process or root may own it, and other users
--- must not be able to read it. Default: none
---@field key? string
---
--- The host name or address that each server's certificate must be for. Default: the one in `hosts`
---@field name? string

-- ## Options of locks
--
-- `session:semaphore` and `session:double_barrier` take these. All other kinds of locks take these and more.

--- The options of all kinds of locks.
---@class zklock.HoldOptions
---
--- The data of the contender's node. `contenders()` shows it to other clients. At most 1 024 bytes. Default: `"host:pid"`
---@field data? string
---
--- The longest time to hold the lock. After it the hold is lost, with the reason `max_hold_reached`, and the lock is released, even
--- if Lua is blocked. Default: none
---@field max_hold? zklock.Seconds
---
--- With true, a hold ends as soon as the connection is lost, with the reason `connection_lost`. With false, it continues until its
--- lease ends. Default: false
---@field lose_on_suspend? boolean
---
--- Acquires the lock even if a lock of another kind is in use at its path. By default `acquire` returns `conflict` then
--- (doc/paths.md). Default: false
---@field share_path? boolean

-- ## Options of a rwlock
--
-- `session:rwlock` takes these, and the [options of all locks](#options-of-locks).

--- The options of `session:rwlock`.
---@class zklock.RWLockOptions: zklock.HoldOptions
---
--- If true, the task that holds the lock can acquire it again at once, with the same token; if false, `acquire` returns `deadlock`
--- then. Default: true
---@field reentrant? boolean
---
--- How nodes are named: as Curator names them, or as kazoo's own locks do. doc/migration.md has the table. Default:
--- `"curator"`
---@field layout? "curator"|"kazoo"

-- ## Options of a mutex
--
-- `session:mutex` takes these, and the [options of all locks](#options-of-locks).

--- The options of `session:mutex`.
---@class zklock.MutexOptions: zklock.HoldOptions
---
--- If true, the task that holds the lock can acquire it again at once, with the same token; if false, `acquire` returns `deadlock`
--- then. Default: true
---@field reentrant? boolean
---
--- If true, waiters get the lock in the order of arrival. If false, all contenders compete for a single node without order: this is
--- cheapest, and each release wakes all waiters. Default: true
---@field fair? boolean
---
--- How a waiter learns that it is first: by watching the node ahead of it, by watching the directory, or by polling. The last two
--- exist for comparison. Default: `"predecessor"`
---@field wait? "predecessor"|"parent"|"poll"
---
--- The pause between two polls with `wait = "poll"`. At least 0.001. Default: 1
---@field poll_interval? zklock.Seconds
---
--- How many further waiters of *this session* can take turns on one node, without a request, before another process gets the lock.
--- While no other process waits, the turns are unlimited. The turns share the node's token; `guard:turn` counts them. Default: 0
---@field local_turns? integer
---
--- How nodes are named: as Curator names them, or as kazoo's own locks do. doc/migration.md has the table. Default:
--- `"curator"`
---@field layout? "curator"|"kazoo"

-- ## Options of an election
--
-- `session:election` takes these, and the [options of all locks](#options-of-locks); its `data` is the participant's id.

--- The options of `session:election`.
---@class zklock.ElectionOptions: zklock.HoldOptions
---
--- How nodes are named: as Curator's LeaderSelector, Curator's LeaderLatch, or kazoo's Election names them. Default: `"curator"`
---@field layout? "curator"|"latch"|"kazoo"

-- ## Options of an acquisition
--
-- `lock:acquire`, `lock:acquire_async`, `lock:with_lock`, `election:campaign`, `double_barrier:enter` and similar calls take these
-- in place of a number of seconds. `data` and `max_hold` override those of the lock. A multi has one `timeout` for all its parts.

--- The options of an acquisition.
---@class zklock.AcquireOptions: zklock.TryOptions
---
--- How long to wait. 0: take only a free lock; nil or `math.huge`: wait for ever. Default: for ever
---@field timeout? zklock.Seconds

-- ## Options of try_acquire
--
-- `lock:try_acquire` takes these. The calls above take them, too.

--- The options of `lock:try_acquire`.
---@class zklock.TryOptions
---
--- The data of the node for this acquisition. Default: the lock's
---@field data? string
---
--- The longest time to hold the lock this time. Default: the lock's
---@field max_hold? zklock.Seconds
---
--- The owner of the hold, in place of the running task: any value but NaN. Default: the running task
---@field owner? any

-- ## Options of session:with_lock
--
-- `session:with_lock` takes the [options of a mutex](#options-of-a-mutex) and those [of an acquisition](#options-of-an-acquisition)
-- together.

--- The options of `session:with_lock`.
---@class zklock.WithLockOptions: zklock.MutexOptions, zklock.AcquireOptions

-- ## Options of release
--
-- `guard:release`, `lock:release` and `election:resign` take these.

--- The options of a release.
---@class zklock.ReleaseOptions
---
--- If true, returns after a server has confirmed the release; if false, as soon as zklock guarantees it. Default: false
---@field wait? boolean

-- ## Options of a barrier's wait
--
-- `barrier:wait` and `barrier:wait_async` take these.

--- The options of a barrier's waits.
---@class zklock.WaitOptions
---
--- How long to wait. Default: for ever
---@field timeout? zklock.Seconds

-- ## Options of leave
--
-- `double_barrier:leave` and `double_barrier:leave_async` take these.

--- The options of leaving.
---@class zklock.LeaveOptions
---
--- How long to wait for the other members. Default: for ever
---@field timeout? zklock.Seconds
---
--- The guard to leave with, for example one that another task entered with. Default: the calling task's
---@field guard? zklock.Guard

-- ## Options of election:run
--
-- `data` and `max_hold` are those of its campaigns.

--- The options of `election:run`.
---@class zklock.RunOptions
---
--- The first pause after `fn` has raised an error. At least 0.001. Default: 1
---@field backoff? zklock.Seconds
---
--- The pause doubles with each error in a row, up to this time. Default: 30
---@field max_backoff? zklock.Seconds
---
--- Is called with an error that `fn` has raised, in place of `log`. Default: none
---@field on_error? fun(problem: any)
---
--- The data of the participant's node. Default: the election's
---@field data? string
---
--- The longest time to lead; after it the leadership is lost. Default: the election's
---@field max_hold? zklock.Seconds

-- ## Options of session:once

--- The options of `session:once`.
---@class zklock.OnceOptions
---
--- The period. Required. `math.huge` means once and for all.
---@field per zklock.Seconds
---
--- How long to wait for the lock. Default: for ever
---@field timeout? zklock.Seconds
---
--- The data of the contender's node and of the node that records the last success. Default: `"host:pid"`
---@field data? string

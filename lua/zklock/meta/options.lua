---@meta _

-- # Options
--
-- See also doc/api.md#which-options-go-together.

--- A time in seconds; fractions are allowed.
---@alias zklock.Seconds number

--- A length of text or data, in bytes.
---@alias zklock.Bytes integer

-- ## Options of connect

--- The options of `zklock.connect` and `zklock.ngx.session`.
---@class zklock.ConnectOptions
---
--- The servers expire the session if they receive no message from it for this time. After this time, other clients can acquire
--- the locks of a killed process. The server can grant a different timeout. At least 0.1. Default: 10
---@field session_timeout? zklock.Seconds
---
--- The shortest session timeout that any server of the ensemble grants. Set it before you lower a server's `maxSessionTimeout`.
--- Otherwise, if the reply with the shorter timeout is lost, two clients can believe that they hold a lock (see
--- doc/dev/protocol.md). Default: none
---@field min_session_timeout? zklock.Seconds
---
--- The longest `tickTime` of any server of the ensemble (the servers' default is 2). With this option, holds last longer while
--- servers are unresponsive. At most half of `session_timeout`. If the client connects to observers that use an
--- `observerMasterPort`, set twice the `tickTime`. Default: none
---@field tick_time? zklock.Seconds
---
--- How long `connect` waits for a server. In nginx, this option also limits queries of a session that was never connected.
--- At least 0.001. Default: 10
---@field connect_timeout? zklock.Seconds
---
--- The session's credentials. Default: none
---@field auth? zklock.Credential|zklock.Credential[]
---
--- Which clients can use the nodes and directories that zklock creates. `"open"`: all clients. `"creator"`: only clients with the
--- creator's credentials. `"read"`: all clients can read, but only the creator has the other permissions. A list: the clients
--- that its entries name. See doc/api.md#acls. Default: `"open"`
---@field acl? "open"|"creator"|"read"|zklock.ACLEntry[]
---
--- The event loop (see doc/loops.md). `"auto"` detects the loop in each call that waits. `"poll"` blocks the thread. With any
--- other name, zklock uses only this loop. A table is an [adapter](#adapter-of-a-loop). Default: `"auto"`
---@field loop? "auto"|"poll"|"ngx"|"skynet"|"cqueues"|"copas"|"luv"|zklock.Adapter|zklock.AdapterMaker
---
--- zklock calls this function at each event of the session. Default: none
---@field on_event? fun(event: zklock.Event, session: zklock.Session)
---
--- zklock calls this function with each line of the log. zklock logs a repeated message once a minute, with the number of
--- suppressed repetitions. Without this option zklock prints nothing. In `zklock.ngx.session` the default is nginx's error log.
--- Default: none
---@field log? fun(level: zklock.LogLevel, message: string)
---
--- The certificates for TLS (see doc/operations.md). Without this option, the connection is not encrypted. Default: none
---@field tls? zklock.TLSFiles

-- ## Credentials
--
-- The option `auth` is one credential or a list of them.

--- One of the session's credentials (`auth`).
---@class zklock.Credential
---
--- `"digest"` for a user with a password. With `"sasl"`, `connect` returns `unsupported`.
---@field scheme string
---
--- `"user:password"`, of at most 8 192 bytes. No message shows it.
---@field credential string

-- ## ACL entries
--
-- The option `acl` can be a list of entries. The list can have at most 4 096 bytes, which is about 80 entries.

--- One entry of `acl`: an identity and its permissions.
---@class zklock.ACLEntry
---
--- ZooKeeper's scheme of the id: `"world"`, `"auth"`, `"digest"`, `"ip"`, `"x509"`, …
---@field scheme string
---
--- The identity. For `world`: `"anyone"`. For `auth`, which means the creator: `""`. For `digest`: `"user:hash"`, never the
--- password.
---@field id string
---
--- The permissions, as letters: `c` (create), `d` (delete), `r` (read), `w` (write), `a` (change the ACL).
---@field perms string

-- ## TLS files
--
-- The option `tls` names files in PEM format. zklock reads them again for each connection. If zklock can no longer use a file, it
-- logs a warning and uses the contents that it read before.

--- The files of `tls`.
---@class zklock.TLSFiles
---
--- The authorities that sign the servers' certificates. zklock trusts no other authorities, not even those of the system.
---@field ca string
---
--- The client's certificate. If the servers do not know an intermediate authority, append its certificate. Needs the option
--- `key`. Default: none
---@field cert? string
---
--- The client's private key, without a passphrase. The file must belong to the user of this process or to root, and other users
--- must not be able to read it. Needs the option `cert`. Default: none
---@field key? string
---
--- The host name or address that each server's certificate must contain. Default: the host name in `hosts`
---@field name? string

-- ## Options of locks
--
-- All kinds of locks take these options. `session:semaphore` and `session:double_barrier` take no other options.

--- The options of all kinds of locks.
---@class zklock.HoldOptions
---
--- The data of the client's node, at most 1 024 bytes. Other clients see it in `session:contenders`. Default: `"host:pid"`
---@field data? string
---
--- The longest time to hold the lock. After this time the hold is lost and zklock releases the lock, even if Lua is blocked.
--- Default: none
---@field max_hold? zklock.Seconds
---
--- If true, a hold ends as soon as the connection is lost. If false, the hold ends when its lease ends. Default: false
---@field lose_on_suspend? boolean
---
--- If true, `acquire` ignores [locks of another kind](#one-kind-of-lock-at-each-path) at the path. If false, `acquire` returns
--- `conflict` while such a lock is in use. Default: false
---@field share_path? boolean

-- ## Options of a rwlock
--
-- `session:rwlock` takes these options and the [options of locks](#options-of-locks).

--- The options of `session:rwlock`.
---@class zklock.RWLockOptions: zklock.HoldOptions
---
--- If true, the owner can acquire the lock again at once, with the same token. If false, a second `acquire` of the owner returns
--- `deadlock`. Default: true
---@field reentrant? boolean
--- How zklock names its nodes: as Curator does, or as kazoo does (doc/migration.md). Default: `"curator"`
---@field layout? "curator"|"kazoo"

-- ## Options of a mutex
--
-- `session:mutex` takes these options and the [options of a rwlock](#options-of-a-rwlock).

--- The options of `session:mutex`.
---@class zklock.MutexOptions: zklock.RWLockOptions
---
--- If true, waiters acquire the lock in the order of arrival. If false, all clients compete for a single node, in no order. An
--- unfair lock is the cheapest lock while no client waits, but each release wakes all waiters. Default: true
---@field fair? boolean
---
--- How a waiter learns that it is first in the queue. `"predecessor"`: it watches the node ahead of it. `"parent"`: it watches
--- the lock's directory. `"poll"`: it polls. `"parent"` and `"poll"` exist for benchmarks. Default: `"predecessor"`
---@field wait? "predecessor"|"parent"|"poll"
---
--- The pause between two polls with `wait = "poll"`. At least 0.001. Default: 1
---@field poll_interval? zklock.Seconds
---
--- While another session waits: how many times in a row holders can pass the lock to a waiter of *their own session*. Such a turn
--- needs no request. While no other session waits, the number of turns is unlimited. Default: 0
---@field local_turns? integer

-- ## Options of an election
--
-- `session:election` takes these options and the [options of locks](#options-of-locks). Its `data` is the participant's id.

--- The options of `session:election`.
---@class zklock.ElectionOptions: zklock.HoldOptions
--- How zklock names its nodes: as Curator's LeaderSelector does (`"curator"`), Curator's LeaderLatch (`"latch"`), or kazoo's
--- Election (`"kazoo"`). Default: `"curator"`
---@field layout? "curator"|"latch"|"kazoo"

-- ## Options of an acquisition
--
-- `lock:acquire`, `lock:with_lock`, `election:campaign`, `double_barrier:enter` and their `_async` forms take a number of
-- seconds, or a table with these options. `lock:try_acquire` takes them without `timeout`. `session:with_lock` also takes the
-- [options of a mutex](#options-of-a-mutex). `data` and `max_hold` override the options of the lock.

--- The options of `lock:try_acquire`.
---@class zklock.TryOptions
---
--- The data of the node for this acquisition. Default: the lock's `data`
---@field data? string
---
--- The longest time to hold the lock after this acquisition. Default: the lock's `max_hold`
---@field max_hold? zklock.Seconds
---
--- The value that identifies the owner of the hold. NaN raises an error. Default: the running task
---@field owner? any

--- The options of an acquisition.
---@class zklock.AcquireOptions: zklock.TryOptions
---
--- How long to wait. With 0, the call acquires only a free lock. With nil or `math.huge`, the wait has no limit. Default: no
--- limit
---@field timeout? zklock.Seconds

--- The options of `session:with_lock`.
---@class zklock.WithLockOptions: zklock.MutexOptions, zklock.AcquireOptions

-- ## Options of release
--
-- `guard:release`, `lock:release` and `election:resign` take this option.

--- The options of a release.
---@class zklock.ReleaseOptions
---
--- If true, the call returns after a server has confirmed the release. If false, the call returns as soon as zklock guarantees
--- the release. Default: false
---@field wait? boolean

-- ## Options of wait and leave
--
-- `barrier:wait` takes `timeout`. `double_barrier:leave` takes `timeout` and `guard`.

--- The options of a barrier's waits.
---@class zklock.WaitOptions
---
--- How long to wait. Default: no limit
---@field timeout? zklock.Seconds

--- The options of leaving.
---@class zklock.LeaveOptions: zklock.WaitOptions
---
--- The guard of the member that leaves, for example the guard of another task. Default: the calling task's guard
---@field guard? zklock.Guard

-- ## Options of election:run

--- The options of `election:run`.
---@class zklock.RunOptions
---
--- The pause after the first error that `fn` raises. At least 0.001. Default: 1
---@field backoff? zklock.Seconds
--- The longest pause after an error of `fn`. Default: 30
---@field max_backoff? zklock.Seconds
---
--- zklock calls this function with each error that `fn` has raised. Default: zklock logs the error
---@field on_error? fun(problem: any)
---
--- The data of the participant's node. Default: the election's `data`
---@field data? string
---
--- The longest time to lead. After this time the leadership is lost. Default: the election's `max_hold`
---@field max_hold? zklock.Seconds

-- ## Options of session:once

--- The options of `session:once`.
---@class zklock.OnceOptions
---
--- The length of the period; required. With `math.huge`, the job runs only once.
---@field per zklock.Seconds
---
--- How long to wait for the lock. Default: no limit
---@field timeout? zklock.Seconds
---
--- The data of this client's node in the queue, and of the node that records the last success. Default: `"host:pid"`
---@field data? string

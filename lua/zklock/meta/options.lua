---@meta _

-- # Options
--
-- A misspelt option raises, and so does one that does not go with the lock: nothing is ignored. doc/options.md shows by tables which go
-- together.

--- A time, in seconds; it need not be whole.
---@alias zklock.Seconds number

--- A length of text or data, in bytes.
---@alias zklock.Bytes integer

-- ## Options of connect

--- What `zklock.connect` and `zklock.ngx.session` take.
---@class zklock.ConnectOptions
---
--- How long the servers keep the session when they hear nothing of it; a lock of a process that was killed passes on then. It is asked
--- for: the server has the last word. At least 0.1. Default: 10
---@field session_timeout? zklock.Seconds
---
--- No server of the ensemble grants less: say it where one may grant a shorter timeout than before in a reply that never arrives
--- (doc/protocol.md). Default: none
---@field least_session_timeout? zklock.Seconds
---
--- No server of the ensemble has a longer `tickTime` (2 is the servers' default): then holds last longer when servers are
--- silent. At most half of `session_timeout`; twice as much as the tick behind an `observerMasterPort`. Default: none
---@field tick_time? zklock.Seconds
---
--- How long `zklock.connect` waits; and, on a session of `zklock.ngx.session` that has never been connected, questions such as
--- `session:contenders`, which have no timeout of their own. Default: 10
---@field connect_timeout? zklock.Seconds
---
--- Who we say that we are. Default: nobody
---@field auth? zklock.Credential|zklock.Credential[]
---
--- Who may use the nodes and directories that we make: everybody, only who made them, or everybody may read them; or a list.
--- `"creator"` and `"read"` need `auth`. doc/paths.md has the details. Default: `"open"`
---@field acl? "open"|"creator"|"read"|zklock.ACLEntry[]
---
--- The event loop: `"auto"` finds out at each call that must wait; `"poll"` blocks the thread; a name insists; a table is an
--- [adapter](#adapter-of-a-loop). doc/loops.md has each loop's details. Default: `"auto"`
---@field loop? "auto"|"poll"|"ngx"|"skynet"|"cqueues"|"copas"|"luv"|zklock.Adapter|zklock.AdapterMaker
---
--- Hears of all events of the session. Default: none
---@field on_event? fun(event: zklock.Event, session: zklock.Session)
---
--- Is told a sentence now and then: no connection to a server, and why; an expired session; what servers refuse; errors in callbacks;
--- forgotten holds. What would be said again and again is told once a minute, with how often it was not. Without it nothing is ever
--- printed; in `zklock.ngx.session` it is nginx's error log. What the client library itself says is told to nobody. doc/messages.md lists
--- the sentences. Default: none
---@field log? fun(level: zklock.LogLevel, message: string)
---
--- Is `unsupported`: a tunnel does it, and takes SASL's place, too. doc/tls.md says how. Default: none
---@field tls? zklock.TLSFiles

-- ## Credentials
--
-- What the option `auth` of connect is, or is a list of.

--- One of `auth`: who we say that we are.
---@class zklock.Credential
---
--- How servers check it: `"digest"` is a user with a password. (`"sasl"` is `unsupported`.)
---@field scheme string
---
--- Of `digest` it is `"user:password"`. At most 8 192 bytes. No message shows it.
---@field credential string

-- ## ACL entries
--
-- What the option `acl` of connect may be a list of. A list is misuse if nobody that this session may be could read, create and delete
-- under it. All of it is at most 4 096 bytes, some 80 entries.

--- One of `acl`: who may do what.
---@class zklock.ACLEntry
---
--- `"world"`, `"auth"`, `"digest"`, `"ip"`, `"x509"`, …
---@field scheme string
---
--- Of `world` it is `"anyone"`; of `auth`, which is whoever creates, it is `""`; of `digest` it is `"user:hash"`, never the password.
---@field id string
---
--- Made of the letters `c` (create), `d` (delete), `r` (read), `w` (write), `a` (change the ACL).
---@field perms string

-- ## TLS files
--
-- What the option `tls` of connect is.

--- `tls`: files that other clients take. They are checked, and then refused as `unsupported`.
---@class zklock.TLSFiles
---
--- The file of the authority's certificate.
---@field ca? string
---
--- The file of our certificate.
---@field cert? string
---
--- The file of our key.
---@field key? string

-- ## Options of locks
--
-- `session:semaphore` and `session:double_barrier` take these; all other kinds take these and more.

--- What all kinds of locks take.
---@class zklock.HoldOptions
---
--- The data of our node. `on_wait` and `contenders()` show it to other clients. At most 1 024 bytes. Default: `"host:pid"`
---@field data? string
---
--- The hold is lost, with the reason `max_hold`, and the lock given back after so long, even if Lua is stuck. Default: none
---@field max_hold? zklock.Seconds
---
--- Without a connection: keep the hold until its lease is over, or lose it at once, with the reason `suspended`. Default: `"keep"`
---@field on_suspend? "keep"|"lose"
---
--- Acquires the lock even if a lock of another kind is in use at its path. By default `acquire` returns `conflict` then (doc/paths.md).
--- Default: false
---@field share_path? boolean

-- ## Options of a rwlock
--
-- `session:rwlock` takes these, and the [options of all locks](#options-of-locks).

--- What `session:rwlock` takes.
---@class zklock.RWLockOptions: zklock.HoldOptions
---
--- The same task acquires again at once, with the same token; `false`: it is told `deadlock`. Default: true
---@field reentrant? boolean
---
--- How nodes are spelled: as Curator's, or for shops that use kazoo's own locks. doc/interoperation.md has the table. Default: `"curator"`
---@field layout? "curator"|"kazoo"

-- ## Options of a mutex
--
-- `session:mutex` takes these, and the [options of all locks](#options-of-locks).

--- What `session:mutex` takes.
---@class zklock.MutexOptions: zklock.HoldOptions
---
--- The same task acquires again at once, with the same token; `false`: it is told `deadlock`. Default: true
---@field reentrant? boolean
---
--- `false`: one node, and whoever makes it first has the lock. There is no order; it is the cheapest, and each release wakes all
--- waiters. Default: true
---@field fair? boolean
---
--- How a waiter learns of its turn: by the node before its own; by watching the directory; or by asking again and again. The last two
--- exist to be compared with. Default: `"predecessor"`
---@field wait? "predecessor"|"parent"|"poll"
---
--- How long who waits by `"poll"` waits before it asks again. At least 0.001. Default: 1
---@field poll_interval? zklock.Seconds
---
--- Up to so many waiters of *this session* take turns on one node before another process does, without a request; while no other waits
--- there is no end to them. They share the node's token; `guard:turn` counts them. Default: 0
---@field handoffs? integer
---
--- How nodes are spelled: as Curator's, or for shops that use kazoo's own locks. doc/interoperation.md has the table. Default: `"curator"`
---@field layout? "curator"|"kazoo"

-- ## Options of an election
--
-- `session:election` takes these, and the [options of all locks](#options-of-locks); its `data` are the participant's id.

--- What `session:election` takes.
---@class zklock.ElectionOptions: zklock.HoldOptions
---
--- Whose nodes they are: those of Curator's LeaderSelector, of Curator's LeaderLatch, or of kazoo's Election. Default: `"curator"`
---@field layout? "curator"|"latch"|"kazoo"

-- ## Options of an acquisition
--
-- What `lock:acquire`, `lock:acquire_async`, `lock:with_lock`, `election:campaign`, `double_barrier:enter` and their like take in place of
-- a number of seconds. `data` and `max_hold` go before those of the lock. A multi has one `timeout` for all of its parts.

--- What acquisitions take.
---@class zklock.AcquireOptions: zklock.TryOptions
---
--- How long to wait. 0: only what is free at once; nil and `math.huge`: for ever. Default: for ever
---@field timeout? zklock.Seconds

-- ## Options of try_acquire
--
-- `lock:try_acquire` takes these, and the forms above take them as well.

--- What `lock:try_acquire` takes.
---@class zklock.TryOptions
---
--- What our node carries this time. Default: the lock's
---@field data? string
---
--- As the lock's option, for this hold. Default: the lock's
---@field max_hold? zklock.Seconds
---
--- Who is to own the hold, in place of the running task: any value but NaN. Default: the running task
---@field owner? any

-- ## Options of session:with_lock
--
-- `session:with_lock` takes the [options of a mutex](#options-of-a-mutex) and those [of an acquisition](#options-of-an-acquisition)
-- together.

--- What `session:with_lock` takes.
---@class zklock.WithLockOptions: zklock.MutexOptions, zklock.AcquireOptions

-- ## Options of release
--
-- `guard:release`, `lock:release` and `election:resign` take these.

--- What releases take.
---@class zklock.ReleaseOptions
---
--- Return when a server has confirmed that the lock is free, rather than when that is guaranteed. Default: false
---@field wait? boolean

-- ## Options of a barrier's wait
--
-- `barrier:wait` and `barrier:wait_async` take these.

--- What a barrier's waits take.
---@class zklock.WaitOptions
---
--- How long to wait. Default: for ever
---@field timeout? zklock.Seconds

-- ## Options of leave
--
-- `double_barrier:leave` and `double_barrier:leave_async` take these.

--- What leaving takes.
---@class zklock.LeaveOptions
---
--- How long to wait for the others. Default: for ever
---@field timeout? zklock.Seconds
---
--- Who is to leave: what another task has entered with. Default: the calling task
---@field guard? zklock.Guard

-- ## Options of election:run
--
-- `data` and `max_hold` are those of its campaigns.

--- What `election:run` takes.
---@class zklock.RunOptions
---
--- The pause after a function that has failed, for the first time in a row. At least 0.001. Default: 1
---@field backoff? zklock.Seconds
---
--- The pause is doubled until it is so long. Default: 30
---@field max_backoff? zklock.Seconds
---
--- Hears what the function has raised, in place of `log`. Default: none
---@field on_error? fun(problem: any)
---
--- What our node carries. Default: the election's
---@field data? string
---
--- The leadership is lost after so long. Default: the election's
---@field max_hold? zklock.Seconds

-- ## Options of session:once

--- What `session:once` takes.
---@class zklock.OnceOptions
---
--- The period. It must be given; `math.huge` is once and for all.
---@field per zklock.Seconds
---
--- How long to wait for the lock. Default: for ever
---@field timeout? zklock.Seconds
---
--- What our node carries, and the node of the last success. Default: `"host:pid"`
---@field data? string

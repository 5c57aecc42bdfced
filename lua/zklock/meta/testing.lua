---@meta _

-- # Testing
--
-- The module `zklock.testing` simulates servers in the test's own process, and a clock that the test moves. Load the module
-- before `require "zklock"`. It needs Linux. doc/cookbook.md has a first test.
--
-- The simulated clock advances only in `advance`, in `sleep`, and in zklock calls that wait. You can pass the option `tls`, but
-- zklock does not read its files.
--
-- The examples begin with `local testing = require "zklock.testing"`, `local zklock = require "zklock"`,
-- `local server = testing.server()` and `local session = assert(zklock.connect(server.hosts))`.

--- What `require "zklock.testing"` returns. Loading it raises an error if the real zklock is already loaded.
---@class zklock.testing.Module
local testing = {}

--- Starts a ZooKeeper server, or an ensemble of several servers, in this process. The servers use no sockets: only calls of
--- `zklock.connect` in this process find them, by their `hosts`.
---
--- ```lua
--- print(server.hosts)    --> 127.0.0.1:2181
--- local ensemble = testing.server { hosts = "zk1:2181,zk2:2181,zk3:2181" }
--- local other = assert(zklock.connect "zk1:2181,zk2:2181,zk3:2181/app")
--- print(other:state())   --> connected
--- ```
---@param options? zklock.testing.ServerOptions
---@return zklock.testing.Server server
function testing.server(options) end

--- Moves the clock forward. Each due event happens at its own time: sessions expire, waits time out, other clients release locks.
--- zklock calls the callbacks of all open sessions. `advance` raises their errors.
---
--- Raises: for a negative number, and inside `copas.loop`, where time passes by itself.
---
--- ```lua
--- local guard = session:mutex("/locks/orders"):acquire { max_hold = 10 }
--- guard:on_lost(function(_, reason) print(reason) end)
--- testing.advance(60)    --> max_hold_reached
--- ```
---@param seconds zklock.Seconds by how much
function testing.advance(seconds) end

--- Moves the clock without calling callbacks, as if the program slept. Use `sleep` in loops that call `session:step` directly.
---
--- Raises: as `zklock.testing.advance`.
---
--- ```lua
--- local done = false
--- session:mutex("/locks/orders"):acquire_async(function() done = true end)
--- while not done do
---   session:step()
---   testing.sleep(0.01)
--- end
--- ```
---@param seconds zklock.Seconds by how much
function testing.sleep(seconds) end

--- Calls `fn` when the clock has moved by `seconds`, inside the call that moves the clock. So `fn` can run in the middle of a
--- wait.
---
--- Raises: for a negative number.
---
--- ```lua
--- local hold = server:hold "/locks/orders"
--- testing.after(30, function() hold:release() end)
--- print(session:mutex("/locks/orders"):acquire(60) ~= nil)   --> true
--- ```
---@param seconds zklock.Seconds from now
---@param fn fun()
function testing.after(seconds, fn) end

--- Returns the seconds on the test's clock, as `zklock.now` does.
---@return zklock.Seconds now
function testing.now() end

--- Returns the servers' time of day, in seconds since 1970. Use it in place of `os.time()` in programs that compare times with
--- the servers' times.
---
--- ```lua
--- session:touch "/report"
--- testing.advance(3600)
--- local age = testing.time() - session:stat("/report").modified
--- print(age >= 3600 and age < 3601)   --> true
--- ```
---@return zklock.Seconds time
function testing.time() end

--- Closes all sessions, other clients and servers, cancels all calls of `after`, and seeds the random generator again. Call
--- `reset` after each test.
---
--- ```lua
--- testing.reset()
--- print(session:state())   --> closed
--- ```
function testing.reset() end

--- Seeds the random generator, which decides, for example, how long a packet takes. With the same seed, a test runs in the same
--- way.
---
--- ```lua
--- testing.seed(42)
--- ```
---@param number integer the seed, 0 to 2147483648. Default: 1
function testing.seed(number) end

--- Returns a copy of the LuaSocket module whose `gettime`, `sleep` and `select` use the test clock.
---
--- Raises: if LuaSocket cannot be loaded.
---
--- ```lua
--- package.loaded.socket = testing.socket()
--- require "socket".sleep(3600)
--- ```
---@return table socket
function testing.socket() end

--- Loads copas with the test's clock, and returns copas. In `copas.loop`, whenever all threads wait, the clock jumps to the next
--- event.
---
--- Raises: if copas is loaded already, or cannot be loaded.
---
--- ```lua
--- local ok, problem = pcall(testing.copas)
--- print(ok or problem:find "copas" ~= nil)   --> true
--- ```
---@return table copas
function testing.copas() end

-- ## Server
--
-- The parameter `session` is a session of this server. You can also pass the hold of another client, which selects that
-- client's session. The parameter `i` is the index of a server, starting at 1. Without an argument: `disconnect`, `silence` and
-- `reconnect` apply to all sessions; `stop`, `start`, `pause` and `resume` apply to all servers.

--- A testing server, or an ensemble of them.
---@class zklock.testing.Server
---
--- The `hosts` for `zklock.connect`.
---@field hosts string
---
--- The id of the process that the server runs in.
---@field pid integer
local server = {}

--- Makes another client hold the lock of a path.
---
--- Raises: if the lock is not free.
---
--- ```lua
--- local hold = server:hold("/locks/orders", { seconds = 30 })
--- print((session:mutex("/locks/orders"):try_acquire()))   --> nil
--- testing.advance(31)
--- print(hold:is_held())   --> false
--- ```
---@param path string
---@param options? zklock.testing.HoldOptions
---@return zklock.testing.Hold hold
function server:hold(path, options) end

--- Makes another client wait for the lock of a path. This client acquires the lock in its turn.
---
--- ```lua
--- local guard = session:mutex("/locks/orders"):acquire(5)
--- local other = server:contend "/locks/orders"
--- guard:release()
--- testing.advance(1)
--- print(other:is_held())   --> true
--- ```
---@param path string
---@param options? zklock.testing.HoldOptions
---@return zklock.testing.Hold hold
function server:contend(path, options) end

--- Expires a ZooKeeper session: its connection breaks, and the servers delete its nodes. In the next `advance` or wait, the
--- client loses its holds with the reason `session_closed`, and begins another ZooKeeper session.
---
--- ```lua
--- local guard = session:mutex("/locks/orders"):acquire(5)
--- guard:on_lost(function(_, reason) print(reason) end)
--- server:expire(session)
--- testing.advance(1)   --> session_closed
--- ```
---@param session zklock.Session|zklock.testing.Hold
---@return boolean expired false if the session has expired already, or the servers have no leader
function server:expire(session) end

--- Breaks the connection of `session` and refuses its new connections until you call `server:reconnect`. Without `session`,
--- does so for all sessions.
---
--- ```lua
--- server:disconnect(session)
--- testing.advance(2)
--- print(session:state())   --> suspended
--- server:reconnect(session)
--- testing.advance(2)
--- print(session:state())   --> connected
--- ```
---@param session? zklock.Session|zklock.testing.Hold
---@return zklock.testing.Server server itself
function server:disconnect(session) end

--- Drops all packets in both directions, until `server:reconnect`. As with a broken cable, neither side sees the connection end.
---
--- ```lua
--- local guard = session:mutex("/locks/orders"):acquire(5)
--- server:silence(session)
--- testing.advance(10)
--- print(guard:is_held(), guard:reason())   --> false	lease_expired
--- ```
---@param session? zklock.Session|zklock.testing.Hold
---@return zklock.testing.Server server itself
function server:silence(session) end

--- Ends the effects of `server:disconnect` and `server:silence`.
---@param session? zklock.Session|zklock.testing.Hold
---@return zklock.testing.Server server itself
function server:reconnect(session) end

--- Kills a server. Its stored data stays.
---
--- ```lua
--- local ensemble = testing.server { servers = 3 }
--- ensemble:stop(ensemble:leader())
--- testing.advance(5)
--- print(ensemble:leader() ~= nil)   --> true
--- ```
---@param i? integer
---@return zklock.testing.Server server itself
function server:stop(i) end

--- Starts a server again.
---
--- ```lua
--- server:stop()
--- testing.advance(2)
--- server:start()
--- testing.advance(2)
--- print(session:state())   --> connected
--- ```
---@param i? integer
---@return zklock.testing.Server server itself
function server:start(i) end

--- Suspends the process of a server. Packets from clients wait until `server:resume`.
---
--- ```lua
--- server:pause()
--- testing.after(1, function() server:resume() end)
--- print(session:mutex("/locks/orders"):acquire(5) ~= nil)   --> true
--- ```
---@param i? integer
---@return zklock.testing.Server server itself
function server:pause(i) end

--- Continues the process that `server:pause` has suspended.
---@param i? integer
---@return zklock.testing.Server server itself
function server:resume(i) end

--- Cuts a server off from the other servers. Clients can still reach it.
---
--- ```lua
--- local ensemble = testing.server { servers = 3 }
--- local other = assert(zklock.connect(ensemble.hosts))
--- ensemble:isolate(ensemble:server_of(other))
--- testing.advance(30)
--- print(other:state())   --> connected
--- ensemble:rejoin()
--- ```
---@param i integer
---@return zklock.testing.Server server itself
function server:isolate(i) end

--- Lets all servers reach each other again.
---@return zklock.testing.Server server itself
function server:rejoin() end

--- Returns the number of the server that leads the ensemble.
---@return integer? i nil without a leader
function server:leader() end

--- Returns the number of the server that a session is connected to.
---@param session zklock.Session|zklock.testing.Hold
---@return integer? i nil if the session is not connected
function server:server_of(session) end

--- Closes the sessions that are connected to this server, and stops the server permanently.
---
--- ```lua
--- server:close()
--- print(session:state())   --> closed
--- ```
function server:close() end

-- ## Another client's hold

--- Another client, as `server:hold` and `server:contend` return it.
---@class zklock.testing.Hold
---
--- The path of the lock.
---@field path string
local hold = {}

--- Returns whether the other client holds the lock now.
---@return boolean is_held
function hold:is_held() end

--- Releases the lock, or ends the wait for it, and closes the other client's session.
---@return true ok
function hold:release() end

-- ## Options of testing

--- The options of `testing.server`.
---@class zklock.testing.ServerOptions
---
--- The number of servers in the ensemble, 1 to 9. Default: the number of servers in `hosts`, or 1 without `hosts`
---@field servers? integer
---
--- The hosts that your program passes to `connect`, separated by commas. Host names need no DNS. Default: free ports of 127.0.0.1
---@field hosts? string
---
--- The servers' `tickTime`. The servers grant session timeouts of two to twenty ticks. Default: 2
---@field tick_time? zklock.Seconds
---
--- The one-way delay between a client and a server. Default: about 0.0001
---@field latency? zklock.Seconds

--- The options of `server:hold` and `server:contend`.
---@class zklock.testing.HoldOptions
---
--- The kind of lock that the other client holds. Default: `"mutex"`
---@field kind? "mutex"|"read"|"write"|"permit"
---
--- How many permits the semaphore has; only with `kind = "permit"`. Default: none
---@field permits? integer
---
--- How long the simulated client holds the lock. Default: until your test releases it
---@field seconds? zklock.Seconds
---
--- The data that the other client writes to its node. Default: a host name and a process id
---@field data? string
---
--- The option `layout` of the lock, as in `session:mutex`. Default: `"curator"`
---@field layout? string
---
--- The option `fair` of the lock, as in `session:mutex`. Default: true
---@field fair? boolean

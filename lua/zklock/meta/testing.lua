---@meta _

-- # Testing
--
-- Load `local testing = require "zklock.testing"` before `require "zklock"`. It provides servers in the test's own process, and a
-- clock that the test moves. It works on Linux; doc/cookbook.md has a first test. Time passes in three places only: in
-- `testing.advance`, in `testing.sleep`, and in a call of zklock that waits.
--
-- The examples of this section begin with the lines `local testing = require "zklock.testing"`, `local zklock = require "zklock"`,
-- `local server = testing.server()` and `local session = assert(zklock.connect(server.hosts))`.

--- What `require "zklock.testing"` returns. Loading it raises an error if the real zklock is already loaded.
---@class zklock.testing.Module
local testing = {}

--- Starts a ZooKeeper server in this process, or an ensemble of several. Each call starts a separate server or ensemble. It listens
--- on no socket: `zklock.connect` finds it by its `hosts`, in this process only.
---
--- Raises: for options that are unknown or invalid, such as `port`, because the server listens on no socket.
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

--- Moves the clock. Everything that is due happens at its own time: sessions expire, waits time out, other clients release. The
--- callbacks of all open sessions are called as if their loops ran. Errors that a callback raises come out of this call.
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

--- Moves the clock while the program does nothing, as `socket.sleep` would: no callback is called. Use it in loops that call
--- `session:step` themselves, and in place of a program's own sleep.
---
--- Raises: for a negative number, and inside `copas.loop`, where time passes by itself.
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

--- Calls `fn` once the clock has moved by `seconds`, inside the call that moves it: `advance`, `sleep`, or a call of zklock that
--- waits. With it, something can happen in the middle of a wait.
---
--- Raises: for a negative number.
---
--- ```lua
--- local hold = server:hold "/locks/orders"
--- testing.after(30, function() hold:release() end)
--- print(session:mutex("/locks/orders"):acquire(60) ~= nil)   --> true
--- ```
---@param seconds zklock.Seconds from now
---@param fn fun() is called once
function testing.after(seconds, fn) end

--- Returns the seconds on the test's clock. `zklock.now` is the same clock.
---
--- ```lua
--- local begun = testing.now()
--- testing.advance(30)
--- print(math.floor(testing.now() - begun))   --> 30
--- ```
---@return zklock.Seconds now
function testing.now() end

--- Returns the servers' time of day, in seconds since 1970. Give it to programs that compare `os.time()` with the times of servers.
---
--- ```lua
--- session:touch "/report"
--- testing.advance(3600)
--- local age = testing.time() - session:stat("/report").modified
--- print(age >= 3600 and age < 3601)   --> true
--- ```
---@return zklock.Seconds time
function testing.time() end

--- Closes all sessions, other clients and servers, forgets what `after` was given, and restarts the random generator from its seed.
--- For `after_each`.
---
--- ```lua
--- testing.reset()
--- print(session:state())   --> closed
--- ```
function testing.reset() end

--- Seeds the random generator, which decides everything that is random, such as how long a packet takes and which server a session
--- connects to. The same test with the same seed runs the same way. The default seed is 1.
---
--- Raises: if the seed is not an integer from 0 to 2147483648.
---
--- ```lua
--- testing.seed(42)
--- ```
---@param number integer the seed
function testing.seed(number) end

--- Returns LuaSocket's module with `gettime`, `sleep` and `select` on the test's clock. Give it to programs in place of `require
--- "socket"`.
---
--- Raises: if LuaSocket cannot be loaded.
---
--- ```lua
--- package.loaded.socket = testing.socket()
--- require "socket".sleep(3600)
--- ```
---@return table socket
function testing.socket() end

--- Loads copas with the test's clock, and returns it. In `copas.loop` time passes by itself, without delay, whenever all threads
--- wait.
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

--- A testing server, or an ensemble of them.
---@class zklock.testing.Server
---
--- What `zklock.connect` takes.
---@field hosts string
---
--- The process that the server runs in.
---@field pid integer
local server = {}

--- Makes another client hold the lock of a path from now on.
---
--- Raises: if the lock is not free.
---
--- ```lua
--- local hold = server:hold("/locks/orders", { seconds = 30 })
--- print((session:mutex("/locks/orders"):try_acquire()))   --> nil
--- testing.advance(31)
--- print(hold:is_held())   --> false
--- ```
---@param path string as for `session:mutex`
---@param options? zklock.testing.HoldOptions
---@return zklock.testing.Hold hold
function server:hold(path, options) end

--- Makes another client wait for the lock of a path from now on. The client acquires the lock in its turn.
---
--- ```lua
--- local guard = session:mutex("/locks/orders"):acquire(5)
--- local other = server:contend "/locks/orders"
--- guard:release()
--- testing.advance(1)
--- print(other:is_held())   --> true
--- ```
---@param path string as for `session:mutex`
---@param options? zklock.testing.HoldOptions
---@return zklock.testing.Hold hold
function server:contend(path, options) end

--- Expires a ZooKeeper session: its connection breaks, and the servers delete its nodes. The session learns this when it
--- reconnects, in the next `advance` or wait: its holds are lost with the reason `session_closed`, because the session ends before
--- its timeout. Then it begins another ZooKeeper session.
---
--- Raises: for a session that is closed, or connected to another testing server.
---
--- ```lua
--- local guard = session:mutex("/locks/orders"):acquire(5)
--- guard:on_lost(function(_, reason) print(reason) end)
--- server:expire(session)
--- testing.advance(1)   --> session_closed
--- ```
---@param session zklock.Session|zklock.testing.Hold the session
---@return boolean expired false: it has expired already, or the servers have no leader
function server:expire(session) end

--- Breaks the connection of a session and refuses new ones, until `server:reconnect`. Without an argument it does so for all
--- sessions, including later ones. Returns the server.
---
--- Raises: for a session of another testing server.
---
--- ```lua
--- server:disconnect(session)
--- testing.advance(2)
--- print(session:state())   --> suspended
--- server:reconnect(session)
--- testing.advance(2)
--- print(session:state())   --> connected
--- ```
---@param session? zklock.Session|zklock.testing.Hold the session, or the one of this hold. Default: all sessions
---@return zklock.testing.Server server
function server:disconnect(session) end

--- Drops all packets in both directions, until `server:reconnect`. As with a broken cable, neither side sees the connection end.
--- Returns the server.
---
--- Raises: for a session of another testing server.
---
--- ```lua
--- local guard = session:mutex("/locks/orders"):acquire(5)
--- server:silence(session)
--- testing.advance(10)
--- print(guard:is_held(), guard:reason())   --> false	lease_expired
--- ```
---@param session? zklock.Session|zklock.testing.Hold the session, or the one of this hold. Default: all sessions
---@return zklock.testing.Server server
function server:silence(session) end

--- Ends the effects of `server:disconnect` and `server:silence`, for a session or for all. Returns the server.
---
--- Raises: for a session of another testing server.
---
--- ```lua
--- server:silence()
--- testing.advance(1)
--- server:reconnect()
--- print(session:mutex("/locks/orders"):acquire(5) ~= nil)   --> true
--- ```
---@param session? zklock.Session|zklock.testing.Hold the session, or the one of this hold. Default: all sessions
---@return zklock.testing.Server server
function server:reconnect(session) end

--- Kills the server, or one server of an ensemble. Its stored data stays. Returns the server.
---
--- Raises: if there is no server with this number.
---
--- ```lua
--- local ensemble = testing.server { servers = 3 }
--- ensemble:stop(ensemble:leader())
--- testing.advance(5)
--- print(ensemble:leader() ~= nil)   --> true
--- ```
---@param i? integer the number of the server, from 1. Default: all servers
---@return zklock.testing.Server server
function server:stop(i) end

--- Starts the server again, or one server of an ensemble. Returns the server.
---
--- Raises: if there is no server with this number.
---
--- ```lua
--- server:stop()
--- testing.advance(2)
--- server:start()
--- testing.advance(2)
--- print(session:state())   --> connected
--- ```
---@param i? integer the number of the server, from 1. Default: all servers
---@return zklock.testing.Server server
function server:start(i) end

--- Suspends the process of the server, or of one server of an ensemble. Packets from clients wait. Returns the server.
---
--- Raises: if there is no server with this number.
---
--- ```lua
--- server:pause()
--- testing.after(1, function() server:resume() end)
--- print(session:mutex("/locks/orders"):acquire(5) ~= nil)   --> true
--- ```
---@param i? integer the number of the server, from 1. Default: all servers
---@return zklock.testing.Server server
function server:pause(i) end

--- Continues the process that `server:pause` has suspended. Returns the server.
---
--- Raises: if there is no server with this number.
---
--- ```lua
--- server:pause():resume()
--- ```
---@param i? integer the number of the server, from 1. Default: all servers
---@return zklock.testing.Server server
function server:resume(i) end

--- Partitions one server of an ensemble from the other servers; its clients still reach it. Returns the server.
---
--- Raises: if there is no server with this number.
---
--- ```lua
--- local ensemble = testing.server { servers = 3 }
--- local other = assert(zklock.connect(ensemble.hosts))
--- ensemble:isolate(ensemble:server_of(other))
--- testing.advance(30)
--- print(other:state())   --> connected
--- ```
---@param i integer its number, from 1
---@return zklock.testing.Server server
function server:isolate(i) end

--- Lets all servers of an ensemble reach each other again. Returns the server.
---
--- ```lua
--- local ensemble = testing.server { servers = 3 }
--- ensemble:isolate(1):rejoin()
--- ```
---@return zklock.testing.Server server
function server:rejoin() end

--- Returns the number of the server that leads the ensemble.
---
--- ```lua
--- print(server:leader())   --> 1
--- ```
---@return integer? i nil: there is none at the moment
function server:leader() end

--- Returns the number of the server that a session is connected to.
---
--- Raises: for a session of another testing server.
---
--- ```lua
--- print(server:server_of(session))   --> 1
--- ```
---@param session zklock.Session|zklock.testing.Hold the session
---@return integer? i nil: it is not connected
function server:server_of(session) end

--- Closes the sessions that are connected to it, and stops it permanently. `testing.reset` closes all servers.
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
---
--- ```lua
--- print(server:hold "/locks/orders":is_held())   --> true
--- ```
---@return boolean is_held
function hold:is_held() end

--- Releases the lock, or ends the wait for it, and closes the other client's session. Calling it again does nothing.
---
--- ```lua
--- local hold = server:hold "/locks/orders"
--- hold:release()
--- print(session:mutex("/locks/orders"):try_acquire() ~= nil)   --> true
--- ```
---@return true ok
function hold:release() end

-- ## Options of testing

--- The options of `testing.server`.
---@class zklock.testing.ServerOptions
---
--- How many servers form the ensemble, 1 to 9. Default: as many as `hosts` names, or 1
---@field servers? integer
---
--- The names by which the program connects to the servers, separated by commas. No name is resolved. Default: free ports of
--- 127.0.0.1
---@field hosts? string
---
--- The servers' `tickTime`: session timeouts are between two and twenty ticks. Default: 2
---@field tick_time? zklock.Seconds
---
--- How long a packet takes between a client and a server. Default: about 0.0001
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
--- How long the client holds the lock. Default: until it is released
---@field seconds? zklock.Seconds
---
--- The data of its node, as the option `data` of `lock:acquire`. Default: host and process
---@field data? string
---
--- As the option of `session:mutex`. Default: as there
---@field layout? string
---
--- As the option of `session:mutex`. Default: as there
---@field fair? boolean

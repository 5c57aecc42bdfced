--- Server: a ZooKeeper server in this process, or an ensemble of several.
local virtual = require "zklock.testing.core"

local check = require "zklock.check"
local clock = require "zklock.testing.clock"
local core = require "zklock.core"
local errors = require "zklock.errors"
local holds = require "zklock.testing.hold"
local hosts = require "zklock.testing.hosts"
local schema = require "zklock.schema"
local sessions = require "zklock.session"

local misuse = errors.misuse

local Server = {}
Server.__index = Server

local LARGEST = 9 -- the most servers in an ensemble
local LEAST_TICK, LONGEST_TICK = 0.01, 60

-- Options.

local of_others = check.set "port host address bind listen socket"

local function refuse_others(given)
  for name in pairs(type(given) == "table" and given or {}) do
    if of_others[name] then
      misuse("testing.server takes no option '%s': it serves this process "
        .. "alone and listens at no socket; for other processes start a "
        .. "ZooKeeper server", name)
    end
  end
end

local number_of_servers = check.number("a whole number", 1, LARGEST)

local function count_servers(value, title, read)
  number_of_servers(value, title)
  if read.hosts and value ~= #read.hosts then
    misuse("option 'servers' must be how many option 'hosts' names, got %d "
      .. "and %d", value, #read.hosts)
  end
  return value
end

local function read_hosts(text, title)
  check.type(text, "string", title)
  local fault, chroot = core.check_hosts(text)
  if fault then misuse("option 'hosts' %s", fault) end
  if chroot ~= "" then
    misuse("option 'hosts' of testing.server must have no chroot, got %q", text)
  end
  local entries = hosts.split(text)
  if #entries > LARGEST then
    misuse("option 'hosts' must name at most %d servers, got %d", LARGEST,
      #entries)
  end
  return entries
end

local options_of_server = schema.new("options of testing.server", {
  { "hosts", read_hosts },
  { "servers", count_servers },
  { "tick_time", check.number("a number of seconds", LEAST_TICK,
    LONGEST_TICK), 2 },
  { "latency", check.number("a number of seconds", 0, LONGEST_TICK) },
})

-- Sessions.

-- Maps each session to `{ server =, client = }`: its testing server, and its
-- client's number in the model. The number stays the same when the ZooKeeper
-- session expires.
local of_session = setmetatable({}, { __mode = "k" })

local function attend(text, server, session, ...)
  if not session then return session, ... end
  local engine = session._engine
  engine.hosts = text
  of_session[session] = { server = server,
    client = virtual.client_of(server._addresses[1], session:id()) }
  clock.attend(session)
  return session, ...
end

local connect = sessions.connect

function sessions.connect(text, ...)
  local translated, server = hosts.translate(text)
  if not server then return connect(translated, ...) end
  return attend(text, server, connect(translated, ...))
end

-- Returns the session that the user has given, directly or by a hold, and its
-- record in of_session.
local function read_session(self, given, method)
  local session = given
  if getmetatable(given) == holds.class then session = given._session end
  local known_of = type(session) == "table" and of_session[session]
  if not known_of then
    misuse("argument 1 of %s must be a session or another client's hold, "
      .. "got a %s", method, type(given))
  elseif known_of.server ~= self then
    misuse("argument 1 of %s is connected to another testing server", method)
  end
  return session, known_of
end

-- Servers.

local servers = {}
local all = {} -- the servers that are not closed
local count, seed = 0, 1

--- Restarts the random generators from this seed. Servers that start later
-- derive their seeds from it, too.
function servers.seed(number)
  count, seed = 0, number
  virtual.seed(number)
end

servers.seed(seed)

--- Starts a server, or an ensemble of servers.  `given`: the options.
function servers.new(given)
  refuse_others(given)
  local options = options_of_server:read(given)
  local entries = options.hosts or hosts.choose(options.servers or 1)
  count = count + 1
  local self = setmetatable({ hosts = table.concat(entries, ","),
    pid = core.pid(), _holds = {} }, Server)
  self._addresses = hosts.claim(entries, self)
  local settings = { addresses = self._addresses, seed = seed * 1000 + count,
    tick_ms = options.tick_time * 1000, max_connections = 0 }
  if options.latency then
    settings.client = { options.latency, options.latency }
  end
  local ok, ensemble = pcall(virtual.ensemble, settings)
  if not ok then
    hosts.release(self)
    misuse("no more testing servers fit into this process (%s): call "
      .. "testing.reset after each test", ensemble)
  end
  self._ensemble = ensemble
  all[#all + 1] = self
  return self
end

-- Returns the ensemble of an open server. Raises an error if the server is
-- closed, or belongs to another process.
local function ensemble_of(self)
  if not self._ensemble then misuse("this testing server is closed") end
  if self.pid ~= core.pid() then
    misuse("this testing server is in process %d: no other process can reach "
      .. "it, not even its child", self.pid)
  end
  return self._ensemble
end

local function check_server(self, i, method)
  check.type(i, "number", "argument 1 of " .. method)
  if not self._addresses[i] then
    misuse("argument 1 of %s must be the number of a server, 1 to %d, got %s",
      method, #self._addresses, tostring(i))
  end
end

-- Applies `operation` to the server with number `i`, or to all if `i` is nil.
local function operate(self, operation, i)
  local ensemble, n = ensemble_of(self), #self._addresses
  if i ~= nil then check_server(self, i, operation) end
  for k = i or 1, i or n do ensemble[operation](ensemble, k) end
  return self
end

function Server:stop(i) return operate(self, "stop", i) end
function Server:start(i) return operate(self, "start", i) end
function Server:pause(i) return operate(self, "pause", i) end
function Server:resume(i) return operate(self, "resume", i) end

--- Returns the number of the leader; nil if there is none now.
function Server:leader() return ensemble_of(self):leader() end

--- Partitions server `i` from the other servers; its clients still reach it.
function Server:isolate(i)
  check_server(self, i, "isolate")
  ensemble_of(self):group(i, i)
  return self
end

--- Ends the effect of isolate: all servers reach each other again.
function Server:rejoin()
  local ensemble = ensemble_of(self)
  for i = 1, #self._addresses do ensemble:group(i, 0) end
  return self
end

-- Connections.

local function befall(self, fault, method, session)
  ensemble_of(self)
  local client
  if session ~= nil then
    client = select(2, read_session(self, session, method)).client
  end
  for _, address in ipairs(self._addresses) do
    virtual.client_fault(address, fault, client)
  end
  return self
end

--- Breaks the connections of a session and refuses new connections. Without a
-- session, does this to all sessions.
function Server:disconnect(session)
  return befall(self, "refuse", "disconnect", session)
end

--- Drops all packets of a session, or of all sessions. Neither side notices
-- that the connection is broken.
function Server:silence(session)
  return befall(self, "freeze", "silence", session)
end

--- Ends the effects of disconnect and silence.
function Server:reconnect(session)
  return befall(self, "heal", "reconnect", session)
end

--- Returns the number of the server to which a session is connected, or nil.
function Server:server_of(session)
  ensemble_of(self)
  local _, of = read_session(self, session, "server_of")
  return virtual.server_of(self._addresses[1], of.client)
end

--- Expires a ZooKeeper session.  Breaks its connection first, because a client
-- learns of the expiry only when it reconnects.
function Server:expire(session)
  local ensemble = ensemble_of(self)
  local live, of = read_session(self, session, "expire")
  if live:state() == "closed" then misuse("argument 1 of expire is closed") end
  for _, address in ipairs(self._addresses) do
    virtual.client_fault(address, "cut", of.client)
  end
  return ensemble:end_session(live:id())
end

-- Other clients.

local function another_client(self, path, given, method)
  ensemble_of(self)
  check.lock_path(path, "", "argument 1 of " .. method)
  local options = holds.options:read(given)
  local session, message = sessions.connect(self.hosts, { loop = "poll" })
  if not session then
    misuse("another client cannot connect for %s: %s", method, message)
  end
  local hold = holds.new(session, path, options)
  self._holds[hold] = true -- keeps the hold alive for the test
  return hold
end

--- Makes another client acquire the lock of a path, which must be free; returns
-- its hold.
function Server:hold(path, options)
  local hold = another_client(self, path, options, "hold")
  local ok, message = holds.take(hold)
  if not ok then
    hold:release()
    misuse("another client cannot hold %s at once (contend waits for it): %s",
      path, message)
  end
  return hold
end

--- Makes another client wait for the lock of a path from now on; returns its
-- hold.
function Server:contend(path, options)
  local hold = another_client(self, path, options, "contend")
  holds.queue(hold)
  return hold
end

-- Closing.

local GONE = 60 -- the most seconds until all connections have ended

local function close_sessions(self)
  for _, session in ipairs(clock.sessions()) do
    if of_session[session].server == self then session:close() end
  end
end

--- Closes all sessions that belong to the server, and stops it permanently.
function Server:close()
  if not self._ensemble then return end
  ensemble_of(self)
  self:rejoin():start():resume():reconnect()
  close_sessions(self)
  local deadline = virtual.now() + GONE
  while not virtual.remove(self._ensemble) and virtual.now() < deadline do
    virtual.sleep(0.1)
  end
  self._ensemble, self._holds = false, {}
  hosts.release(self)
  for i = #all, 1, -1 do
    if all[i] == self then table.remove(all, i) end
  end
end

--- Closes all servers and their sessions, and restarts the random generators
-- from the last seed.
function servers.reset()
  clock.forget_timers()
  while all[1] do all[#all]:close() end
  servers.seed(seed)
end

function Server:__tostring()
  return errors.describe("testing server %s%s", self.hosts,
    self._ensemble and "" or " (closed)")
end

check.methods(Server, [[
  server:stop(i)
  server:start(i)
  server:pause(i)
  server:resume(i)
  server:leader()
  server:isolate(i)
  server:rejoin()
  server:disconnect(session)
  server:silence(session)
  server:reconnect(session)
  server:server_of(session)
  server:expire(session)
  server:hold(path, options)
  server:contend(path, options)
  server:close()
]])

return servers

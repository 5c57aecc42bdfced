--- A minimal ZooKeeper client of our own: the specs look into ZooKeeper with
-- it, so that they need not believe the library.  Blocking, one request at a
-- time.  "No such node" and the like are `false, reason`; the rest raises.
local socket = require "socket"
local transport = require "support.transport"

local Client = {}
Client.__index = Client

local REASONS = { [-101] = "no node", [-110] = "exists", [-102] = "auth",
  [-111] = "not empty" }

-- Who has heard nothing for long may have no session any more.
local LONG = 5

local function stay_connected(self)
  if socket.gettime() - self.heard < LONG or pcall(self.ping, self) then
    return
  end
  self.connection:hang_up()
  self:open()
end

-- The reply; a server that closes the connection raises.
local function ask(self, request)
  assert(self.connection, "the client is closed")
  local xid = assert(self.connection:send(request), "closed")
  while true do
    local item = self.connection:receive()
    if item.kind == "reply" and item.xid == xid then return item end
    assert(item.kind ~= "ended", "closed")
  end
end

local READS = { exists = true, get = true, get_acl = true, children = true }

local function request(self, fields)
  local renews = self.options.renews and fields.op ~= "close"
  if renews then stay_connected(self) end
  self.heard = 0
  local ok, reply = pcall(ask, self, fields)
  -- A server that loses its leader closes its connections.
  if not ok and renews and READS[fields.op] then
    self.connection:hang_up()
    self:open()
    ok, reply = true, ask(self, fields)
  end
  if not ok then error(reply, 0) end
  self.heard = socket.gettime()
  return reply.rc, reply
end

-- The reply; or false and why: there is no node, or what else is `expected`.
local function done(self, fields, expected)
  local code, reply = request(self, fields)
  if code == 0 then return reply end
  local reason = REASONS[code]
  if reason and ("no node " .. (expected or "")):find(reason, 1, true) then
    return false, reason
  end
  error(("raw %s of %s failed: %d"):format(fields.op, tostring(fields.path),
    code), 3)
end

--- A session of its own.
function Client:open()
  local options = self.options
  self.heard = socket.gettime()
  self.connection = transport.open(self.host,
    { timeout = (options.timeout or 30) * 1000, patience = options.patience })
  local session = self.connection.session
  self.timeout, self.id = session.timeout / 1000, session.id
  if options.auth then self:auth(options.auth) end
end

--- Connects to the first of `hosts`.
-- `options.timeout`: of the session, in seconds; `options.auth`: digest;
-- `options.renews`: goes on with another session if it has lost its own while
-- it was idle, or before the reply to a read.
local function connect(hosts, options)
  local self = setmetatable({ host = hosts:match "[%w%.]+:%d+",
    options = options or {} }, Client)
  self:open()
  return self
end

function Client:auth(credential)
  local reply = ask(self, { op = "auth", scheme = "digest", data = credential })
  assert(reply.rc == 0, "authentication was refused")
end

function Client:ping() return ask(self, { op = "ping" }) end

--- Ends the session.
function Client:close()
  if not self.connection then return end
  pcall(request, self, { op = "close" })
  self.connection:hang_up()
  self.connection = nil
end

-- Requests.

-- The request that makes such a node.
local function creation(path, options)
  local data = options.data
  if options.null then data = false end
  return {
    op = options.container and "create_container" or "create",
    path = path, data = data, acl = options.acl,
    flags = options.container and 4
      or (options.ephemeral and 1 or 0) + (options.sequential and 2 or 0),
  }
end

--- `options`: data (or null), ephemeral, sequential, container, acl.
-- Returns the path; false and "exists" or "no node" where that is why.
function Client:create(path, options)
  local reply, why = done(self, creation(path, options or {}), "exists")
  return reply and reply.path, why
end

-- So many bytes of a transaction travel in one packet, or a single part of it.
local PACKET = 100000

--- Creates `n` nodes, whose paths are `path_of(i)`, some hundred at a time;
-- `options`: data, ephemeral, acl.
function Client:create_many(n, path_of, options)
  local parts, bytes = {}, 0
  for i = 1, n do
    local part = creation(path_of(i), options or {})
    parts[#parts + 1] = part
    bytes = bytes + #part.path + #(part.data or "") + 60
    if bytes > PACKET or i == n then
      local code, reply = request(self, { op = "multi", parts = parts })
      for _, result in ipairs(reply.parts or {}) do
        if code == 0 then code = result.rc end
      end
      assert(code == 0, "raw multi failed: " .. code)
      parts, bytes = {}, 0
    end
  end
end

--- Creates what is missing of `path`.
function Client:make(path, options)
  for slash in path:gmatch("()/") do
    if slash > 1 then self:create(path:sub(1, slash - 1), options) end
  end
  return self:create(path, options)
end

function Client:delete(path)
  local reply, why = done(self, { op = "delete", path = path },
    "auth, not empty")
  return reply and true, why
end

function Client:delete_all(path)
  for _, child in ipairs(self:children(path) or {}) do
    self:delete_all(path .. "/" .. child)
  end
  return self:delete(path)
end

function Client:exists(path)
  local reply = done(self, { op = "exists", path = path })
  return reply and reply.stat
end

--- Does the server show the stat of the node at `path`? Servers since 3.8.4 and
-- 3.9.2 show it only to sessions that may read the node.
function Client:sees(path)
  return done(self, { op = "exists", path = path }, "auth") and true
end

--- data, stat
function Client:get(path)
  local reply = done(self, { op = "get", path = path })
  return reply and (reply.data or ""), reply and reply.stat
end

function Client:set(path, data)
  return done(self, { op = "set", path = path, data = data }) and true
end

--- Who may use a node: `{ { perms =, scheme =, id = }, … }`.
function Client:acl(path)
  local reply = done(self, { op = "get_acl", path = path })
  return reply and reply.acl
end

function Client:set_acl(path, acl)
  assert(done(self, { op = "set_acl", path = path, acl = acl }))
end

--- Sorted by name.
function Client:children(path)
  local reply = done(self, { op = "children", path = path })
  if reply then table.sort(reply.names) end
  return reply and reply.names
end

--- The contenders of a mutex in order of their numbers.
function Client:queue(path)
  local queue = {}
  for _, name in ipairs(self:children(path) or {}) do
    if name:find("%-lock%-" .. ("%d"):rep(10) .. "$") then
      queue[#queue + 1] = name
    end
  end
  table.sort(queue, function(a, b) return a:sub(-10) < b:sub(-10) end)
  return queue
end

--- The answer of the server at `host` ("ip:port") to a four-letter word.
local function word(host, text)
  local ip, port = host:match("([%w%.]+):(%d+)")
  local connection = assert(socket.tcp())
  connection:settimeout(30)
  if not connection:connect(ip, tonumber(port)) then
    connection:close()
    return nil
  end
  connection:send(text)
  local answer, _, rest = connection:receive("*a")
  connection:close()
  return answer or rest
end

return { connect = connect, word = word }

--- A minimal ZooKeeper client of our own: the specs look into ZooKeeper with
-- it, so that they need not believe the library.  Blocking, one request at a
-- time.  "No such node" and the like are `false, reason`; the rest raises.
local socket = require "socket"
local transport = require "support.transport"

local Client = {}
Client.__index = Client

local NO_NODE, NODE_EXISTS, NO_AUTH, NOT_EMPTY = -101, -110, -102, -111

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

local function failed(kind, path, code)
  error(("raw %s of %s failed: %d"):format(kind, tostring(path), code), 3)
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
    op = options.container and "create_container"
      or options.ttl and "create_ttl" or "create",
    path = path, data = data, acl = options.acl, ttl = options.ttl,
    flags = options.container and 4 or options.ttl and 5
      or (options.ephemeral and 1 or 0) + (options.sequential and 2 or 0),
  }
end

--- `options`: data (or null), ephemeral, sequential, container, ttl (in
-- milliseconds), acl.
-- Returns the path; false and "exists" or "no node" where that is why.
function Client:create(path, options)
  local code, reply = request(self, creation(path, options or {}))
  if code == NODE_EXISTS then return false, "exists" end
  if code == NO_NODE then return false, "no node" end
  if code ~= 0 then failed("create", path, code) end
  return reply.path
end

-- So many bytes of a transaction travel in one packet, or a single part of it.
local PACKET = 100000

-- `part(i)`: the i-th of `n` parts.
local function multi(self, n, part)
  local parts, bytes = {}, 0
  for i = 1, n do
    parts[#parts + 1] = part(i)
    bytes = bytes + #parts[#parts].path + #(parts[#parts].data or "") + 60
    if bytes > PACKET or i == n then
      local code, reply = request(self, { op = "multi", parts = parts })
      for _, result in ipairs(reply.parts or {}) do
        if code == 0 then code = result.rc end
      end
      if code ~= 0 then failed("multi", "the last " .. i, code) end
      parts, bytes = {}, 0
    end
  end
end

--- Creates `n` nodes, whose paths are `path_of(i)`, some hundred at a time;
-- `options`: data, ephemeral, acl.
function Client:create_many(n, path_of, options)
  multi(self, n, function(i) return creation(path_of(i), options or {}) end)
end

--- Creates what is missing of `path`.
function Client:make(path, options)
  for slash in path:gmatch("()/") do
    if slash > 1 then self:create(path:sub(1, slash - 1), options) end
  end
  return self:create(path, options)
end

function Client:delete(path)
  local code = request(self, { op = "delete", path = path })
  if code == NO_NODE then return false end
  if code == NO_AUTH then return false, "auth" end
  if code == NOT_EMPTY then return false, "not empty" end
  if code ~= 0 then failed("delete", path, code) end
  return true
end

function Client:delete_all(path)
  for _, child in ipairs(self:children(path) or {}) do
    self:delete_all(path .. "/" .. child)
  end
  return self:delete(path)
end

function Client:exists(path)
  local code, reply = request(self, { op = "exists", path = path })
  if code == NO_NODE then return false end
  if code ~= 0 then failed("exists", path, code) end
  return reply.stat
end

--- Does the server show the stat of the node at `path`? Servers since 3.8.4 and
-- 3.9.2 show it only to sessions that may read the node.
function Client:sees(path)
  local code = request(self, { op = "exists", path = path })
  if code ~= 0 and code ~= NO_AUTH then failed("exists", path, code) end
  return code == 0
end

--- data, stat
function Client:get(path)
  local code, reply = request(self, { op = "get", path = path })
  if code == NO_NODE then return false end
  if code ~= 0 then failed("get", path, code) end
  return reply.data or "", reply.stat
end

function Client:set(path, data)
  local code = request(self, { op = "set", path = path, data = data })
  if code == NO_NODE then return false end
  if code ~= 0 then failed("set", path, code) end
  return true
end

--- Who may use a node: `{ { perms =, scheme =, id = }, … }`.
function Client:acl(path)
  local code, reply = request(self, { op = "get_acl", path = path })
  if code == NO_NODE then return false end
  if code ~= 0 then failed("get_acl", path, code) end
  return reply.acl
end

function Client:set_acl(path, acl)
  local code = request(self, { op = "set_acl", path = path, acl = acl })
  if code ~= 0 then failed("set_acl", path, code) end
end

--- Sorted by name.
function Client:children(path)
  local code, reply = request(self, { op = "children", path = path })
  if code == NO_NODE then return false end
  if code ~= 0 then failed("children", path, code) end
  table.sort(reply.names)
  return reply.names
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

--- A minimal ZooKeeper client of our own: the specs look into ZooKeeper with
-- it, so that they need not believe the library.  Blocking, one request at a
-- time.  "No such node" and the like are `false, reason`; the rest raises.
local frame = require "support.frame"
local socket = require "socket"

local Client = {}
Client.__index = Client

local NO_NODE, NODE_EXISTS, NO_AUTH, NOT_EMPTY = -101, -110, -102, -111
local OPCODES = {
  create = 1, delete = 2, exists = 3, get = 4, set = 5, get_acl = 6,
  set_acl = 7, children = 8, ping = 11, multi = 14, create_container = 19,
  create_ttl = 21, close = -11, auth = 100,
}
local OPEN = { { perms = 31, scheme = "world", id = "anyone" } }

-- Marshalling.

local int, buffer = frame.int, frame.buffer
local read_unsigned, read_int = frame.read_unsigned, frame.read_int

local function acl_list(acl)
  local parts = { int(#acl) }
  for _, entry in ipairs(acl) do
    parts[#parts + 1] = int(entry.perms) .. buffer(entry.scheme)
      .. buffer(entry.id)
  end
  return table.concat(parts)
end

local function read_buffer(text, at)
  local size = read_int(text, at)
  if size < 0 then return nil, at + 4 end
  return text:sub(at + 4, at + 3 + size), at + 4 + size
end

-- A number of a test server's zxids is exact in a double.
local function read_zxid(text, at)
  return ("%019.0f"):format(read_unsigned(text, at) * 4294967296
    + read_unsigned(text, at + 4))
end

local function read_hex(text, at)
  local digits = text:sub(at, at + 7):gsub(".", function(c)
    return ("%02x"):format(c:byte())
  end)
  return "0x" .. digits:gsub("^0+", "")
end

local function read_stat(text, at)
  return {
    czxid = read_zxid(text, at),
    version = read_int(text, at + 32),
    cversion = read_int(text, at + 36),
    owner = read_hex(text, at + 44), -- "0x": not ephemeral
    size = read_int(text, at + 52),
    children = read_int(text, at + 56),
  }
end

-- The connection.

local function send(self, payload)
  assert(self.socket:send(buffer(payload)))
end

local function receive(self)
  local size = read_int(assert(self.socket:receive(4)), 1)
  return assert(self.socket:receive(size))
end

-- Who has heard nothing for long may have no session any more.
local LONG = 5

local function stay_connected(self)
  if socket.gettime() - self.heard < LONG or pcall(self.ping, self) then
    return
  end
  self.socket:close()
  self:open()
end

local function request(self, kind, payload)
  if self.options.renews and kind ~= "close" then stay_connected(self) end
  self.xid, self.heard = self.xid + 1, 0
  send(self, int(self.xid) .. int(OPCODES[kind]) .. (payload or ""))
  while true do
    local reply = receive(self)
    local xid = read_int(reply, 1)
    if xid == self.xid then
      self.heard = socket.gettime()
      return read_int(reply, 13), reply:sub(17)
    end
  end
end

local function failed(kind, path, code)
  error(("raw %s of %s failed: %d"):format(kind, tostring(path), code), 3)
end

--- A session of its own.
function Client:open()
  local options = self.options
  self.xid, self.heard = 0, socket.gettime()
  self.socket = assert(socket.tcp())
  self.socket:settimeout(options.patience or 30)
  assert(self.socket:connect(self.host, self.port))
  self.socket:setoption("tcp-nodelay", true)
  send(self, int(0) .. int(0) .. int(0)
    .. int((options.timeout or 30) * 1000) .. int(0) .. int(0)
    .. buffer(("\0"):rep(16)) .. "\0")
  local reply = receive(self)
  self.timeout = read_int(reply, 5) / 1000
  self.id = read_hex(reply, 9)
  if options.auth then self:auth(options.auth) end
end

--- Connects to the first of `hosts`.
-- `options.timeout`: of the session, in seconds; `options.auth`: digest;
-- `options.renews`: goes on with another session if it has lost its own while
-- it was idle.
local function connect(hosts, options)
  options = options or {}
  local host, port = hosts:match("([%w%.]+):(%d+)")
  local self = setmetatable({ host = host, port = tonumber(port),
    options = options }, Client)
  self:open()
  return self
end

function Client:auth(credential)
  send(self, int(-4) .. int(OPCODES.auth) .. int(0) .. buffer("digest")
    .. buffer(credential))
  local reply = receive(self)
  assert(read_int(reply, 13) == 0, "authentication was refused")
end

function Client:ping()
  send(self, int(-2) .. int(OPCODES.ping))
  return receive(self)
end

--- Ends the session.
function Client:close()
  if not self.socket then return end
  pcall(request, self, "close")
  self.socket:close()
  self.socket = nil
end

-- Requests.

-- The request that makes such a node, its flags, and what is behind these.
local function kind_of(options)
  if options.container then return "create_container", 4, "" end
  if options.ttl then return "create_ttl", 5, int(0) .. int(options.ttl) end
  return "create",
    (options.ephemeral and 1 or 0) + (options.sequential and 2 or 0), ""
end

--- `options`: data (or null), ephemeral, sequential, container, ttl (in
-- milliseconds), acl.
-- Returns the path; false and "exists" or "no node" where that is why.
function Client:create(path, options)
  options = options or {}
  local kind, flags, rest = kind_of(options)
  local code, reply = request(self, kind,
    buffer(path) .. (options.null and int(-1) or buffer(options.data or ""))
      .. acl_list(options.acl or OPEN) .. int(flags) .. rest)
  if code == NODE_EXISTS then return false, "exists" end
  if code == NO_NODE then return false, "no node" end
  if code ~= 0 then failed("create", path, code) end
  return (read_buffer(reply, 1))
end

-- So many bytes of a transaction travel in one packet, or a single part of it.
local PACKET = 100000

-- `payload(i)`: of the i-th of `n` parts, each of this kind.
local function multi(self, kind, n, payload)
  local parts, bytes = {}, 0
  for i = 1, n do
    parts[#parts + 1] = int(OPCODES[kind]) .. "\0" .. int(-1) .. payload(i)
    bytes = bytes + #parts[#parts]
    if bytes > PACKET or i == n then
      local code = request(self, "multi",
        table.concat(parts) .. int(-1) .. "\1" .. int(-1))
      if code ~= 0 then failed("multi " .. kind, "the last " .. i, code) end
      parts, bytes = {}, 0
    end
  end
end

--- Creates `n` nodes, whose paths are `path_of(i)`, some hundred at a time;
-- `options`: data, ephemeral, acl.
function Client:create_many(n, path_of, options)
  options = options or {}
  local rest = buffer(options.data or "") .. acl_list(options.acl or OPEN)
    .. int(options.ephemeral and 1 or 0)
  multi(self, "create", n, function(i) return buffer(path_of(i)) .. rest end)
end

--- Deletes the children of a node, some hundred at a time, and it.
function Client:delete_many(path)
  local names = self:children(path) or {}
  multi(self, "delete", #names, function(i)
    return buffer(path .. "/" .. names[i]) .. int(-1)
  end)
  return self:delete(path)
end

--- Creates what is missing of `path`.
function Client:make(path, options)
  for slash in path:gmatch("()/") do
    if slash > 1 then self:create(path:sub(1, slash - 1), options) end
  end
  return self:create(path, options)
end

function Client:delete(path)
  local code = request(self, "delete", buffer(path) .. int(-1))
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
  local code, reply = request(self, "exists", buffer(path) .. "\0")
  if code == NO_NODE then return false end
  if code ~= 0 then failed("exists", path, code) end
  return read_stat(reply, 1)
end

--- Does the server show the stat of the node at `path`? Servers since 3.8.4 and
-- 3.9.2 show it only to sessions that may read the node.
function Client:sees(path)
  local code = request(self, "exists", buffer(path) .. "\0")
  if code ~= 0 and code ~= NO_AUTH then failed("exists", path, code) end
  return code == 0
end

--- data, stat
function Client:get(path)
  local code, reply = request(self, "get", buffer(path) .. "\0")
  if code == NO_NODE then return false end
  if code ~= 0 then failed("get", path, code) end
  local data, at = read_buffer(reply, 1)
  return data or "", read_stat(reply, at)
end

function Client:set(path, data)
  local code = request(self, "set", buffer(path) .. buffer(data) .. int(-1))
  if code == NO_NODE then return false end
  if code ~= 0 then failed("set", path, code) end
  return true
end

--- Who may use a node: `{ { perms =, scheme =, id = }, … }`.
function Client:acl(path)
  local code, reply = request(self, "get_acl", buffer(path))
  if code == NO_NODE then return false end
  if code ~= 0 then failed("get_acl", path, code) end
  local acl, at = {}, 5
  for i = 1, read_int(reply, 1) do
    local entry = { perms = read_int(reply, at) }
    entry.scheme, at = read_buffer(reply, at + 4)
    entry.id, at = read_buffer(reply, at)
    acl[i] = entry
  end
  return acl
end

function Client:set_acl(path, acl)
  local code = request(self, "set_acl",
    buffer(path) .. acl_list(acl) .. int(-1))
  if code ~= 0 then failed("set_acl", path, code) end
end

--- Sorted by name.
function Client:children(path)
  local code, reply = request(self, "children", buffer(path) .. "\0")
  if code == NO_NODE then return false end
  if code ~= 0 then failed("children", path, code) end
  local names, at = {}, 5
  for i = 1, read_int(reply, 1) do
    names[i], at = read_buffer(reply, at)
  end
  table.sort(names)
  return names
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

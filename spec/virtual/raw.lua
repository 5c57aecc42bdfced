--- support.raw in virtual time: a client of our own, by which the specs look into
-- ZooKeeper.  One request at a time.  "No such node" and the like are `false,
-- reason`; the rest raises.
local virtual = require "zklock.virtual"

local Client = {}
Client.__index = Client

local NO_NODE, NODE_EXISTS, NO_AUTH, NOT_EMPTY = -101, -110, -102, -111

-- The connection.

local function take(self)
  local heard = self.connection:take(self.options.patience or 30)
  if not heard then error("timeout", 0) end
  if heard.kind == "ended" then
    self.connection = nil
    error("closed", 0)
  end
  return heard
end

-- Who has heard nothing for long may have no session any more.
local LONG = 5

local function stay_connected(self)
  if virtual.now() - self.heard < LONG or pcall(self.ping, self) then return end
  if self.connection then self.connection:hang_up() end
  self:open()
end

local function ask(self, message)
  local xid = self.connection and self.connection:send(message)
  if not xid then error("closed", 0) end
  while true do
    local reply = take(self)
    if reply.kind == "reply" and reply.xid == xid then
      self.heard = virtual.now()
      return reply.rc, reply
    end
  end
end

local function request(self, message)
  if self.options.renews then stay_connected(self) end
  self.heard = 0
  return ask(self, message)
end

local function failed(kind, path, code)
  error(("raw %s of %s failed: %d"):format(kind, tostring(path), code), 3)
end

--- A session of its own.
function Client:open()
  self.heard = virtual.now()
  self.connection = virtual.client(self.host, { timeout = self.options.timeout })
  local greeting = take(self)
  self.id, self.timeout = greeting.id, greeting.timeout / 1000
  if self.options.auth then self:auth(self.options.auth) end
end

--- Connects to the first of `hosts`; `options` as support.raw has them.
local function connect(hosts, options)
  local self = setmetatable({ host = hosts:match "[%w%.]+:%d+",
    options = options or {} }, Client)
  self:open()
  return self
end

function Client:auth(credential)
  local rc = ask(self, { op = "auth", scheme = "digest", data = credential })
  assert(rc == 0, "authentication was refused")
end

function Client:ping() return ask(self, { op = "ping" }) end

--- Ends the session.
function Client:close()
  if not self.connection then return end
  pcall(ask, self, { op = "close" })
  if self.connection then self.connection:hang_up() end
  self.connection = nil
end

-- Requests.

local function create_request(path, options)
  local flags = (options.ephemeral and 1 or 0) + (options.sequential and 2 or 0)
  local data = options.data or ""
  if options.null then data = false end
  return {
    op = options.container and "create_container"
      or options.ttl and "create_ttl" or "create",
    flags = options.container and 4 or options.ttl and 5 or flags,
    path = path, data = data, acl = options.acl, ttl = options.ttl,
  }
end

--- `options`: data (or null), ephemeral, sequential, container, ttl (in
-- milliseconds), acl.
-- Returns the path; false and "exists" or "no node" where that is why.
function Client:create(path, options)
  local code, reply = request(self, create_request(path, options or {}))
  if code == NODE_EXISTS then return false, "exists" end
  if code == NO_NODE then return false, "no node" end
  if code ~= 0 then failed("create", path, code) end
  return reply.path
end

-- So many parts in one transaction.
local PARTS = 500

local function multi(self, n, part_of)
  for from = 1, n, PARTS do
    local parts = {}
    for i = from, math.min(n, from + PARTS - 1) do
      parts[#parts + 1] = part_of(i)
    end
    local code, reply = request(self, { op = "multi", parts = parts })
    for i, part in ipairs(reply.parts or {}) do
      if part.rc ~= 0 then failed("multi", parts[i].path, part.rc) end
    end
    if code ~= 0 then failed("multi", parts[1].path, code) end
  end
end

--- Creates `n` nodes, whose paths are `path_of(i)`; `options`: data, ephemeral,
-- acl.
function Client:create_many(n, path_of, options)
  multi(self, n, function(i) return create_request(path_of(i), options or {}) end)
end

--- Deletes the children of a node, and it.
function Client:delete_many(path)
  local names = self:children(path) or {}
  multi(self, #names, function(i)
    return { op = "delete", path = path .. "/" .. names[i] }
  end)
  return self:delete(path)
end

--- Creates what is missing of `path`.
function Client:make(path, options)
  for slash in path:gmatch "()/" do
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

--- Does the server show the stat of the node at `path`?
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
  local names = reply.names or {}
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

--- (These servers know no four-letter words.)
local function word() return nil end

return { connect = connect, word = word }

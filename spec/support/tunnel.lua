--- stunnel, as doc/operations.md and examples/tunnel have it: the page's
-- blocks and the examples are what runs.
local lfs = require "lfs"
local socket = require "socket"
local support = require "support"
local files = require "support.files"
local shell = require "support.shell"
local reader = require "documents.reader"

local must = shell.must
local root = os.getenv "SPEC_ROOT" or "."

local Tunnel = {}
Tunnel.__index = Tunnel

local tunnel = {}

--- What is not installed, or nil.
function tunnel.missing()
  for _, program in ipairs { "openssl", "stunnel", "setpriv" } do
    if not shell.run("command -v " .. program) then
      return program .. " is missing"
    end
  end
end

--- The page's block of this language that contains this text.
function tunnel.block(language, text)
  return reader.block(root .. "/doc/operations.md", language, text)
end

--- A new directory with the page's certificates.
function tunnel.certify()
  local dir = os.tmpname()
  os.remove(dir)
  assert(lfs.mkdir(dir))
  files.write(dir .. "/certify", tunnel.block("sh", "certify()"))
  must(("cd '%s' && sh -e certify"):format(dir))
  return dir
end

--- The page's servers, three, with a plain port on loopback besides: what
-- `zookeeper start` takes for them.
function tunnel.server_flags(dir)
  local flags = {}
  for line in tunnel.block("properties", "ssl."):gmatch "[^\n]+" do
    flags[#flags + 1] = line:gsub("=2281$", "={port}")
      :gsub("/etc/zookeeper/tls", dir):gsub("zk1", "zk{n}")
  end
  return ("--config secureClientPortAddress=127.0.0.1 '%s'")
    :format(table.concat(flags, "' '"))
end

local function example(name)
  return files.read(root .. "/examples/tunnel/" .. name)
end

-- The configuration for clients with our ports, and `targets` for zk1, zk2 …
local function client_config(self, targets)
  local text = example "client.conf"
  local hosts = {}
  for i = 1, 3 do
    local port = support.free_port()
    text = text:gsub(("127.0.0.1:2181%d"):format(i), "127.0.0.1:" .. port)
      :gsub(("connect = zk%d.example.com:2281"):format(i),
        "connect = " .. (targets[i] or "127.0.0.1:1"))
    if targets[i] then hosts[#hosts + 1] = "127.0.0.1:" .. port end
  end
  self.hosts = table.concat(hosts, ",")
  return text
end

-- The configuration for a tunnel before `server`.
local function server_config(self, server)
  self.hosts = "127.0.0.1:" .. support.free_port()
  return (example "server.conf":gsub("(accept = )2281", "%1" .. self.hosts)
    :gsub("127.0.0.1:2181", server))
end

function Tunnel:log() return files.find(self.name .. ".log") end

local function accepts(host)
  local client = socket.connect("127.0.0.1", host:match ":(%d+)$")
  if client then client:close() end
  return client ~= nil
end

--- Starts it (again): is it at work? False if one of its ports is taken.
function Tunnel:begin()
  os.remove(self.name .. ".log") -- of the time before
  -- It goes with this process, however that goes.
  self.handle = io.popen(("echo $$ >'%s.pid'; exec setpriv --pdeathsig KILL "
    .. "stunnel '%s' </dev/null >'%s.log' 2>&1"):format(self.name, self.name,
    self.name))
  local taken
  local ok, problem = pcall(support.wait_until, function()
    local log = self:log()
    taken = log:find("Address already in use", 1, true)
    if taken then return true end
    if log:find("[Cc]onfiguration failed") or log:find " failed\n?$" then
      error("it has ended", 0)
    end
    if not log:find("Configuration successful", 1, true) then return false end
    self.pid = tonumber(files.read(self.name .. ".pid"))
    for host in self.hosts:gmatch "[^,]+" do
      if not accepts(host) then return false end
    end
    return true
  end, 10, "a tunnel")
  if not ok then error(problem .. "\n" .. self:log(), 0) end
  return not taken
end

local function start(dir, config, targets, change)
  local self = setmetatable({ dir = dir, name = os.tmpname() }, Tunnel)
  support.closing(self)
  repeat
    self:kill()
    local text = config(self, targets):gsub("/etc/stunnel/zookeeper", dir)
    files.write(self.name, change and change(text) or text)
  until self:begin()
  return self
end

--- Starts a tunnel to `targets`, hosts for zk1, zk2 … of the page, with the
-- certificates in `dir`; `change(text)` makes its configuration another.
function tunnel.start(dir, targets, change)
  return start(dir, client_config, targets, change)
end

--- Starts one before `server`: its `hosts` speaks TLS.
function tunnel.before(server, dir, change)
  return start(dir, server_config, server, change)
end

--- Waits until its log has this.
function Tunnel:expect(text)
  local ok = pcall(support.wait_until, function()
    return self:log():find(text, 1, true)
  end, 10)
  if not ok then
    error(("no %q in the tunnel's log: %s"):format(text, self:log()))
  end
end

function Tunnel:kill()
  if not self.handle then return end
  os.execute(("kill -KILL $(cat '%s.pid') 2>/dev/null"):format(self.name))
  self.handle:close()
  self.handle = nil
end

function Tunnel:close()
  self:kill()
  for _, suffix in ipairs { "", ".pid", ".log" } do
    os.remove(self.name .. suffix)
  end
end

return tunnel

--- Hosts: maps the host names that the program uses to the addresses of the
-- testing servers.  The model of the servers knows only the addresses.
local virtual = require "zklock.testing.core"

local core = require "zklock.core"
local errors = require "zklock.errors"

local hosts = {}

local known = {} -- "zk1:2181" → `{ address =, server = }`
local FIRST_PORT = 2181

-- Completes an entry with the port: "zk1" → "zk1:2181".  Turns localhost into
-- its address.
local function complete(entry)
  entry = entry:match "^%s*(.-)%s*$"
  if not entry:find ":%d+$" then entry = entry .. ":" .. FIRST_PORT end
  return (entry:gsub("^localhost:", "127.0.0.1:"))
end

local function is_taken(entry)
  return known[entry] or virtual.is_taken(entry)
end

local function is_numeric(entry)
  return entry:find "^%d+%.%d+%.%d+%.%d+:%d+$" or entry:find "^%["
end

--- Returns the entries of `text`, a list of hosts without a chroot. Adds the
-- default port to entries without a port.
function hosts.split(text)
  local entries = {}
  for entry in text:gmatch "[^,]+" do
    entries[#entries + 1] = complete(entry)
  end
  return entries
end

--- Returns `count` entries with free addresses of this machine.
function hosts.choose(count)
  local entries, port = {}, FIRST_PORT
  while #entries < count do
    local entry = "127.0.0.1:" .. port
    if not is_taken(entry) then entries[#entries + 1] = entry end
    port = port + 1
  end
  return entries
end

--- Gives each entry of a new server an address, and returns the addresses.
function hosts.claim(entries, server)
  for _, entry in ipairs(entries) do
    if is_taken(entry) then
      errors.misuse("option 'hosts' of testing.server has %q, which another "
        .. "testing server has", entry)
    end
  end
  local addresses = {}
  for i, entry in ipairs(entries) do
    known[entry] = { server = server }
    addresses[i] = is_numeric(entry) and entry
      or hosts.choose(1)[1]
    known[entry].address = addresses[i]
    known[addresses[i]] = known[entry]
  end
  return addresses
end

function hosts.release(server)
  for entry, of in pairs(known) do
    if of.server == server then known[entry] = nil end
  end
end

local function refuse(entry, server)
  if not next(known) then
    errors.misuse("argument 1 of connect (hosts) has %q, and there is no "
      .. "testing server: testing.server() starts one", entry)
  elseif server then
    errors.misuse("argument 1 of connect (hosts) has %q, which is another "
      .. "testing server's than the hosts before it", entry)
  end
  errors.misuse("argument 1 of connect (hosts) has %q, which is no testing "
    .. "server: where zklock.testing is loaded there are no others, and "
    .. "'hosts' of testing.server gives them names", entry)
end

--- Returns connect's argument `hosts` with the names replaced by addresses; and
-- the testing server. If the argument has wrong syntax, returns it unchanged,
-- because connect raises its error.
function hosts.translate(text)
  if type(text) ~= "string" or core.check_hosts(text) then return text end
  local list, chroot = text:match "^([^/]*)(.*)$"
  local server, addresses = nil, {}
  for i, entry in ipairs(hosts.split(list)) do
    local of = known[entry]
    if not of or server and of.server ~= server then
      refuse(entry, of and server)
    end
    server, addresses[i] = of.server, of.address
  end
  if server.pid ~= core.pid() then
    errors.misuse("this testing server is in process %d: no other process can "
      .. "reach it, not even its child", server.pid)
  end
  return table.concat(addresses, ",") .. chroot, server
end

return hosts

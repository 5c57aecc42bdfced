--- Servers: asks each server of a list of hosts for its state. The request is
-- the four-letter word `srvr`, which all servers answer by default.
local await = require "zklock.cli.await"
local core = require "zklock.core"
local plain = require "zklock.plain"
local talk_of = require "zklock.cli.secure_talk"
local uv = require "luv"

local servers = {}

-- PATIENCE: how many seconds to wait for an answer; MOST: how many bytes of an
-- answer to read at most.
local PATIENCE = 2
local MOST = 8192

--- Returns a server as HOST:PORT, with its IP address in parentheses if the
-- host is a name.
function servers.name_of(server)
  local name = ("%s:%d"):format(server.host, server.port)
  if not server.address or server.address == server.host then return name end
  return ("%s (%s)"):format(name, server.address)
end

--- Returns whether this version of ZooKeeper has containers: 3.5 or later.
function servers.is_new_enough(version)
  local major, minor = version:match "^(%d+)%.(%d+)"
  major, minor = tonumber(major) or 0, tonumber(minor) or 0
  return major > 3 or major == 3 and minor >= 5
end

--- Returns whether all servers of known version support containers, directories
-- that they delete when empty. Returns nil if no version is known. The Stat of
-- a node does not show this, because servers describe a container as a
-- persistent node.
function servers.have_containers(list)
  local known, all = false, true
  for _, server in ipairs(list) do
    if server.version then
      known, all = true, all and servers.is_new_enough(server.version)
    end
  end
  if known then return all end
end

-- Makes untrusted text from a server safe to print: cuts it to 100 bytes, and
-- escapes it. The result is one line.
local function shown(text) return plain.text((text:sub(1, 100))) end

local function read_answer(server, text)
  local version = text:match "Zookeeper version: ([%d.]+)"
  if version then
    server.version = version
    server.mode = shown(text:match "Mode: (%S+)" or "unknown")
    return
  end
  local line = text:match "^%s*([^\r\n]+)"
  server.is_mute = text:find "whitelist" ~= nil or nil
  if text:find "^[\21\22]\3" then
    server.problem = "speaks TLS on this port: set --tls-ca "
      .. "(doc/operations.md)"
  else
    server.problem = line and "says: " .. shown(line)
      or "has closed the connection without an answer: it may speak "
      .. (server.is_secure and "no TLS" or "TLS") .. " on this port, or have "
      .. "maxClientCnxns connections from this address"
  end
end

local function read_certificate(server, talk)
  if not talk.is_done then return end
  server.certificate = { names = talk.names, expires = talk.expires,
    days = talk.days }
end

-- Asks one address for its state, over TLS if `tls` is given. Sets the fields
-- of `server`, and calls `done()` after the answer, or when PATIENCE has passed
-- without an answer.
local function ask(server, tls, done)
  local tcp, text, stop = uv.new_tcp(), "", nil
  local talk
  server.is_secure = tls and true or nil
  local begun = await.now()
  local function finish(problem)
    if tcp:is_closing() then return end
    stop()
    tcp:close()
    if talk then read_certificate(server, talk) end
    if talk then talk:close() end
    server.problem = problem
    if not problem then read_answer(server, text) end
    done()
  end
  stop = await.after(PATIENCE, function()
    finish(not server.reachable and "cannot be reached: no answer"
      or text == "" and "is silent" or nil)
  end)
  local function read(problem, chunk)
    if chunk and talk then
      local fault
      chunk, fault = talk:hear(chunk)
      if not chunk then return finish(fault) end
      if chunk == "" and not problem then return end
    end
    if chunk then text = text .. chunk end
    if not server.response_time then
      server.response_time = await.now() - begun
    end
    if problem or not chunk or #text > MOST then finish() end
  end
  local ok, refused = tcp:connect(server.address, server.port, function(problem)
    if tcp:is_closing() then return end
    if problem then return finish("cannot be reached: " .. problem) end
    server.reachable, begun = true, await.now()
    if tls then
      local fault
      talk, fault = talk_of.begin(tcp, tls, server.host, "srvr")
      if not talk then return finish(fault) end
      tcp:read_start(read)
      return
    end
    tcp:read_start(read)
    tcp:write "srvr"
    -- A server of another protocol may answer only after a whole line. Its
    -- answer shows the user which protocol it speaks.
    await.after(PATIENCE / 2, function()
      if text == "" and not tcp:is_closing() then tcp:write "\r\n\r\n" end
    end)
  end)
  if not ok then finish("cannot be reached: " .. tostring(refused)) end
end

local function resolve(entry, done)
  uv.getaddrinfo(entry.host, nil, { socktype = "stream" },
    function(problem, found)
      local addresses, seen = {}, {}
      for _, one in ipairs(not problem and found or {}) do
        if not seen[one.addr] then
          seen[one.addr] = true
          addresses[#addresses + 1] = one.addr
        end
      end
      done(addresses, problem)
    end)
end

local function describe(entry, address)
  return { host = entry.host, port = entry.port, address = address,
    reachable = false }
end

-- Returns the entries of `hosts` as a list, parsed as a session parses them.
local function parse(hosts)
  local _, _, list = core.check_hosts(hosts)
  return list
end

--- Asks all addresses of all hosts at once. Returns a list, with one table for
-- each address: `{ host=, port=, address=, reachable=, version=, mode=,
-- response_time=, certificate=, problem= }`. Takes at most two seconds, or half
-- a second more if a name server is slow.
function servers.ask(hosts, tls)
  local list, entries = {}, parse(hosts)
  return await.call(function(go_on)
    local open = #entries
    local stop
    local function finish()
      open = open - 1
      if open > 0 then return end
      stop()
      go_on(list)
    end
    -- Ends the call even if a name server takes longer.
    stop = await.after(PATIENCE + 0.5, function() go_on(list) end)
    for at, entry in ipairs(entries) do
      local unknown = describe(entry)
      unknown.at, unknown.problem = at, "its name cannot be looked up in time"
      list[#list + 1] = unknown
      resolve(entry, function(addresses, problem)
        if #addresses == 0 then
          unknown.problem = "its name cannot be looked up: "
            .. tostring(problem)
          return finish()
        end
        open = open + #addresses
        unknown.problem = nil
        for i, address in ipairs(addresses) do
          local server = i == 1 and unknown or describe(entry)
          server.address, server.at = address, at
          if i > 1 then list[#list + 1] = server end
          ask(server, tls, finish)
        end
        finish()
      end)
    end
    if open == 0 then
      stop()
      go_on(list)
    end
  end)
end

return servers

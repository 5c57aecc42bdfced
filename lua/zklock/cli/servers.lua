--- Servers: asks each server of a list of hosts for its state. The request is
-- the four-letter word `srvr`, which all servers answer by default.
local await = require "zklock.cli.await"
local core = require "zklock.core"
local plain = require "zklock.plain"
local secure = require "zklock.secure"
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

--- Returns whether the server serves clients, but does not answer `srvr`.
function servers.is_mute(server)
  return (server.problem or ""):find "whitelist" ~= nil
end

--- Returns whether `zklock check` asks the server for the lock's node. Servers
-- that do not answer, or do not serve clients, are a problem anyway.
function servers.is_asked(server)
  return server.version or servers.is_mute(server)
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

local function read_answer(server, text, is_secure)
  local version = text:match "Zookeeper version: ([%d.]+)"
  if version then
    server.version = version
    server.mode = shown(text:match "Mode: (%S+)" or "unknown")
    return
  end
  local line = text:match "^%s*([^\r\n]+)"
  if text:find "^[\21\22]\3" then
    server.problem = "speaks TLS on this port: set --tls-ca "
      .. "(doc/operations.md)"
  else
    server.problem = line and "says: " .. shown(line)
      or "has closed the connection without an answer: it may speak "
      .. (is_secure and "no TLS" or "TLS") .. " on this port, or have "
      .. "maxClientCnxns connections from this address"
  end
end

-- Begins TLS on the connection `tcp`. Sends `srvr` when the handshake is done.
-- Returns a function that decrypts bytes of the server. It returns the text,
-- which is "" if no text is complete yet; or nil and what is wrong.
local function speak_tls(tcp, tls, server)
  local module, problem = secure.load()
  if not module then return nil, problem end
  local link, fault = module.link(tls, tls.name or server.host)
  if not link then return nil, fault end
  local is_done, has_heard = false, false
  local function shake_hands()
    local state, failure = link:handshake()
    if state == "done" then
      is_done = true
      local names, expires, days = link:certificate()
      server.certificate = { names = names, expires = expires, days = days }
      link:send "srvr"
    end
    local data = link:drain()
    if data ~= "" then tcp:write(data) end
    return state and "", failure
  end
  shake_hands()
  return function(chunk)
    if not has_heard and not chunk:find "^[\21\22]" then
      return nil, "speaks no TLS on this port"
    end
    has_heard = true
    link:feed(chunk)
    if not is_done then
      local text, failure = shake_hands()
      if not is_done then return text, failure end
    end
    local all = ""
    repeat
      local text, failure = link:receive()
      if not text then return nil, failure end
      all = all .. text
    until text == ""
    return all
  end
end

-- Asks one address for its state, over TLS if `tls` is given. Sets the fields
-- of `server`.
local function ask(server, tls)
  local tcp, text = uv.new_tcp(), ""
  local begun, stop = await.now(), nil
  server.problem = await.call(function(done)
    stop = await.after(PATIENCE, function()
      done(not server.reachable and "cannot be reached: no answer"
        or text == "" and "is silent" or nil)
    end)
    local decrypt
    local function read(problem, chunk)
      if chunk and decrypt then
        local fault
        chunk, fault = decrypt(chunk)
        if not chunk then return done(fault) end
        if chunk == "" then return end
      end
      text = text .. (chunk or "")
      server.response_time = server.response_time or await.now() - begun
      if problem or not chunk or #text > MOST then done() end
    end
    local ok, refused = tcp:connect(server.address, server.port,
      function(problem)
        if tcp:is_closing() then return end
        if problem then return done("cannot be reached: " .. problem) end
        server.reachable, begun = true, await.now()
        tcp:read_start(read)
        if tls then
          decrypt, problem = speak_tls(tcp, tls, server)
          return not decrypt and done(problem)
        end
        tcp:write "srvr"
        -- A server of another protocol may answer only after a whole line. Its
        -- answer shows the user which protocol it speaks.
        await.after(PATIENCE / 2, function()
          if text == "" and not tcp:is_closing() then tcp:write "\r\n\r\n" end
        end)
      end)
    if not ok then done("cannot be reached: " .. tostring(refused)) end
  end)
  stop()
  tcp:close()
  if not server.problem then read_answer(server, text, tls ~= nil) end
end

-- Returns the addresses of a host as a list; or nil and a message.
local function look_up(host)
  return await.call(function(done)
    local ok, refused = uv.getaddrinfo(host, nil, { socktype = "stream" },
      function(problem, found)
        if problem then return done(nil, problem) end
        local addresses, seen = {}, {}
        for _, one in ipairs(found) do
          if not seen[one.addr] then addresses[#addresses + 1] = one.addr end
          seen[one.addr] = true
        end
        done(addresses)
      end)
    if not ok then done(nil, tostring(refused)) end
  end)
end

--- Asks all addresses of all hosts at once. Returns a list, with one table for
-- each address: `{ host=, port=, address=, reachable=, version=, mode=,
-- response_time=, certificate=, problem= }`.
function servers.ask(hosts, tls)
  local _, _, entries = core.check_hosts(hosts)
  local of_hosts = await.each(entries, function(entry)
    local addresses, problem = look_up(entry.host)
    local function describe(address)
      return { host = entry.host, port = entry.port, address = address,
        reachable = false }
    end
    if not addresses then
      local server = describe()
      server.problem = "its name cannot be looked up: " .. problem
      return { server }
    end
    return await.each(addresses, function(address)
      local server = describe(address)
      ask(server, tls)
      return server
    end)
  end)
  local list = {}
  for _, found in ipairs(of_hosts) do
    for _, server in ipairs(found) do list[#list + 1] = server end
  end
  return list
end

return servers

--- The stage: servers, wires, clients and an operator, and what the director
-- knows about them.
local core = require "zklock.core"
local journals = require "torture.journal"
local raw = require "support.raw"
local spawn_with = require "support.child".spawn_with
local start_hostile = require "support.hostile".start
local start_proxy = require "support.proxy".start
local new_names = require "support.names".new
local support = require "support"
local tunnel = require "support.tunnel"

local CLIENTS = 8 -- processes at a time
local PATIENCE = 120 -- seconds for all servers to serve again

-- What servers may be told to grant, in milliseconds, at a restart: at first,
-- and less than is asked for, and more.
local TIMEOUTS = {
  { minSessionTimeout = 1000, maxSessionTimeout = 60000 },
  { minSessionTimeout = 1000, maxSessionTimeout = 1500 },
  { minSessionTimeout = 1000, maxSessionTimeout = 2500 },
  { minSessionTimeout = 5000, maxSessionTimeout = 60000 },
}
local LEAST, MOST_LEAST = 1.5, 5 -- seconds: the least that anybody grants

local Stage = {}
Stage.__index = Stage

--- `servers`: as support.server has them; `builds`: { lua =, cpath = }, each;
-- `certificates`: as support.certificates has them, if clients are to have TLS.
local function new(settings)
  local self = setmetatable({
    servers = settings.servers,
    states = { "up", "up", "up" },
    settings = settings,
    clients = {},
    born = 0,
    agenda = {},
    awaited = {}, -- what is to be done when a server is up
  }, Stage)
  self.journal = journals.create(settings.directory .. "/director")
  self.names = new_names()
  self.files = {} -- { name =, file =, session_timeout = }, of each client
  self.operator = spawn_with("", ("require 'torture.operator'{ "
    .. "journal = %q, root = %q, seed = %d, hosts = %q }")
    :format(settings.directory .. "/operator", settings.root,
      math.random(2 ^ 31 - 1), settings.servers.hosts))
  for i = 1, CLIENTS do self:begin_client(i) end
  return self
end

function Stage:violation(kind, ...)
  self.journal:note("violation", kind, (...):format(select(2, ...)))
end

-- Time.

function Stage:later(seconds, fn)
  table.insert(self.agenda, { due = core.now() + seconds, fn = fn })
end

--- Does what is due; with `all`, whatever was planned.
function Stage:catch_up(all)
  local agenda = self.agenda
  self.agenda = {}
  for _, entry in ipairs(agenda) do
    if all or entry.due <= core.now() then
      entry.fn()
    else
      table.insert(self.agenda, entry)
    end
  end
  for i, state in ipairs(self.states) do
    local status = state == "starting" and self.servers:restart_status(i)
    if status == 0 then
      self.states[i] = "up"
      local fn = self.awaited[i]
      self.awaited[i] = nil
      if fn and not all then fn() end
    elseif status then
      self.states[i] = "dead"
      self:restart(i) -- another program had its port, say
    end
  end
end

-- Servers.

function Stage:serves(i)
  local ok, answer = pcall(raw.word, self.servers:host(i), "srvr")
  return ok and answer and answer:match "Mode: (%a+)"
end

function Stage:leader()
  for i, state in ipairs(self.states) do
    if state == "up" and self:serves(i) == "leader" then return i end
  end
end

function Stage:healthy_server()
  for _, state in ipairs(self.states) do
    if state ~= "up" then return nil end
  end
  return math.random(#self.states)
end

function Stage:all_serve()
  for i, state in ipairs(self.states) do
    if state ~= "up" or not self:serves(i) then return false end
  end
  return true
end

-- Returns false if the server has ended by itself: then it is restarted.
local function signal(self, name, i, state)
  if pcall(self.servers[name], self.servers, i) then
    self.states[i] = state
    return true
  end
  self:restart(i)
  return false
end

function Stage:kill_server(i) return signal(self, "kill", i, "dead") end
function Stage:pause(i) return signal(self, "pause", i, "paused") end

--- Does nothing if the server was restarted meanwhile.
function Stage:resume(i)
  if self.states[i] == "paused" then signal(self, "resume", i, "up") end
end

--- Restarts a server. Until the restart has ended, which the old process can
-- delay, no fault concerns this server: a pause of a process that ends would
-- let it end later, unseen.
function Stage:restart(i)
  if self.states[i] == "starting" then return end
  self.states[i] = "starting"
  self.servers:begin_restart(i)
end

--- Others than before: what it grants from its next start on.
function Stage:change_timeouts(i)
  for name, value in pairs(TIMEOUTS[math.random(#TIMEOUTS)]) do
    self.servers:configure(name, value, i)
  end
end

function Stage:when_up(i, fn) self.awaited[i] = fn end

-- Clients.

-- Half of them go through a wire of their own, by a name; the others, but for
-- one, through a server that lies.
function Stage:connect_client(client, old)
  local hosts = self.settings.servers.hosts
  if client.number % 2 == 0 then
    client.proxy = old and old.proxy or start_proxy(hosts)
    client.domain = ("client-%d.example"):format(client.number)
    client.hosts = client.domain .. client.proxy.hosts:match ":%d+"
    client.proxy.address = client.proxy.address
      or client.proxy.hosts:match "^[^:]+"
    self:tell_name(client)
  elseif client.number > 1 then
    client.hostile = old and old.hostile or start_hostile { hosts = hosts }
    client.hosts = client.hostile.hosts
  else
    client.hosts = hosts
  end
  if self.settings.certificates then self:secure_client(client, old) end
end

-- The first one has TLS with the servers, the others with a tunnel.
function Stage:secure_client(client, old)
  local ours, servers = self.settings.certificates, self.settings.servers
  local tls = ours:tls "client"
  client.tls = ("{ ca = %q, cert = %q, key = %q }"):format(tls.ca, tls.cert,
    tls.key)
  local through = client.proxy or client.hostile
  if through then
    client.tunnel = old and old.tunnel or tunnel.before(through.hosts, ours.dir)
    client.hosts = client.tunnel.hosts
    return
  end
  local hosts = {}
  for i in ipairs(self.states) do
    hosts[i] = "127.0.0.1:" .. servers:setting("secureClientPort", i)
  end
  client.hosts = table.concat(hosts, ",")
end

--- Its name has its wire's address, and perhaps one where nobody is.
function Stage:tell_name(client, other)
  self.names:set(client.domain, client.proxy.address, other)
end

--- Client number i, or its successor.
function Stage:begin_client(i)
  local settings = self.settings
  self.born = self.born + 1
  local build = settings.builds[i % #settings.builds + 1]
  local client = {
    name = ("client-%d-%d"):format(i, self.born),
    number = i,
    build = build.name,
    session_timeout = ({ 2, 3, 4, 6 })[math.random(4)],
  }
  self:connect_client(client, self.clients[i])
  local file = settings.directory .. "/" .. client.name
  table.insert(self.files, { name = client.name, file = file,
    session_timeout = math.max(client.session_timeout, MOST_LEAST) })
  local usual = support.lua
  support.lua = build.lua
  client.process = spawn_with(
    ("LUA_CPATH='%s' %s"):format(build.cpath, self.names.environment),
    ("require 'torture.client'{ journal = %q, root = %q, hosts = %q, "
    .. "credential = %s, tls = %s, session_timeout = %d, "
    .. "min_session_timeout = %g, "
    .. "tasks = %d, leisure = %g, seed = %d }"):format(
    file, settings.root, client.hosts,
    client.hostile and "'ann:secret'" or "nil", client.tls or "nil",
    client.session_timeout, LEAST,
    i % 4 == 1 and 1 or math.random(2, 5), i % 4 == 2 and 6 or 0.05,
    math.random(2 ^ 31 - 1)))
  support.lua = usual
  self.clients[i] = client
  return client
end

--- A client of which `is_fit` says so; nil: there is none.
function Stage:some_client(is_fit)
  local fit = {}
  for _, client in ipairs(self.clients) do
    if is_fit(client) then fit[#fit + 1] = client end
  end
  return fit[1] and fit[math.random(#fit)]
end

function Stage:kill(client)
  self.journal:note("killed", client.name)
  client.process:signal "KILL"
  client.process:wait()
  client.process:close()
  self:begin_client(client.number)
end

function Stage:stop(client)
  client.stopped = core.now()
  client.process:signal "STOP"
end

function Stage:continue(client)
  if not client.stopped then return end
  client.process:signal "CONT"
  self.journal:note("stopped", client.name, ("%.9f"):format(client.stopped))
  client.stopped = nil
end

-- The operator.

--- False: there was nothing to be done.
function Stage:operate(command, argument, seconds)
  local i = self:healthy_server()
  if not i then return false end
  self.operator:say(("%s %s %s"):format(command, self.servers:host(i),
    argument or ""))
  local answer = self.operator:hear(seconds or 30)
  local result = answer and answer:match "^%S+\t(.*)$"
  if result == "false" or result == "nil" then return false end
  return result
end

-- Calm.

function Stage:tell_clients(word)
  self:look_after_clients()
  for _, client in ipairs(self.clients) do client.process:say(word) end
end

local function hear(client, seconds)
  local ok, line = pcall(client.process.hear, client.process, seconds)
  return ok and line or nil
end

--- All faults end; returns when everything serves again.
function Stage:heal()
  self:catch_up(true)
  local deadline = core.now() + PATIENCE
  repeat
    -- What had to wait for its turn, such as the restart of a killed server.
    self:catch_up(true)
    if self:leader() and self:all_serve() then return end
    support.sleep(0.1)
  until core.now() > deadline
  local logs = {}
  for i, state in ipairs(self.states) do
    logs[i] = ("\nserver %d (%s):\n%s"):format(i, state,
      self.servers:log_end(i))
  end
  error("the servers do not serve any more" .. table.concat(logs))
end

--- All waits and holds come to their end, and nothing is left of them.
function Stage:rest()
  self:tell_clients "rest"
  local deadline = core.now() + 60
  for _, client in ipairs(self.clients) do
    local line = hear(client, math.max(1, deadline - core.now()))
    if not client.process:status() and (not line or not line:find "^rests")
    then
      self:violation("hang", "%s (%s) does not come to rest: %s", client.name,
        client.build, client.process:output())
      client.lame = true
    end
  end
  -- (The session of a killed client is there for a while.)
  local left = self:operate("look", "20", 60)
  for text in (left or ""):gmatch "[^,]+" do
    self:violation("left", "at the server, when nobody held or waited: %s",
      text)
  end
end

function Stage:go() self:tell_clients "go" end

--- The clients end by themselves, and clean.
function Stage:leave()
  self:tell_clients "leave"
  for _, client in ipairs(self.clients) do
    local line
    repeat line = hear(client, 30) until not (line and line:find "^rests")
    if line ~= "left\t0\t0" then
      self:violation("leak", "%s (%s) left %s: %s", client.name, client.build,
        tostring(line):gsub("\t", " "), client.process:output())
    elseif client.process:wait() ~= 0 or client.process:output() ~= "" then
      self:violation("death", "%s (%s) said: %s", client.name, client.build,
        client.process:output())
    end
  end
  self:operate "clear"
end

--- A client that has died by itself is a violation, and is replaced.
function Stage:look_after_clients()
  for _, client in ipairs(self.clients) do
    local status = client.process:status()
    if status then
      self:violation("death", "%s (%s) has died (%s): %s", client.name,
        client.build, status, client.process:output())
      client.process:close()
      self.journal:note("killed", client.name) -- by itself
      self:begin_client(client.number)
    end
  end
end

return { new = new }

--- The world of one story: an ensemble, a link to it for each session, and what
-- fails there.
local virtual = require "zklock.virtual"

local World = {}
World.__index = World

local CONNECT = -1

local KINDS = { 15, 2, 3, 4, 5, 8, 9, 1401, 1402, 141301, 141302, 141305 }

local function new(chance, seed)
  local count = chance:pick { 1, 1, 3 }
  local self = setmetatable({ chance = chance, links = {}, falling = {},
    addresses = {}, operators = {}, count = count, jumped = 0,
    tick = chance:pick { 0.2, 0.5, 1 } }, World)
  for i = 1, count do self.addresses[i] = "127.0.0.1:" .. 2180 + i end
  self.ensemble = virtual.ensemble { addresses = self.addresses, seed = seed,
    tick_ms = self.tick * 1000, sync_limit = 8, max_timeout_ms = 60000,
    max_connections = 0, container_interval_ms = 1000 }
  return self
end

--- The address of a new link to all servers. `least`: its sessions expect that
-- a server may grant a timeout of so few seconds.
function World:link(least)
  local address = "127.0.0.1:" .. 3181 + #self.links
  local from, order = self.chance:below(self.count), {}
  for i = 1, self.count do order[i] = (from + i - 1) % self.count end
  assert(virtual.link_new(address, self.addresses[1], order))
  self.links[#self.links + 1] = address
  if least then table.insert(self.falling, { address, least }) end
  return address
end

-- An operator's client asks for something; nobody waits for the answer.
local function ask(self, request)
  local client = self.ensemble:open(self.chance:pick(self.addresses),
    { timeout = 10000 })
  client:send(request)
  table.insert(self.operators, client)
end

function World:delete(path)
  ask(self, { op = "delete", path = path, version = -1 })
end

-- ---- Faults -----------------------------------------------------------------

local function any_kind(chance) return chance:pick(KINDS) end
local function some_seconds(chance) return chance:seconds(2) end

-- A function virtual.link_…, and what draws its argument.
local link_faults = { { "cut" }, { "half_open" }, { "refuse" }, { "freeze" },
  { "delay", some_seconds },
  { "drop", function() return "requests" end },
  { "drop", function() return "replies" end },
  { "lose_reply", any_kind }, { "lose_reply", any_kind },
  { "keep_request", function(chance)
    return chance:pick { 15, 2, 1401, 1402, 141302 }
  end },
  { "cut_after_reply", any_kind },
  { "cut_at", function(chance) return chance:between(1, 12) end } }

-- The same of the ensemble's functions, and of those that end it.
local server_faults = { { "stop", undo = "start" },
  { "pause", undo = "resume" }, { "lag", some_seconds, undo = "lag" },
  { "group", function() return 1 end, undo = "group" }, { "elect" } }

local function fail_link(self, scheduler, note)
  local link = self.chance:pick(self.links)
  local fault = self.chance:pick(link_faults)
  local name, draw = fault[1], fault[2]
  note("world: %s of %s", name, link)
  virtual["link_" .. name](link, draw and draw(self.chance))
  scheduler:pause(self.chance:seconds(4))
  if name == "keep_request" then
    virtual.link_heal(link)
    scheduler:pause(self.chance:seconds(6))
    self.is_late = virtual.link_apply_late(link) or self.is_late
    note("world: late at %s", link)
  end
  virtual.link_disarm(link)
  virtual.link_heal(link)
  note("world: %s is healed", link)
end

local function fail_server(self, scheduler, note)
  local server = self.chance:between(1, self.count)
  local fault = self.chance:pick(server_faults)
  local name, draw = fault[1], fault[2]
  note("world: %s of server %d", name, server)
  self.ensemble[name](self.ensemble, server, draw and draw(self.chance))
  scheduler:pause(self.chance:seconds(6))
  if fault.undo then
    self.ensemble[fault.undo](self.ensemble, server, draw and 0)
  end
  note("world: server %d is well", server)
end

local function jump(self, _, note)
  local seconds = self.chance:seconds(12)
  note("world: the clock jumps by %.3f s", seconds)
  self.jumped = self.jumped + seconds
  virtual.jump(seconds)
end

-- Servers with another maxSessionTimeout. The first answer may be lost, and
-- silence may follow.
local function grant_less(self, scheduler, note)
  if not self.falling[1] then return fail_link(self, scheduler, note) end
  local link, least = (unpack or table.unpack)(self.chance:pick(self.falling))
  note("world: %s grants %g s", link, least)
  virtual.link_behave(link, { asks_ms = least * 1000, kind = CONNECT,
    treatment = "mute", count = self.chance:below(2) })
  virtual.link_cut(link)
  scheduler:pause(self.chance:seconds(1))
  if self.chance:one_in(2) then virtual.link_freeze(link) end
  scheduler:pause(self.chance:seconds(6))
  virtual.link_behave(link, {})
  virtual.link_heal(link)
  note("world: %s grants what is asked for", link)
end

--- One fault, and its end.
function World:fail(scheduler, note)
  local which = self.chance:below(12)
  local fault = which < 7 and fail_link or which < 9 and fail_server
    or which < 10 and jump or grant_less
  fault(self, scheduler, note)
end

--- All is well.
function World:heal()
  for _, link in ipairs(self.links) do
    virtual.link_disarm(link)
    virtual.link_heal(link)
  end
  for server = 1, self.count do
    self.ensemble:start(server)
    self.ensemble:resume(server)
    self.ensemble:group(server, 0)
    self.ensemble:lag(server, 0)
  end
end

return { new = new }

--- support.hostile in virtual time: servers that do what they should not. (Of
-- its manners not those of bytes and "stranger".) How they speak
-- TLS: `tls`, as link_secure of zklock.virtual takes it.
local support = require "support"
local virtual = require "zklock.virtual"
local worlds = require "virtual.worlds"

local Hostile = {}
Hostile.__index = Hostile

local ALWAYS = 2 ^ 31 - 1
local AUTH, CONNECT, ANY = 100, -1, -2

-- What becomes of so many answers.
local treatments = {
  lose_connect = { kind = CONNECT, treatment = "cut" },
  mute_connect = { kind = CONNECT, treatment = "mute" },
  mute = { kind = ANY, treatment = "mute" },
  cut_auth = { kind = AUTH, treatment = "cut" },
  mute_auth = { kind = AUTH, treatment = "mute" },
  refuse_auth = { kind = AUTH, treatment = "refuse", code = -115 },
  refuse_second = { kind = AUTH, treatment = "refuse", code = -115, skip = 1 },
  fails = { kind = ANY, treatment = "refuse", code = -5 },
}

local function number(times)
  return (times == "always" or times == true) and ALWAYS or times
end

local kinds = { pass = true, silent = true, close = true, frozen = true,
  expire = true, handshake = true }

local function manners_of(manners)
  assert(kinds[manners.kind], "that kind of server is not in virtual time")
  local all = {
    silent = manners.kind == "silent",
    expires = manners.kind == "expire",
    asks_ms = manners.asks and 1000 * manners.asks,
    says_ms = manners.grants and 1000 * manners.grants,
    forgets = number(manners.forgets),
    drop_at = manners.drop_at,
    drop_after = manners.drop_after
      and (manners.drop_after == 0 and -1 or 1e9 * manners.drop_after),
    largest = manners.largest,
  }
  if manners.kind == "handshake" and not manners.drop_at
      and not manners.drop_after and not manners.forgets then
    manners = { mute = true }
  end
  for name, treatment in pairs(treatments) do
    if manners[name] then
      for key, value in pairs(treatment) do all[key] = value end
      all.count = number(manners[name])
    end
  end
  return all
end

local function start(options)
  local addresses = {}
  for i = 1, options and options.count or 1 do
    addresses[i] = worlds.free_address()
    assert(virtual.link_new(addresses[i], support.hosts, { 0 }))
  end
  return setmetatable({ addresses = addresses,
    hosts = table.concat(addresses, ",") }, Hostile)
end

function Hostile:host(i) return self.addresses[i] end

-- For address `i`, or each.
local function each(self, i, fn)
  for n, address in ipairs(self.addresses) do
    if n == (i or n) then fn(address) end
  end
end

function Hostile:behave(manners, i)
  each(self, i, function(address)
    virtual.link_heal(address)
    if manners.kind == "frozen" then virtual.link_freeze(address) end
    if manners.kind == "close" then virtual.link_refuse(address) end
    virtual.link_behave(address, manners_of(manners))
    virtual.link_secure(address, manners.tls or {})
  end)
end

function Hostile:cut() each(self, nil, virtual.link_cut) end

--- How often there was a "connection", or a client asked for a new "session" or
-- came to "return" to its own.
function Hostile:count(what)
  local n = 0
  each(self, nil, function(address)
    local connections, sessions, returns = virtual.link_visits(address)
    n = n + (what == "connection" and connections
      or what == "session" and sessions or returns)
  end)
  return n
end

return { start = start }

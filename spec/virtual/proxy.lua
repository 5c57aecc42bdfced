--- support.proxy in virtual time: a link to a server, which a spec can cut.
local support = require "support"
local virtual = require "zklock.virtual"
local worlds = require "virtual.worlds"

local Proxy = {}
Proxy.__index = Proxy

-- An unfair lock's node is made, and deleted, with another: create_both,
-- delete_both.  What ends in _if is done only if another node is there.
local kinds = { create = 15, delete = 2, exists = 3, get = 4, set = 5, list = 8,
  list_all = 12, create_both = 1401, delete_both = 1402,
  create_if = 141301, delete_if = 141302, set_if = 141305 }

--- `host` is another one than the single server's.
local function start(host)
  local self = setmetatable({ hosts = worlds.free_address() }, Proxy)
  assert(virtual.link_new(self.hosts, host or support.hosts, { 0 }))
  return self
end

local function await(self, word)
  support.wait_until(function()
    return virtual.link_has_sprung(self.hosts, word)
  end, 60, "the proxy's " .. word)
end

function Proxy:cut() virtual.link_cut(self.hosts) end
function Proxy:refuse() virtual.link_refuse(self.hosts) end
function Proxy:freeze() virtual.link_freeze(self.hosts) end
function Proxy:delay(seconds) virtual.link_delay(self.hosts, seconds) end
function Proxy:drop(what) virtual.link_drop(self.hosts, what) end
function Proxy:mute_events() virtual.link_mute_events(self.hosts) end
function Proxy:half_open() virtual.link_half_open(self.hosts) end
function Proxy:heal() virtual.link_heal(self.hosts) end
function Proxy:disarm() virtual.link_disarm(self.hosts) end

function Proxy:lose_reply(kind)
  virtual.link_lose_reply(self.hosts, kinds[kind])
end
function Proxy:await_loss() await(self, "lost") end

function Proxy:keep_request(...)
  local numbers = {}
  for i, kind in ipairs { ... } do numbers[i] = kinds[kind] end
  virtual.link_keep_request(self.hosts, (unpack or table.unpack)(numbers))
end
function Proxy:await_kept() await(self, "kept") end

function Proxy:apply_late()
  support.wait_until(function()
    return virtual.link_apply_late(self.hosts)
  end, 60, "a connection for the request that is late")
  await(self, "applied")
end

function Proxy:cut_after_reply(kind)
  virtual.link_cut_after_reply(self.hosts, kinds[kind])
end

return { start = start }

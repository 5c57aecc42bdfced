--- support.server in virtual time: an ensemble of a spec's own, whose servers
-- it kills and pauses.
local raw = require "support.raw"
local support = require "support"
local virtual = require "zklock.virtual"
local worlds = require "virtual.worlds"

local Server = {}
Server.__index = Server

local names = { tickTime = "tick_ms", minSessionTimeout = "min_timeout_ms",
  maxSessionTimeout = "max_timeout_ms", syncLimit = "sync_limit",
  maxClientCnxns = "max_connections" }

local properties = { ["zookeeper.extendedTypesEnabled"] = "ttl",
  ["zookeeper.enforceQuota"] = "enforces_quotas",
  ["jute.maxbuffer"] = "max_buffer",
  -- Which server refuses, and not that one does: the model has no such thing.
  ["zookeeper.enableEagerACLCheck"] = "eager" }

-- What the model knows of what a real server would be started with.
local function settings_of(flags)
  local settings = { tick_ms = 500, sync_limit = 20, max_connections = 0 }
  for option, text in flags:gmatch "%-%-(%l+) (%S+)" do
    local known = option == "jvm" and properties or names
    local name, value = text:match "^%-?D?([%w.]+)=(%w+)$"
    if known[name] then
      settings[known[name]] = tonumber(value) or value == "true"
    elseif not text:find "^%-X" then -- of Java
      error("virtual servers do not know " .. option .. " " .. text)
    end
  end
  return settings
end

--- Starts `count` servers.
local function start(count, flags)
  local addresses = {}
  for i = 1, count or 1 do addresses[i] = worlds.free_address() end
  local hosts = table.concat(addresses, ",")
  return setmetatable({
    ensemble = worlds.start(hosts, settings_of(flags or "")),
    count = #addresses, hosts = hosts }, Server)
end

function Server:kill(i) self.ensemble:stop(i or 1) end
function Server:pause(i) self.ensemble:pause(i or 1) end
function Server:resume(i) self.ensemble:resume(i or 1) end
function Server:stop()
  for i = 1, self.count do self.ensemble:stop(i) end
end
Server.close = Server.stop -- (support.closing)

--- Returns at once; it goes on after so many seconds.  What it returns is
-- closed when it has.
function Server:resume_in(seconds, i)
  local moment = virtual.now() + seconds
  virtual.resume_in(self:host(i), i, seconds)
  return { close = function()
    virtual.sleep(math.max(moment - virtual.now(), 0) + 0.001)
  end }
end

function Server:leader()
  return support.wait_until(function() return self.ensemble:leader() end, 60,
    "a leader")
end

function Server:host(i) return support.host(self.hosts, i) end

function Server:word(i, text) return raw.word(self:host(i), text) end

return { start = start }

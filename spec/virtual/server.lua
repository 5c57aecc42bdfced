--- support.server in virtual time: an ensemble of a spec's own, whose servers
-- it pauses.
local support = require "support"
local virtual = require "zklock.virtual"
local worlds = require "virtual.worlds"

local Server = {}
Server.__index = Server

--- Starts `count` servers.
local function start(count)
  local addresses = {}
  for i = 1, count or 1 do addresses[i] = worlds.free_address() end
  local hosts = table.concat(addresses, ",")
  return setmetatable({
    ensemble = worlds.start(hosts, { tick_ms = 500, sync_limit = 20,
      max_connections = 0 }),
    count = #addresses, hosts = hosts }, Server)
end

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

return { start = start }

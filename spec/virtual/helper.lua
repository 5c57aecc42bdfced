--- Loaded by busted before the specs: they run in virtual time, against ensembles
-- in this process (src/virtual), unchanged.  spec/run --zk virtual does it.
--
--     SPEC_SEED=1      of the schedule, of chance and of the ensembles
--     SPEC_TRACE=FILE  the trace is appended to it
--     SPEC_SWITCHES=N  another thread runs at one point in N (schedule.h)
local virtual = require "zklock.virtual"

local seed = tonumber(os.getenv "SPEC_SEED") or 1
virtual.seed(seed)
virtual.trace(os.getenv "SPEC_TRACE")
virtual.explore { switches = tonumber(os.getenv "SPEC_SWITCHES") or 0 }

local function addresses(hosts)
  local list = {}
  for address in hosts:gmatch "[^,/]+:%d+" do list[#list + 1] = address end
  return list
end

-- As spec/run configures the real ones: one server that removes empty containers
-- at once, and three that remove them after a minute.
virtual.ensemble { addresses = addresses(os.getenv "SPEC_HOSTS"), seed = seed,
  tick_ms = 500, sync_limit = 20, max_timeout_ms = 60000, max_connections = 0,
  container_interval_ms = 20 }
virtual.ensemble { addresses = addresses(os.getenv "SPEC_ENSEMBLE_HOSTS"),
  seed = seed + 1, tick_ms = 500, sync_limit = 20, max_timeout_ms = 60000,
  max_connections = 0 }

-- The servers' time of day.
local time = os.time
function os.time(fields) -- luacheck: ignore 122
  return fields and time(fields) or math.floor(virtual.epoch + virtual.now())
end

package.loaded.socket = require "virtual.socket"
for _, name in ipairs { "proxy", "raw", "seizure", "server" } do
  package.preload["support." .. name] = function()
    return require("virtual." .. name)
  end
end

local support = require "support"

-- What the system tells of the machine is not of this time.
function support.pressure() return 0 end
support.count_threads = virtual.threads

function support.count_watches(prefix, hosts)
  return virtual.find(addresses(hosts or support.hosts)[1]):watches(prefix)
end

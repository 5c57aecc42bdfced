--- Loaded by busted before the specs: they run in virtual time, unchanged,
-- against ensembles in this process.  spec/run --zk virtual does it.
--
--     SPEC_SEED=1      of the schedule, of chance and of the ensembles
--     SPEC_TRACE=FILE  the trace is appended to it
--     SPEC_TLS=yes     sessions have TLS (the fake of src/virtual)
--     SPEC_SWITCHES=N  another thread runs at one point in N (schedule.h)
local virtual = require "zklock.virtual"
local worlds = require "virtual.worlds"

-- When Lua's collector runs by itself depends on hash seeds and addresses. So
-- for a trace it runs where virtual.socket says; and LuaJIT compiles nothing,
-- for what it compiles, and so keeps alive, depends on addresses, too.
if os.getenv "SPEC_TRACE" then
  collectgarbage "stop"
  if rawget(_G, "jit") then jit.off() end
end

local seed = tonumber(os.getenv "SPEC_SEED") or 1
virtual.seed(seed)
virtual.trace(os.getenv "SPEC_TRACE")
require "virtual.exploration".reset()

-- As spec/run configures the real one, which removes empty containers at once.
worlds.start(os.getenv "SPEC_HOSTS", { seed = seed, tick_ms = 500,
  sync_limit = 20, max_timeout_ms = 60000, max_connections = 0,
  container_interval_ms = 20 })

-- The servers' time of day.
local time = os.time
function os.time(fields) -- luacheck: ignore 122
  return fields and time(fields) or math.floor(virtual.epoch + virtual.now())
end

package.loaded.socket = require "virtual.socket"
for _, name in ipairs { "hostile", "proxy", "seizure", "server" } do
  package.preload["support." .. name] = function()
    return require("virtual." .. name)
  end
end

-- TLS without OpenSSL.
package.loaded["zklock.tls"] = virtual.tls()

-- Another process would find no server, and none of this time.
for _, name in ipairs { "child", "command" } do
  package.preload["support." .. name] = function()
    error("support." .. name .. " needs real servers")
  end
end

-- The specs' own client.
local model = require "support.model"

local function wait(moment)
  virtual.sleep(math.max(moment - virtual.now(), 1e-6))
end

package.loaded["support.transport"] = {
  open = function(host, options)
    return model.open(virtual.find(host), host, options, wait)
  end,
}

local raw = require "support.raw"

function raw.word(host, text)
  local number = worlds.number(host)
  return number and virtual.find(host):word(number, text)
end

local support = require "support"

support.count_threads = virtual.threads

if os.getenv "SPEC_TLS" then
  local zklock = require "zklock"
  local connect = zklock.connect
  function zklock.connect(hosts, options, ...)
    local copy = { tls = { ca = "/etc/ca.pem" } }
    options = options or {}
    if type(options) ~= "table" then return connect(hosts, options, ...) end
    for key, value in pairs(options) do copy[key] = value end
    return connect(hosts, copy, ...)
  end
end

-- The model of ZooKeeper (src/virtual) beside a real server: the same sequences
-- of requests by several sessions, and the same answers, Stats, events and
-- orders.
--
--     SPEC_SEQUENCES=100   so many sequences of 200 steps
--     SPEC_SEED=1          the seed of the first one, which a failure names
local conformance = require "support.conformance"
local model = require "support.model"
local raw = require "support.raw"
local support = require "support"
local transport = require "support.transport"

local SEQUENCES = tonumber(os.getenv "SPEC_SEQUENCES") or 100
local FIRST = tonumber(os.getenv "SPEC_SEED") or 1
local STEPS = 200

-- (There are no real servers in virtual time.)
if package.loaded["virtual.socket"] then return end

describe("The model of ZooKeeper", function()
  local server, is_new

  -- Servers since 3.9 hide what may not be read.
  local function is_of_39()
    local client = require "socket".connect(server.hosts:match "([^:]+):(%d+)")
    client:send "srvr"
    local major, minor = client:receive "*a":match "version: (%d+)%.(%d+)"
    client:close()
    return tonumber(major) > 3 or tonumber(minor) >= 9
  end

  -- Empty containers stay: when a server finds them is not a matter of order.
  setup(function()
    server = require "support.server".start(1,
      "--config maxSessionTimeout=60000 --config enforceQuota=true "
      .. "--jvm -Dzookeeper.extendedTypesEnabled=true "
      .. "--jvm -Dznode.container.checkIntervalMs=2000000000")
    is_new = is_of_39()
  end)
  teardown(function() server:stop() end)

  local function real_world()
    return { open = function(options)
      return transport.open(server.hosts, options)
    end }
  end

  local function model_world(seed)
    local ensemble = model.new({ ttl = true, enforces_quotas = true,
      container_interval_ms = 0, max_timeout_ms = 60000,
      hides_nodes = is_new, multi_create2 = is_new }, seed)
    return { open = function(options)
      return model.connect(ensemble, options)
    end }
  end

  -- (So does the model: virtual/ensemble_spec.lua. A tick is half a second. A
  -- busy machine sees an end later than it was.)
  it("ends sessions as a real server does: in ticks", function()
    local zk, clients, last, lives = raw.connect(server.hosts), {}, {}, {}
    for i = 1, 12 do
      clients[i] = raw.connect(server.hosts, { timeout = 1 })
      clients[i]:create("/tick-" .. i, { ephemeral = true })
      last[i] = support.now()
      support.sleep(0.07)
    end
    while next(last) do
      for i, begun in pairs(last) do
        if not zk:exists("/tick-" .. i) then
          lives[#lives + 1], last[i] = support.now() - begun, nil
        end
      end
      support.sleep(0.005)
    end
    for _, client in ipairs(clients) do client.connection:hang_up() end
    zk:close() -- or its end comes in the other test
    table.sort(lives)
    assert.is_true(lives[1] > 0.99 and lives[1] < 1.6, lives[1])
  end)

  it("answers as a real server does", function()
    for seed = FIRST, FIRST + SEQUENCES - 1 do
      local steps = conformance.sequence(seed, STEPS)
      local base = ("/%d-%.0f/base"):format(seed, support.now() * 1000)
      local function run(world)
        local ended, result = pcall(conformance.run, world, base, steps)
        return ended and result
          or error(("SPEC_SEED=%d: %s"):format(seed, result), 0)
      end
      local step, text = conformance.difference(run(real_world()),
        run(model_world(seed)))
      if step then
        error(("SPEC_SEED=%d: %s\n%s"):format(seed, text,
          conformance.describe(steps, step)))
      end
    end
  end)
end)

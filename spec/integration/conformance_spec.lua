-- The model of ZooKeeper (src/virtual) beside a real server: the same sequences
-- of requests by several sessions, and the same answers, Stats, events and
-- orders.
--
--     SPEC_SEQUENCES=100   so many sequences of 200 steps
--     SPEC_SEED=1          the seed of the first one, which a failure names
local conformance = require "support.conformance"
local model = require "support.model"
local support = require "support"
local transport = require "support.transport"

local SEQUENCES = tonumber(os.getenv "SPEC_SEQUENCES") or 100
local FIRST = tonumber(os.getenv "SPEC_SEED") or 1
local STEPS = 200

-- (There are no real servers in virtual time.)
if package.loaded["virtual.socket"] then return end

describe("The model of ZooKeeper #once #layer #real", function()
  local server, version

  -- Empty containers stay: when a server finds them is not a matter of order.
  setup(function()
    version = os.getenv "ZK_SERVER"
    server = require "support.server".start(1,
      "--config maxSessionTimeout=60000 --config enforceQuota=true "
      .. "--jvm -Dzookeeper.extendedTypesEnabled=true "
      .. "--jvm -Dznode.container.checkIntervalMs=2000000000")
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
      hides_nodes = version == "3.9", multi_create2 = version == "3.9" }, seed)
    return { open = function(options)
      return model.connect(ensemble, options)
    end }
  end

  it("answers as a real server does", function()
    for seed = FIRST, FIRST + SEQUENCES - 1 do
      local steps = conformance.sequence(seed, STEPS)
      local base = ("/%d-%.0f/base"):format(seed, support.now() * 1000)
      local step, text = conformance.difference(
        conformance.run(real_world(), base, steps),
        conformance.run(model_world(seed), base, steps))
      if step then
        error(("SPEC_SEED=%d: %s\n%s"):format(seed, text,
          conformance.describe(steps, step)))
      end
    end
  end)
end)

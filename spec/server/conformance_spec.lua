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

  -- How long each of some sessions lives after its last request, of which the
  -- world saw the answer; `pass(seconds)` lets time pass in it.
  local function lives(world, now, pass)
    local witness, base = world.open { timeout = 30000 },
      ("/%.0f"):format(support.now() * 1000)
    local last, gone, left = {}, {}, 12
    local function ask(client, request)
      local xid = client:send(request)
      local item
      repeat item = client:receive() until item.xid == xid
      return item
    end
    ask(witness, { op = "create", path = base })
    for i = 1, left do
      local client = world.open { timeout = 1000 }
      ask(client, { op = "create", path = base .. "/" .. i, flags = 1 })
      last[i] = now()
      pass(0.07)
    end
    while left > 0 do
      local there = {}
      for _, name in ipairs(ask(witness,
        { op = "children", path = base }).names) do
        there[tonumber(name)] = true
      end
      for i = 1, #last do
        if not there[i] and not gone[i] then
          gone[i], left = now() - last[i], left - 1
        end
      end
      pass(0.005)
    end
    ask(witness, { op = "close" }) -- or its end comes in the other test
    witness:hang_up()
    table.sort(gone)
    return gone
  end

  -- (A tick is half a second.  A busy machine sees an end later than it was.)
  it("ends sessions in ticks, as a real server does", function()
    local ensemble = model.new({ tick_ms = 500 }, FIRST)
    local world = { open = function(options)
      return model.connect(ensemble, options)
    end }
    local ours = lives(world, function() return ensemble:now() end,
      function(seconds) ensemble:advance(seconds) end)
    local theirs = lives(real_world(), support.now,
      require "socket".sleep)
    for _, life in ipairs(theirs) do assert.is_true(life > 0.99, life) end
    for _, life in ipairs(ours) do
      assert.is_true(life > 0.99 and life < 1.52, life)
    end
    -- They end at few moments, all within a tick of their timeout.
    assert.is_true(theirs[1] < 1.6, theirs[1])
    assert.is_true(ours[#ours] - ours[1] > 0.2, ours[#ours] - ours[1])
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

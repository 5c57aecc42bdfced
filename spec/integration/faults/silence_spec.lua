-- The servers fall silent: how long a hold lasts, and what becomes of its lock.
local kinds = require "integration.family.kinds"
local start_proxy = require "support.proxy".start
local start_server = require "support.server".start
local support = require "support"

describe("Silence", function()
  local path, proxy
  before_each(function() path, proxy = support.path(), start_proxy() end)

  -- Not what a young connection lends it: what the rounds prove, just renewed.
  local function until_leases(guard, low, high)
    support.wait_until(function() return guard:lease() < low end)
    support.wait_until(function() return guard:lease() > high end)
  end

  it("of the servers ends a hold after half of the timeout at the earliest, "
    .. "and before they give its lock away", function()
    local T = 4
    local session = support.connect { hosts = proxy.hosts,
      session_timeout = T }
    local guard = assert(session:mutex(path):acquire(30))
    local handover = kinds.watch_handover(guard, support.connect(), path)
    until_leases(guard, 0.55 * T, 0.555 * T)
    local silent, lease = support.now(), guard:lease()
    proxy:freeze()
    while guard:is_held() do support.advance(0.001) end
    local held = support.now() - silent
    assert.is_true(math.abs(held - lease) < 0.002, held)
    assert.is_true(held > 0.54 * T and held < T)
    handover(15)
    proxy:heal()
  end)

  it("of one server keeps a hold where another is there and the tick is known",
    function()
      local T, server = 10, start_server(1)
      support.closing(server, server.stop)
      local first, second = start_proxy(server.hosts),
        start_proxy(server.hosts)
      second:refuse()
      local session = support.connect { session_timeout = T, tick_time = 0.5,
        hosts = first.hosts .. "," .. second.hosts }
      local guard = assert(session:mutex(path):acquire(30))
      second:heal()
      until_leases(guard, 0.78 * T, 0.79 * T) -- it outlasts our patience
      first:freeze()
      support.step_until(session, function()
        assert.is_true(guard:is_held())
        return session:stats().reconnects == 1
      end, T, "a connection to the other server")
      assert.is_true(guard:verify())
      assert.is_true(guard:release())
    end)
end)

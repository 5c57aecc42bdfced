-- The wire between client and server: silent, slow, and deaf in one direction:
-- how long a hold lasts, and what becomes of its lock.
local kinds = require "integration.family.kinds"
local sessions = require "integration.sessions"
local start_hostile = require "support.hostile".start
local start_proxy = require "support.proxy".start
local start_server = require "support.server".start
local support = require "support"

local path, proxy
before_each(function() path, proxy = support.path(), start_proxy() end)

local function connect(seconds)
  return support.connect { hosts = proxy.hosts, session_timeout = seconds }
end

local function hold(session)
  return assert(session:mutex(path):acquire(30))
end

describe("Silence", function()
  -- Not what a young connection lends it: what the rounds prove, just renewed.
  local function until_leases(guard, low, high)
    support.wait_until(function() return guard:lease() < low end)
    support.wait_until(function() return guard:lease() > high end)
  end

  it("of the servers ends a hold after half of the timeout or later, and "
    .. "before "
    .. "the servers grant its lock", function()
    local T = 4
    local guard = hold(connect(T))
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
      local guard = hold(session)
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

-- What the wire does, and how long its hold and its lock may last then.
for what, fault in pairs {
  -- An answer is 1.8 s old, the last lease less than 2 s.
  ["which is slower than the lease"] = function() proxy:delay(0.9) end,
  -- Its node goes with the session: requests do not arrive, or the session is
  -- given up, which attempts to reconnect have kept alive until then.
  ["on which requests vanish"] = function() proxy:drop "requests" end,
  ["on which replies vanish"] = function() proxy:drop "replies" end,
} do
  it("A wire " .. what .. " loses the hold in time, and recovers", function()
    local session, other = connect(2), support.connect()
    local guard = hold(session)
    local handover = kinds.watch_handover(guard, other, path)
    fault()
    local begun = support.now()
    while guard:is_held() do
      assert.equal(0, other:stats().grants)
      support.advance(0.001)
    end
    assert.is_true(support.now() - begun < 2)
    handover(20)
    proxy:heal()
    local fresh = assert(session:mutex(path):acquire(10))
    assert.is_true(fresh:verify())
    fresh:release()
  end)
end

it("A call that is refused just before the session is closed returns the "
  .. "reason "
  .. "of the refusal", function()
  local session, scheduler = sessions.in_loop { hosts = proxy.hosts }
  local mutex, heard = session:mutex(path), nil
  sessions.cut_off(session, proxy)
  scheduler:spawn(function() heard = { mutex:acquire(0.2) } end)
  scheduler:turn()
  -- step() wakes the task, which does not come to run before close().
  support.step_until(session, function() return #scheduler.ready > 0 end)
  session:close()
  assert.is_true(scheduler:run(5))
  assert.matches("no server of " .. proxy.hosts,
    kinds.refused("disconnected", heard[1], heard[2], heard[3]), 1, true)
end)

it("A server that says it has failed at a request is left, and the session "
  .. "with its hold lives on elsewhere", function()
  local hostile = start_hostile()
  local session = support.connect { hosts = hostile.hosts,
    session_timeout = 20 }
  local guard = hold(session)
  local waiter = kinds.queue_in(support.connect():mutex(path), path)
  local queue, id = support.wait_for_queue(path, 2), session:id()
  for n = 1, 5 do
    hostile:behave { kind = "pass", fails = 1 }
    support.until_state(session, "connected", { reconnects = n })
    assert.equal(id, session:id())
    assert.is_true(guard:verify())
    assert.same(queue, support.zk():queue(path))
  end
  assert.is_nil(waiter.guard)
  guard:release()
  kinds.await(waiter):release()
end)

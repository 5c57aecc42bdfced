-- Bytes and sockets between the real client library and servers that misbehave;
-- what becomes of sessions then spec/integration/faults says in virtual time.
local kinds = require "integration.family.kinds"
local start_hostile = require "support.hostile".start
local start_proxy = require "support.proxy".start
local support = require "support"

describe("A connection", function()
  local path
  before_each(function() path = support.path() end)

  local function reconnected(session, n)
    support.step_until(session, function()
      return session:state() == "connected" and session:stats().reconnects >= n
    end, 20, "a connection")
  end

  it("that breaks at any byte leaves one node for a hold, and none afterwards "
    .. "(T16, T57)", function()
    local proxy = start_proxy()
    support.zk():make(path)
    local session = support.connect { hosts = proxy.hosts,
      session_timeout = 9 }
    local mutex = session:mutex(path)
    -- The answers to an acquisition and its release are some 400 bytes.
    for bytes = 1, 481, 32 do
      proxy:cut_after(bytes)
      local guard = assert(mutex:acquire(40))
      assert.same({ guard.node }, kinds.nodes(path))
      assert.equal(session:id(), support.zk():exists(guard.node).owner)
      guard:release { wait = true }
      kinds.wait_for_nodes(path, 0, 10)
      proxy:disarm()
      reconnected(session, 0)
    end
  end)

  it("on which the server has hung up is left by a waiter, who keeps its place",
    function()
      local proxy, holder = start_proxy(), support.hold(path)
      local session = support.connect { hosts = proxy.hosts,
        session_timeout = 4 }
      local waiter = kinds.queue_in(session:mutex(path), path)
      local queue = support.wait_for_queue(path, 2)
      proxy:half_open()
      reconnected(session, 1)
      assert.same(queue, support.zk():queue(path))
      holder:release()
      assert.equal(path .. "/" .. queue[2], kinds.await(waiter).node)
      waiter.guard:release()
    end)

  it("to a server that talks nonsense is made again, without a storm",
  function()
    local hostile = start_hostile()
    local session = support.connect { hosts = hostile.hosts,
      session_timeout = 9 }
    local guard, id = assert(session:mutex(path):acquire(30)), session:id()
    hostile:behave { kind = "stranger", says = ("nonsense%20"):rep(20) }
    hostile:cut()
    support.step_until(session, function()
      return hostile:count "connection" > 2
    end, 20, "attempts")
    hostile:behave { kind = "pass" }
    reconnected(session, 1)
    assert.is_true(hostile:most("connection", 3) <= 20)
    assert.equal(id, session:id())
    assert.is_true(guard:verify())
    guard:release()
  end)
end)

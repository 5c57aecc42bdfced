-- Connections that are cut, and come back before the lease is over.  (Each kind
-- of lock: family/contract_spec.lua.)
local kinds = require "integration.family.kinds"
local start_proxy = require "support.proxy".start
local support = require "support"

describe("A cut shorter than the lease", function()
  local path, proxy, events, session

  before_each(function()
    support.start()
    path, proxy, events = support.path(), start_proxy(), {}
    session = support.connect { hosts = proxy.hosts,
      on_event = function(event) events[#events + 1] = event end }
  end)
  after_each(support.finish)

  it("does not make an owner wait for itself (T44), and is told", function()
    local id, mutex = session:id(), session:mutex(path)
    local guard = mutex:acquire(30)
    guard:on_lost(function() error "lost" end)
    for i = 1, 2 do
      proxy:refuse()
      support.until_state(session, "suspended")
      assert.equal("suspended", guard:state())
      assert.is_true(guard:is_held()) -- its lease still stands
      assert.is_true(guard:lease() > 0)
      proxy:heal()
      support.until_state(session, "connected", { reconnects = i })
      assert.equal("held", guard:state())
      assert.equal(guard:token(), assert(mutex:acquire(1)):token())
    end
    assert.is_true(guard:verify())
    assert.equal(id, session:id())
    assert.same({ "connected", "suspended", "reconnected", "suspended",
      "reconnected" }, events)
  end)

  it("ends a hold whose node an operator has deleted meanwhile", function()
    local guard = session:mutex(path):acquire(30)
    proxy:refuse()
    support.until_state(session, "suspended")
    support.zk():delete(guard.node)
    assert.is_true(guard:is_held()) -- nobody can know
    local heartbeats = session:stats().heartbeats
    proxy:heal()
    support.wait_until(function() return guard:state() == "lost" end)
    assert.is_true(session:stats().heartbeats <= heartbeats + 1)
    assert.equal("lost", (select(3, guard:release())))
  end)

  it("grants a waiter whose turn came meanwhile", function()
    local holder = support.hold(path)
    local waiter = kinds.queue_in(session:mutex(path), path)
    proxy:refuse()
    holder:release { wait = true }
    kinds.nobody(0.1, waiter)
    proxy:heal()
    assert.equal(waiter.node, kinds.await(waiter).node)
  end)
end)

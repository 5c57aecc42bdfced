-- Connections that are cut, and come back before the lease is over.
local start_proxy = require "support.proxy".start
local support = require "support"
local connect = support.connect

describe("A cut shorter than the lease", function()
  before_each(support.start)
  after_each(support.finish)

  it("leaves a hold as it was: the same node (T13)", function()
    local path, events = support.path(), {}
    local proxy = start_proxy()
    local session = connect { hosts = proxy.hosts, session_timeout = 10,
      on_event = function(event) events[#events + 1] = event end }
    local id = session:id()
    local guard = session:mutex(path):acquire(30)
    local called = false
    guard:on_lost(function() called = true end)
    for i = 1, 3 do
      proxy:refuse()
      support.until_state(session, "suspended")
      assert.equal("suspended", guard:state())
      assert.is_true(guard:is_held()) -- its lease still stands
      assert.is_true(guard:lease() > 0)
      proxy:heal()
      support.until_state(session, "connected")
      assert.equal("held", guard:state())
      assert.equal(i, session:stats().reconnects)
    end
    assert.is_true(guard:verify())
    assert.same({ path:match("[^/]+$") and guard.node:match("[^/]+$") },
      support.zk():queue(path))
    assert.equal(id, session:id())
    assert.is_false(called)
    assert.same({ "connected", "suspended", "reconnected", "suspended",
      "reconnected", "suspended", "reconnected" }, events)
    assert.is_true(guard:release { wait = true })
  end)

  it("ends a hold whose node an operator has deleted meanwhile", function()
    local path = support.path()
    local proxy = start_proxy()
    local session = connect { hosts = proxy.hosts, session_timeout = 60 }
    local guard = session:mutex(path):acquire(30)
    proxy:refuse()
    support.until_state(session, "suspended")
    support.zk():delete(guard.node)
    assert.is_true(guard:is_held()) -- nobody can know
    proxy:heal()
    -- at once, and not with the next heartbeat
    support.wait_until(function() return guard:state() == "lost" end)
    assert.equal("lost", (select(3, guard:release())))
  end)

  it("ends a hold that is to be lost on suspension", function()
    local path = support.path()
    local proxy = start_proxy()
    local session = connect { hosts = proxy.hosts, session_timeout = 10 }
    local guard = session:mutex(path, { on_suspend = "lose" }):acquire(30)
    local code
    guard:on_lost(function(_, why) code = why end)
    local begun = support.now()
    proxy:refuse()
    support.step_until(session, function() return code end)
    assert.is_true(support.now() - begun < support.slack)
    assert.is_false(guard:is_held())
    assert.equal("lost", guard:state())
    proxy:heal()
    support.wait_for_queue(path, 0) -- and its node is taken away
    assert.equal("lost", (select(3, guard:release())))
  end)

  it("keeps a waiter's node and its place in the queue (T21)", function()
    local path = support.path()
    local holder = support.hold(path)
    local proxy = start_proxy()
    local session = connect { hosts = proxy.hosts, session_timeout = 10 }
    local guard
    session:mutex(path):acquire_async(nil, function(mine) guard = mine end)
    support.wait_for_queue(path, 2)
    local behind = connect()
    behind:mutex(path):acquire_async(nil, function() end)
    local queue = support.wait_for_queue(path, 3)
    for _ = 1, 3 do
      proxy:cut()
      support.sleep(0.05)
    end
    support.until_state(session, "connected")
    assert.same(queue, support.zk():queue(path))
    holder:release()
    support.step_until(session, function() return guard end)
    assert.equal(path .. "/" .. queue[2], guard.node)
    assert.is_true(guard:is_held())
  end)

  it("grants a waiter whose turn came meanwhile", function()
    local path = support.path()
    local holder = support.hold(path)
    local proxy = start_proxy()
    local session = connect { hosts = proxy.hosts, session_timeout = 10 }
    local guard
    session:mutex(path):acquire_async(nil, function(mine) guard = mine end)
    local queue = support.wait_for_queue(path, 2)
    proxy:refuse()
    holder:release { wait = true }
    support.sleep(0.1)
    session:step()
    assert.is_nil(guard)
    proxy:heal()
    support.step_until(session, function() return guard end)
    assert.equal(path .. "/" .. queue[2], guard.node)
  end)

  it("does not make an owner wait for itself (T44)", function()
    local proxy = start_proxy()
    local session = connect { hosts = proxy.hosts, session_timeout = 10 }
    local mutex = session:mutex(support.path())
    local guard = mutex:acquire(30)
    proxy:cut()
    support.until_state(session, nil, { reconnects = 1 })
    local again = assert(mutex:acquire(1))
    assert.equal(guard:token(), again:token())
  end)
end)

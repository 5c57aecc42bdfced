-- Replies that never come: was it done, or not?
local start_proxy = require "support.proxy".start
local support = require "support"
local connect = support.connect

describe("A reply that is lost", function()
  before_each(support.start)
  after_each(support.finish)

  local function wait_in(session, path, options)
    local result = {}
    session:mutex(path):acquire_async(options, function(guard, message, code)
      result.done, result.guard = true, guard
      result.message, result.code = message, code
    end)
    return result
  end

  it("to a create leaves one node, which is granted (T16, T22)", function()
    local path = support.path()
    support.zk():make(path)
    local proxy = start_proxy()
    local session = connect { hosts = proxy.hosts, session_timeout = 10 }
    proxy:lose_reply "create"
    local result = wait_in(session, path)
    proxy:await_loss()
    local queue = support.wait_for_queue(path, 1)
    proxy:heal()
    support.step_until(session, function() return result.done end)
    assert.equal(path .. "/" .. queue[1], result.guard.node)
    assert.equal(1, #support.zk():queue(path))
    assert.equal(support.zk():exists(result.guard.node).czxid,
      result.guard:token())
    assert.is_true(result.guard:release { wait = true })
    assert.equal(0, #support.zk():queue(path))
  end)

  it("to a create leaves nothing if the wait ends meanwhile (T16)", function()
    local path = support.path()
    support.zk():make(path)
    local proxy = start_proxy()
    local session = connect { hosts = proxy.hosts, session_timeout = 10 }
    proxy:lose_reply "create"
    local result = wait_in(session, path, 5)
    proxy:await_loss()
    support.wait_for_queue(path, 1)
    support.step_until(session, function() return result.done end)
    assert.equal("disconnected", result.code)
    support.wait_until(function()
      return session:stats().pending_releases == 1
    end)
    proxy:heal()
    support.wait_for_queue(path, 0)
    support.wait_until(function()
      return session:stats().pending_releases == 0
    end)
    assert.is_true(session:mutex(path):acquire(30):release())
  end)

  it("to the list after it does no harm (T19)", function()
    local path = support.path()
    support.zk():make(path)
    local proxy = start_proxy()
    local session = connect { hosts = proxy.hosts, session_timeout = 10 }
    proxy:lose_reply "list"
    local result = wait_in(session, path)
    proxy:await_loss()
    proxy:lose_reply "list"
    proxy:heal()
    proxy:await_loss()
    proxy:heal()
    support.step_until(session, function() return result.done end)
    assert.equal(1, #support.zk():queue(path))
    assert.is_true(result.guard:is_held())
  end)

  it("to a delete does not bring the lock back (T24)", function()
    local path = support.path()
    local proxy = start_proxy()
    local session = connect { hosts = proxy.hosts, session_timeout = 10 }
    local mutex = session:mutex(path)
    local guard = mutex:acquire(30)
    proxy:lose_reply "delete"
    assert.is_true(guard:release())
    proxy:await_loss()
    assert.equal("released", guard:state())
    proxy:heal()
    support.wait_for_queue(path, 0)
    assert.is_true(mutex:acquire(30):release())
  end)

  it("does not matter to a release made while there is no server (T24)",
    function()
      local path = support.path()
      local proxy = start_proxy()
      local session = connect { hosts = proxy.hosts, session_timeout = 10 }
      local mutex = session:mutex(path)
      local guard = mutex:acquire(30)
      proxy:refuse()
      support.until_state(session, "suspended")
      assert.is_true(guard:release())
      assert.equal("released", guard:state())
      assert.equal(1, #support.zk():queue(path))
      support.wait_until(function()
        return session:stats().pending_releases == 1
      end)
      proxy:heal()
      support.wait_for_queue(path, 0)
      -- nor does its next acquire wait behind its own ghost
      assert.is_true(mutex:acquire(2):release())
    end)

  it("to a read makes its waiter look again", function()
    local path = support.path()
    local holder = support.hold(path)
    local proxy = start_proxy()
    local session = connect { hosts = proxy.hosts, session_timeout = 10 }
    proxy:lose_reply "get"
    local result = wait_in(session, path)
    proxy:await_loss()
    proxy:heal()
    support.until_state(session, "connected")
    holder:release()
    support.step_until(session, function() return result.done end)
    assert.is_true(result.guard:is_held())
  end)
end)

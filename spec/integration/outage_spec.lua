-- No server for a while, or for longer than a session lives.
local start_proxy = require "support.proxy".start
local support = require "support"
local connect = support.connect

describe("Without a server", function()
  before_each(support.start)
  after_each(support.finish)

  local function cut_off(options)
    local proxy = start_proxy()
    options = options or {}
    options.hosts = proxy.hosts
    options.session_timeout = options.session_timeout or 10
    local session = connect(options)
    return session, proxy, function()
      proxy:refuse()
      support.until_state(session, "suspended")
    end
  end

  it("acquire says disconnected at its deadline", function()
    local session, proxy, cut = cut_off()
    local path = support.path()
    cut()
    local begun = support.now()
    local guard, message, code = session:mutex(path):acquire(0.4)
    local took = support.now() - begun
    assert.is_nil(guard)
    assert.equal("disconnected", code)
    assert.matches("^zklock: no server of .* answered within 0.4 s, "
      .. "waiting for /", message)
    assert.is_true(took >= 0.4 and took < 0.4 + support.slack, took)
    proxy:heal()
  end)

  it("try_acquire and a timeout of 0 say so at once", function()
    local session, _, cut = cut_off()
    local mutex = session:mutex(support.path())
    cut()
    local begun = support.now()
    assert.equal("disconnected", (select(3, mutex:try_acquire())))
    assert.equal("disconnected", (select(3, mutex:acquire(0))))
    assert.is_true(support.now() - begun < support.slack)
  end)

  it("try_acquire waits one session timeout for a silent one", function()
    local session, proxy = cut_off { session_timeout = 1 }
    local mutex = session:mutex(support.path())
    proxy:freeze()
    local begun = support.now()
    local _, _, code = mutex:try_acquire()
    assert.equal("disconnected", code)
    assert.is_true(support.now() - begun < 1 + support.slack)
    proxy:heal()
  end)

  it("a waiter for ever is granted when one comes back", function()
    local session, proxy, cut = cut_off()
    local path, guard = support.path(), nil
    cut()
    session:mutex(path):acquire_async(nil, function(mine) guard = mine end)
    support.sleep(0.2)
    session:step()
    assert.is_nil(guard)
    proxy:heal()
    support.step_until(session, function() return guard end)
  end)

  it("verify says disconnected, a release that waits goes on", function()
    local session, proxy, cut = cut_off()
    local path = support.path()
    local guard = session:mutex(path):acquire(30)
    cut()
    local ok, message, code = guard:verify()
    assert.is_nil(ok)
    assert.equal("disconnected", code)
    assert.matches("^zklock: no server could be asked", message)
    assert.is_true(guard:is_held())
    proxy:heal()
    assert.is_true(guard:release { wait = true })
    assert.equal(0, #support.zk():queue(path))
  end)

  it("a hold is lost by the local clock, before the server's (T58)",
    function()
      local session, proxy = cut_off { session_timeout = 12 }
      local path = support.path()
      local guard = session:mutex(path):acquire(30)
      local lost
      guard:on_lost(function(_, code) lost = code end)
      -- (A young connection has a longer lease, which ends just before.)
      support.wait_until(function() return guard:lease() < 0.6 * 12 end)
      proxy:freeze()
      local begun = support.now()
      support.wait_until(function() return not guard:is_held() end)
      assert.is_true(support.now() - begun < 0.6 * 12 + support.slack)
      assert.equal(1, #support.zk():queue(path))
      support.step_until(session, function() return lost end, 1)
      assert.equal("lost", guard:state())
      assert.equal("lost", (select(3, guard:release())))
      proxy:heal()
      support.wait_for_queue(path, 0)
      assert(session:mutex(path):acquire(30)):release()
    end)

  it("longer than its timeout a session expires, and a new one begins",
    function()
      local events = {}
      local session, proxy, cut = cut_off { session_timeout = 1,
        on_event = function(event) events[#events + 1] = event end }
      local path, id = support.path(), session:id()
      local mutex = session:mutex(path)
      local guard = mutex:acquire(30)
      local calls = {}
      guard:on_lost(function(_, code) calls[#calls + 1] = code end)
      cut()
      support.wait_for_queue(path, 0)
      proxy:heal()
      support.step_until(session, function() return events[4] end)
      assert.are_not.equal(id, session:id())
      assert.same({ "connected", "suspended", "expired", "connected" }, events)
      assert.equal(1, #calls)
      assert.equal("lost", (select(3, mutex:acquire(1))))
      assert.equal("lost", (select(3, guard:release())))
      local fresh = mutex:acquire(30)
      assert.is_true(fresh:is_held())
      assert.is_true(fresh:token() > guard:token())
    end)

  it("a waiter whose session expires is granted with a new node", function()
    local path = support.path()
    local holder = support.hold(path)
    local session, proxy, cut = cut_off { session_timeout = 1 }
    local guard
    session:mutex(path):acquire_async(20, function(mine) guard = mine end)
    local old = support.wait_for_queue(path, 2)[2]
    cut()
    support.wait_for_queue(path, 1)
    local behind, other = connect(), nil
    behind:mutex(path):acquire_async(nil, function(mine) other = mine end)
    support.wait_for_queue(path, 2)
    proxy:heal()
    local queue = support.wait_for_queue(path, 3) -- at the tail
    assert.are_not.equal(old, queue[3])
    holder:release()
    support.step_until(behind, function() return other end)
    session:step()
    assert.is_nil(guard)
    other:release()
    support.step_until(session, function() return guard end)
    assert.equal(path .. "/" .. queue[3], guard.node)
  end)

  it("a waiter keeps its deadline across the expiry", function()
    local path = support.path()
    support.hold(path)
    local session, proxy, cut = cut_off { session_timeout = 1 }
    local code
    local begun = support.now()
    session:mutex(path):acquire_async(8, function(_, _, why) code = why end)
    support.wait_for_queue(path, 2)
    cut()
    support.wait_for_queue(path, 1)
    proxy:heal()
    support.step_until(session, function() return code end)
    assert.equal("timeout", code)
    local took = support.now() - begun
    assert.is_true(took >= 8 and took < 8 + support.slack, took)
  end)

  it("close is quick, and the nodes go with the session's timeout", function()
    local session, proxy, cut = cut_off { session_timeout = 1 }
    local path = support.path()
    session:mutex(path):acquire(30)
    cut()
    local begun = support.now()
    session:close()
    assert.is_true(support.now() - begun < 2 + support.slack)
    support.wait_for_queue(path, 0)
    proxy:heal()
  end)

  it("close of a silent one takes two seconds at most", function()
    local session, proxy = cut_off { session_timeout = 3 }
    session:mutex(support.path()):acquire(30)
    proxy:freeze()
    local begun = support.now()
    session:close()
    assert.is_true(support.now() - begun < 2 + support.slack)
    proxy:heal()
    proxy:cut()
  end)

  it("and with it again a hundred times nothing is left (T18)", function()
    local session, proxy = cut_off()
    local path, done = support.path(), 0
    for i = 1, 100 do
      session:mutex(path):acquire_async({ timeout = 0 }, function(guard)
        done = done + 1
        if guard then guard:release() end
      end)
      if i % 10 == 0 then proxy:cut() end
    end
    support.step_until(session, function() return done == 100 end, 10)
    support.wait_for_queue(path, 0)
  end)
end)

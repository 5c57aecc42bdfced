-- No server for a moment, for a while, or for longer than a session lives.  (Of
-- every kind of lock: family/contract_spec.lua.)
local kinds = require "integration.family.kinds"
local start_proxy = require "support.proxy".start
local support = require "support"
local connect, timed = support.connect, support.timed
local wait_in, await = kinds.wait_in, kinds.await

-- A session behind a proxy, and what cuts it off.
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

describe("Without a server", function()
  it("for a moment does not make an owner wait for itself (T44), and is told",
    function()
      local events = {}
      local session, proxy, cut = cut_off { on_event = function(event)
        events[#events + 1] = event
      end }
      local id, mutex = session:id(), session:mutex(support.path())
      local guard = mutex:acquire(30)
      guard:on_lost(function() error "lost" end)
      for i = 1, 2 do
        cut()
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

  it("try_acquire waits one session timeout for a silent one", function()
    local session, proxy = cut_off { session_timeout = 1 }
    local mutex = session:mutex(support.path())
    proxy:freeze()
    local took, _, _, code = timed(function() return mutex:try_acquire() end)
    assert.equal("disconnected", code)
    assert.is_true(took <= 1.01, took)
    proxy:heal()
  end)

  it("a release goes on when one comes back (T24)", function()
    local session, proxy, cut = cut_off()
    local mutex = session:mutex(support.path())
    local guard = mutex:acquire(30)
    cut()
    assert.is_true(guard:release())
    assert.equal("released", guard:state())
    assert.equal(1, #support.zk():queue(guard.path))
    support.until_state(session, nil, { pending_releases = 1 })
    proxy:heal()
    support.wait_for_queue(guard.path, 0)
    -- nor does its next acquire wait behind its own ghost
    assert.is_true(mutex:acquire(2):release())
  end)

  it("close of a silent one takes two seconds at most", function()
    local session, proxy = cut_off { session_timeout = 3 }
    session:mutex(support.path()):acquire(30)
    proxy:freeze()
    local took = timed(function() session:close() end)
    assert.is_true(took <= 2.01, took)
    proxy:heal()
    proxy:cut()
  end)

  it("and with it again a hundred times nothing is left (T18)", function()
    local session, proxy = cut_off()
    local path, codes, last = support.path(), {}, ""
    local mutex = session:mutex(path)
    for i = 1, 100 do
      local waiter = wait_in(mutex, 0)
      if i % 10 == 0 then
        support.advance(0.0003) -- it is under way
        proxy:cut()
      end
      local guard, _, code = await(waiter)
      if guard then
        assert.is_true(guard:token() > last)
        last = guard:token()
        assert.is_true(guard:release())
      end
      codes[code or "granted"] = (codes[code or "granted"] or 0) + 1
      support.until_state(session, "connected")
    end
    assert.same({ granted = 90, disconnected = 10 }, codes)
    assert.equal(90, session:stats().grants)
    support.wait_for_queue(path, 0)
  end)
end)

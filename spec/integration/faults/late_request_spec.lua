-- Requests that a server reads when their connection is over, in a session that
-- lives: what another client has done meanwhile stays as it is.
local start_proxy = require "support.proxy".start
local support = require "support"
local connect = support.connect

describe("A request that comes late", function()
  before_each(support.start)
  after_each(support.finish)

  local path, proxy, session, other, zk
  before_each(function()
    path, proxy, zk = support.path(), start_proxy(), support.zk()
    zk:make((path:match "^(.*)/"))
    session = connect { hosts = proxy.hosts, session_timeout = 30 }
    other = connect()
  end)

  local function is_tidy()
    for _, name in ipairs(zk:children((path:match "^(.*)/"))) do
      if name:find("-nonce-", 1, true) then return false end
    end
    return true
  end

  -- The request of one of these kinds that `fn` sends is late: it comes when
  -- the session has connected again and `meanwhile` has returned.  (The delete
  -- of an earlier nonce may still be under way.  The proxy must not keep that.)
  local function delay(kinds, fn, meanwhile)
    support.wait_until(is_tidy)
    local before = session:stats().reconnects
    proxy:keep_request((unpack or table.unpack)(kinds))
    local results = { fn() }
    proxy:await_kept()
    support.step_until(session, function()
      return session:stats().reconnects > before
        and session:state() == "connected"
    end)
    meanwhile()
    support.wait_until(is_tidy)
    proxy:apply_late()
    return (unpack or table.unpack)(results, 1, 3)
  end

  it("does not lift a barrier that was set anew", function()
    local barrier = session:barrier(path)
    assert.is_true(barrier:set())
    local _, _, code = delay({ "delete", "delete_if" },
      function() return barrier:lift() end,
      function()
        assert.same({ true, true }, { other:barrier(path):lift() })
        assert.same({ true, true }, { other:barrier(path):set() })
      end)
    assert.equal("disconnected", code)
    assert.is_true(other:barrier(path):is_set())
    assert.same({ true, true }, { barrier:lift() })
  end)

  it("does not set a barrier that was lifted", function()
    local barrier = session:barrier(path)
    local _, _, code = delay({ "create_if" },
      function() return barrier:set() end,
      function()
        assert.same({ true, true }, { other:barrier(path):set() })
        assert.same({ true, true }, { other:barrier(path):lift() })
      end)
    assert.equal("disconnected", code)
    assert.is_false(other:barrier(path):is_set())
    assert.same({ true, true }, { barrier:set() })
  end)

  it("leaves no nonce but for a session, where that is late", function()
    local barrier = session:barrier(path)
    proxy:keep_request "create"
    assert.equal("disconnected", select(3, barrier:set()))
    proxy:await_kept()
    support.step_until(session, function()
      return session:state() == "connected"
    end)
    assert.same({ true, true }, { barrier:set() })
    proxy:apply_late()
    assert.same({ true, true }, { barrier:lift() })
    assert.is_false(is_tidy())
    session:close()
    support.wait_until(is_tidy)
  end)

  for _, made in ipairs { true, false } do
    it("writes no " .. (made and "later" or "first") .. " note of once",
      function()
        local book = path .. ".once"
        if made then assert.is_true(other:stamp(book, "before")) end
        local done = delay({ "set", "set_if" },
          function()
            return session:once(path, { per = 0, data = "late" },
              function() end)
          end,
          function()
            assert.is_true(other:once(path, { per = 0, data = "newer" },
              function() end))
          end)
        assert.is_true(done)
        assert.equal("newer", zk:get(book))
      end)
  end

  it("stamps nothing once its lock's node is gone", function()
    local guard = assert(session:mutex(path):acquire(30))
    local stamp = path .. "-stamp"
    assert.is_true(session:stamp(stamp, "first", guard.node))
    local _, _, code = delay({ "set_if" },
      function() return session:stamp(stamp, "late", guard.node) end,
      function()
        assert.is_true(guard:release { wait = true })
        assert.is_true(other:stamp(stamp, "newer"))
      end)
    assert.equal("disconnected", code)
    assert.equal("newer", zk:get(stamp))
    local ok, message
    ok, message, code = session:stamp(stamp, "too late", guard.node)
    assert.is_nil(ok)
    assert.equal("lost", code)
    assert.equal(("zklock: %s was not stamped, because the node %s is gone")
      :format(stamp, guard.node), message)
  end)

  local function hold_unfair(holder)
    return assert(holder:mutex(path, { fair = false }):acquire(30))
  end

  it("asks no later holder of an unfair lock to let go", function()
    local guard = hold_unfair(other)
    local second
    local _, _, code = delay({ "set", "set_if" },
      function() return session:revoke(path) end,
      function()
        guard:release { wait = true }
        second = hold_unfair(other)
      end)
    assert.equal("disconnected", code)
    assert.equal("", zk:get(second.node):match "zklock:revoke" or "")
    assert.equal(1, session:revoke(path))
    assert.equal("zklock:revoke", zk:get(second.node):match "zklock:revoke")
    second:release()
  end)

  it("evicts no later holder of an unfair lock", function()
    local guard = hold_unfair(other)
    local second
    local _, _, code = delay({ "delete", "delete_both" },
      function() return session:evict(path, "holder") end,
      function()
        guard:release { wait = true }
        second = hold_unfair(other)
      end)
    assert.equal("disconnected", code)
    assert.is_true(second:verify())
    assert.is_true(session:evict(path, "holder"))
    assert.same({}, zk:children(path) or {})
  end)

  it("ends no later hold of an unfair lock", function()
    local guard = hold_unfair(session)
    local second
    delay({ "delete", "delete_both" },
      function() return guard:release() end,
      function() second = hold_unfair(other) end)
    assert.is_true(second:verify())
    second:release { wait = true }
    support.wait_until(function() return #(zk:children(path) or {}) == 0 end)
  end)

  it("leaves no contender's node behind that keeps others waiting",
    function()
      local guard
      delay({ "create" }, function()
        guard = assert(session:mutex(path):acquire(30))
      end, function() assert.is_true(guard:release { wait = true }) end)
      -- (The late node's session lives on: it has to delete that itself.)
      assert(other:mutex(path):acquire(30)):release()
      assert.equal("connected", session:state())
      assert.equal(0, session:stats().expiries)
    end)
end)

-- Requests that a server reads when their connection is over, in a session that
-- lives: what another client has done meanwhile stays as it is.
local await = require("integration.family.kinds").await
local of_members = require "support.members"
local sessions = require "integration.sessions"
local support = require "support"

describe("A request that comes late", function()
  local path, proxy, session, other, zk
  before_each(function()
    path, zk = support.path(), support.zk()
    zk:make((path:match "^(.*)/"))
    session, proxy = sessions.behind_proxy { session_timeout = 30 }
    other = support.connect()
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
  -- The code, if that is no success, and `fn`'s first result.
  local function delay(kinds, fn, meanwhile)
    support.wait_until(is_tidy)
    local before = session:stats().reconnects
    proxy:keep_request((unpack or table.unpack)(kinds))
    local result, _, code = fn()
    proxy:await_kept()
    support.until_state(session, "connected", { reconnects = before + 1 })
    meanwhile()
    support.wait_until(is_tidy)
    proxy:apply_late()
    return code, result
  end

  local function does(result, changed)
    assert.same({ true, true }, { result, changed })
  end

  it("does not lift a barrier that was set anew", function()
    local barrier, others = session:barrier(path), other:barrier(path)
    assert.is_true(barrier:set())
    assert.equal("disconnected", delay({ "delete", "delete_if" },
      function() return barrier:lift() end,
      function()
        does(others:lift())
        does(others:set())
      end))
    assert.is_true(others:is_set())
    does(barrier:lift())
  end)

  it("does not set a barrier that was lifted", function()
    local barrier, others = session:barrier(path), other:barrier(path)
    assert.equal("disconnected", delay({ "create_if" },
      function() return barrier:set() end,
      function()
        does(others:set())
        does(others:lift())
      end))
    assert.is_false(others:is_set())
    does(barrier:set())
  end)

  for _, made in ipairs { true, false } do
    it("writes no " .. (made and "later" or "first") .. " note of once",
      function()
        local book = path .. ".once"
        local function note(of, data)
          return of:once(path, { per = 0, data = data }, function() end)
        end
        if made then assert.is_true(other:touch(book, "before")) end
        local _, done = delay({ "set", "set_if" },
          function() return note(session, "late") end,
          function() assert.is_true(note(other, "newer")) end)
        assert.is_true(done)
        assert.equal("newer", zk:get(book))
      end)
  end

  it("writes nothing once its lock's node is gone", function()
    local guard = assert(session:mutex(path):acquire(30))
    local touched = path .. "-touched"
    assert.is_true(session:touch(touched, "first", guard.node))
    assert.equal("disconnected", delay({ "set_if" },
      function() return session:touch(touched, "late", guard.node) end,
      function()
        assert.is_true(guard:release { wait = true })
        assert.is_true(other:touch(touched, "newer"))
      end))
    assert.equal("newer", zk:get(touched))
    local ok, message, code = session:touch(touched, "too late", guard.node)
    assert.same({ "nil", "lost" }, { tostring(ok), code })
    assert.equal(("zklock: %s was not written, because the node %s is gone")
      :format(touched, guard.node), message)
  end)

  -- Of an unfair lock, whose nodes have all one name.
  local function hold_unfair(holder)
    return assert(holder:mutex(path, { fair = false }):acquire(30))
  end

  -- The guard of another one's later hold; the code.
  local function delay_to_next_hold(kinds, fn)
    local guard, second = hold_unfair(other), nil
    local code = delay(kinds, fn, function()
      guard:release { wait = true }
      second = hold_unfair(other)
    end)
    assert.equal("disconnected", code)
    return second
  end

  it("asks no later holder of an unfair lock to let go", function()
    local function revoke() return session:revoke(path) end
    local second = delay_to_next_hold({ "set", "set_if" }, revoke)
    assert.is_nil(zk:get(second.node):find "zklock:revoke")
    assert.equal(1, revoke())
    assert.is_truthy(zk:get(second.node):find "zklock:revoke")
    second:release()
  end)

  it("evicts no later holder of an unfair lock", function()
    local function evict() return session:evict(path, "holder") end
    local second = delay_to_next_hold({ "delete", "delete_both" }, evict)
    assert.is_true(second:verify())
    assert.is_true(evict())
    assert.same({}, zk:children(path) or {})
  end)

  it("deletes no `ready` of a double barrier's later members", function()
    local function enters(of)
      local member = of_members.enter(of, path, 1)
      await(member)
      return member
    end
    -- In a container, which the server deletes as soon as it is empty, the next
    -- run could reach the number that the request counts on.
    zk:make(path)
    local member, later, leaving = enters(session), nil, nil
    delay({ "create_both", "delete" },
      function() leaving = of_members.leave(member) end,
      function()
        await(leaving)
        assert.is_true(leaving.guard, leaving.message)
        assert.same({}, zk:children(path) or {})
        later = enters(other)
      end)
    assert.is_truthy(of_members.ready(path))
    of_members.all_leave { later }
    support.wait_until(function() return #(zk:children(path) or {}) == 0 end)
  end)
end)

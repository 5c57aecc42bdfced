-- session:once, by which of many processes one does something in each period.
local kinds = require "integration.family.kinds"
local sessions = require "integration.sessions"
local start_proxy = require "support.proxy".start
local support = require "support"
local connect, misuse = support.connect, support.misuse

local function count(...) return { n = select("#", ...), ... } end

local path, session, zk

-- When the last success was, by the servers' clock; nil: there was none.
local function noted()
  local stat = session:stat(path .. ".once")
  return stat and stat.modified or nil
end

-- Did it run?
local function runs(per, ...)
  local ran, results = false, count(...)
  local ok, message = session:once(path, { per = per }, function()
    ran = true
    return (unpack or table.unpack)(results, 1, results.n)
  end)
  assert.is_not_nil(ok, message)
  assert.equal(ran, ok)
  return ran
end

before_each(function()
  path, session, zk = support.path(), connect(), support.zk()
end)

describe("once", function()
  it("runs its function under the mutex, and returns its results", function()
    local seen
    assert.same({ n = 4, true, 1, nil, "three" }, count(session:once(path,
      { per = 60, data = "me" }, function(guard)
        seen = guard
        assert.is_true(guard:is_held())
        assert.equal("me", (zk:get(guard.node)))
        assert.equal("busy", select(3, connect():mutex(path):try_acquire()))
        return 1, nil, "three"
      end)))
    assert.equal("released", seen:state())
    support.wait_for_queue(path, 0)
    assert.equal("me", (zk:get(path .. ".once")))
    assert.equal("0x", zk:exists(path .. ".once").owner) -- persistent
    assert.is_true(runs(0))
    assert.matches(":" .. support.pid() .. "$", (zk:get(path .. ".once")))
  end)

  it("does not call its function if the lock was lost before", function()
    local own, proxy = sessions.behind_proxy()
    function own.stat(...) -- which once calls to read the last success
      local last = session.stat(...)
      proxy:refuse()
      support.advance(2 * own:timeout())
      proxy:heal()
      return last
    end
    local results = count(own:once(path, { per = 60 }, error))
    assert.same({ 3, "lost" }, { results.n, results[3] })
    own.stat = nil
    assert.is_true(runs(60))
  end)

  it("is not due before the period is over: false, and since when", function()
    assert.is_true(runs(60))
    support.advance(59)
    local results = count(session:once(path, { per = 60 }, error))
    assert.same({ 2, false }, { results.n, results[1] })
    assert.near(59, results[2], 0.1)
    assert.is_false(runs(math.huge))
    support.advance(1)
    assert.is_true(runs(60))
    assert.is_false(runs(60))
    support.wait_for_queue(path, 0)
  end)

  it("goes by the servers' clock, not by ours", function()
    assert.is_true(runs(60))
    local time = os.time
    for _, wrong in ipairs { -3600, 3600 } do
      os.time = function() return time() + wrong end -- luacheck: ignore
      local ok, ran = pcall(runs, 60)
      os.time = time -- luacheck: ignore
      assert.same({ true, false }, { ok, ran })
    end
  end)

  it("does not count what returns nil or false, and hands that on", function()
    for _, first in ipairs { "nil", "false" } do
      local value = nil
      if first == "false" then value = false end
      assert.same({ n = 3, true, value, "why" }, count(session:once(path,
        { per = 60 }, function() return value, "why" end)))
    end
    assert.is_nil(noted())
    assert.is_true(runs(60))
    local before = noted()
    assert.is_true(runs(0, nil))
    assert.equal(before, noted())
  end)

  it("does not count what raises, and raises it again", function()
    for _, problem in ipairs { "text", { code = 42 } } do
      local ok, raised = pcall(session.once, session, path, { per = 60 },
        function() error(problem, 0) end)
      assert.is_false(ok)
      assert.is_true(rawequal(problem, raised))
      support.wait_for_queue(path, 0)
    end
    assert.is_nil(noted())
  end)

  it("does not count what has lost the lock, and says so", function()
    local results = count(session:once(path, { per = 60 }, function(guard)
      support.lose(guard)
      return "one", "two"
    end))
    assert.same({ n = 5, nil, "zklock: the hold of " .. path .. " was lost "
      .. "while it was used: its node was deleted", "lost", "one", "two" },
      results)
    assert.is_nil(noted())
    assert.is_true(runs(60))
  end)

  -- (No server lets us delete it.)
  it("does not count what has lost the lock although its node stays",
    function()
      local proxy, node
      session, proxy = sessions.behind_proxy { session_timeout = 4 }
      local ok, _, code = session:once(path, { per = 60 }, function(guard)
        node = guard.node
        zk:set_acl(path, support.everybody(23))
        proxy:freeze()
        support.wait_until(function() return not guard:is_held() end)
        proxy:heal()
        support.until_state(session, "connected", { refused_releases = 1 })
        assert.is_truthy(zk:exists(node))
      end)
      assert.same({ false, "lost" }, { ok or false, code })
      assert.is_nil(noted())
    end)

  it("has succeeded when that is noted, even if the lock is lost before the "
    .. "answer is read", function()
    local scheduler, results
    assert.is_true(runs(60)) -- (the next note is one request)
    support.advance(61)
    session, scheduler = sessions.in_loop()
    scheduler:spawn(function()
      results = { session:once(path, { per = 60 }, function(guard)
        scheduler:spawn(function() -- in the place of step()
          support.wait_until(function()
            return zk:exists(path .. ".once").version == 1
          end)
          support.lose(guard)
        end)
        return "done"
      end) }
    end)
    assert.is_true(scheduler:run())
    assert.same({ true, "done" }, results)
    assert.is_false(runs(60))
  end)

  it("waits for the lock no longer than its timeout", function()
    support.hold(path)
    for _, timeout in ipairs { 0.1, 0 } do
      kinds.refused("timeout", kinds.takes(timeout, session.once, session, path,
        { per = 60, timeout = timeout }, error))
    end
  end)

  it("says why it cannot be known whether it is due, or be noted", function()
    zk:make((path:match "^(.*)/"))
    zk:create(path .. ".once", { acl = support.everybody(1) })
    local results = count(session:once(path, { per = 0 }, function()
      return "done"
    end))
    assert.same({ 4, "denied", "done" }, { results.n, results[3], results[4] })
    assert.matches("refused the write to " .. path .. ".once", results[2], 1,
      true)
    support.wait_for_queue(path, 0)
  end)

  it("asks again when the connection breaks while it has the lock", function()
    local proxy
    session, proxy = sessions.behind_proxy { session_timeout = 60 }
    local breaks = 0
    session:on("suspended", function()
      breaks = breaks + 1
      proxy:heal()
    end)
    for i, kind in ipairs { "create_if", "set_if" } do
      local ok, result = session:once(path, { per = 0 }, function()
        proxy:lose_reply(kind)
        return kind
      end)
      assert.same({ true, kind, i }, { ok, result, breaks })
      assert.is_not_nil(noted())
    end
    local guard = assert(session:mutex(path):acquire(30)) -- nothing is to do
    proxy:lose_reply "exists"
    assert.is_false(session:once(path, { per = 60 }, error))
    assert.equal(3, breaks)
    guard:release()
  end)

  it("stops asking when its hold is lost and no server answers", function()
    local proxy, results = start_proxy(), nil
    local scheduler
    session, scheduler = sessions.in_loop { hosts = proxy.hosts,
      session_timeout = 4 }
    scheduler:spawn(function()
      results = count(session:once(path, { per = 60 }, function()
        proxy:refuse()
        return "done"
      end))
    end)
    assert.is_true(scheduler:run(5))
    assert.same({ 4, "lost", "done" }, { results.n, results[3], results[4] })
    proxy:heal()
  end)

  it("is the mutex of its path, for this session, too", function()
    local mutex = session:mutex(path)
    assert.is_true(mutex:with_lock(function()
      assert.is_true(runs(60))
      assert.is_false(runs(60))
    end))
  end)

  it("is told so where its period is none", function()
    local function refused(options)
      return misuse(function() session:once("/a", options, print) end)
    end
    assert.equal("option 'per' must be a number, got nil", refused(nil))
    assert.equal("option 'per' must be a number, got nil", refused {})
    assert.equal("option 'per' must be a number of seconds, not negative, got "
      .. "-1", refused { per = -1 })
  end)
end)

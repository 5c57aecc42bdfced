-- session:once, by which of many processes one does something in each period.
local new_scheduler = require "support.scheduler".new
local start_proxy = require "support.proxy".start
local support = require "support"
local connect, misuse = support.connect, support.misuse

local function count(...) return select("#", ...), ... end

local path, session

local function start()
  support.start()
  path, session = support.path(), connect()
end

-- When the last success was, by the servers' clock; nil: there was none.
local function noted()
  local stat = session:stat(path .. ".once")
  return stat and stat.modified or nil
end

-- Did it run?
local function runs(per, ...)
  local ran, n, results = false, select("#", ...), { ... }
  local ok, message = session:once(path, { per = per }, function()
    ran = true
    return (unpack or table.unpack)(results, 1, n)
  end)
  assert.is_not_nil(ok, message)
  assert.equal(ran, ok)
  return ran
end

describe("once", function()
  before_each(start)
  after_each(support.finish)

  it("runs its function under the mutex, and returns its results", function()
    local seen
    local n, ok, a, b, c = count(session:once(path, { per = 60 },
      function(guard)
        seen = guard
        assert.is_true(guard:is_held())
        assert.equal("busy", select(3, connect():mutex(path):try_acquire()))
        return 1, nil, "three"
      end))
    assert.same({ 4, true, 1, nil, "three" }, { n, ok, a, b, c })
    assert.equal("released", seen:state())
    support.wait_for_queue(path, 0)
  end)

  it("is not due before the period is over: false, and since when", function()
    assert.is_true(runs(60))
    support.sleep(0.15)
    local n, ok, seconds = count(session:once(path, { per = 60 }, error))
    assert.same({ 2, false }, { n, ok })
    assert.is_true(seconds >= 0.1 and seconds < 30, seconds)
    assert.is_false(runs(60))
    assert.is_false(runs(math.huge))
    assert.is_true(runs(0.1))
    support.wait_for_queue(path, 0)
  end)

  it("goes by the servers' clock, not by ours", function()
    assert.is_true(runs(60))
    local now = os.time
    os.time = function() return now() + 3600 end -- luacheck: ignore
    local ran = runs(60)
    os.time = now -- luacheck: ignore
    assert.is_false(ran)
    local stat, row = session:stat(path .. ".once"), nil
    session:mutex(path):with_lock(function()
      row = session:contenders(path)[1]
    end)
    assert.is_false(runs(row.created - stat.modified + 60))
    assert.is_true(runs(0))
  end)

  it("has run for all who have waited meanwhile", function()
    local sessions, ran, done, scheduler = {}, 0, {}, new_scheduler()
    local holder = support.hold(path)
    for i = 1, 5 do
      sessions[i] = connect { loop = scheduler.adapter }
      scheduler:spawn(function()
        done[i] = { sessions[i]:once(path, { per = 60 }, function()
          ran = ran + 1
        end) }
      end)
    end
    scheduler:spawn(function()
      support.wait_for_queue(path, 6)
      holder:release()
    end)
    assert.is_true(scheduler:run())
    assert.equal(1, ran)
    for i = 1, 5 do
      assert.is_true(done[i][1] or done[i][2] == 0) -- it ended after we came
    end
  end)

  it("counts what returns nothing, or something true", function()
    assert.is_true(runs(60))
    assert.is_false(runs(60))
    assert.is_true(runs(0, "yes"))
    assert.is_false(runs(60))
  end)

  it("does not count what returns nil or false, and hands that on", function()
    for _, first in ipairs { "nil", "false" } do
      local value = nil
      if first == "false" then value = false end
      local n, ok, a, b = count(session:once(path, { per = 60 }, function()
        return value, "why"
      end))
      assert.same({ 3, true, "why" }, { n, ok, b })
      assert.equal(value, a)
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
    assert.is_true(runs(60))
  end)

  it("does not count what has lost the lock, and says so", function()
    local other = connect()
    local n, ok, message, code, a, b = count(session:once(path, { per = 60 },
      function(guard)
        other:evict(path, guard.node:sub(#path + 2))
        support.wait_until(function() return not guard:is_held() end)
        return "one", "two"
      end))
    assert.same({ 5, nil, "lost", "one", "two" }, { n, ok, code, a, b })
    assert.matches("the hold of " .. path .. " was lost while it was used: its "
      .. "node was deleted", message, 1, true)
    assert.is_nil(noted())
    assert.is_true(runs(60))
  end)

  it("returns closed if the session is closed just after the grant", function()
    local other = connect()
    other:on_trace(function(event)
      if event.what == "grant" then other:close() end
    end)
    local n, ok, message, code =
      count(other:once(path, { per = 60 }, error))
    assert.same({ 3, nil, "closed" }, { n, ok, code })
    assert.equal("zklock: the session was closed while waiting for " .. path,
      message)
    assert.is_nil(noted())
  end)

  -- (No server lets us delete it.)
  it("does not count what has lost the lock although its node stays",
    function()
      local proxy, zk, node = start_proxy(), support.zk(), nil
      session = connect { hosts = proxy.hosts, session_timeout = 4 }
      local ok, _, code = session:once(path, { per = 60 }, function(guard)
        node = guard.node
        zk:set_acl(path, { { perms = 23, scheme = "world", id = "anyone" } })
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
    local zk, scheduler, results = support.zk(), new_scheduler(), nil
    session = connect { loop = scheduler.adapter }
    scheduler:spawn(function()
      results = { session:once(path, { per = 60 }, function(guard)
        scheduler:spawn(function() -- in the place of step()
          support.wait_until(function() return zk:exists(path .. ".once") end)
          zk:delete(guard.node)
          support.wait_until(function() return not guard:is_held() end)
        end)
        return "done"
      end) }
    end)
    assert.is_true(scheduler:run())
    assert.same({ true, "done" }, results)
    assert.is_false(runs(60))
  end)

  it("waits for the lock no longer than its timeout", function()
    local holder = support.hold(path, nil)
    local n, ok, message, code = count(session:once(path,
      { per = 60, timeout = 0.1 }, error))
    assert.same({ 3, nil, "timeout" }, { n, ok, code })
    assert.matches("timed out after 0.1 s waiting for " .. path, message, 1,
      true)
    assert.equal("timeout",
      select(3, session:once(path, { per = 60, timeout = 0 }, error)))
    holder:release()
    assert.is_true(runs(60))
  end)

  it("says who it is, in the lock's node and in the book", function()
    local zk, data = support.zk(), nil
    session:once(path, { per = 60, data = "me" }, function(guard)
      data = zk:get(guard.node)
    end)
    assert.equal("me", data)
    assert.equal("me", (zk:get(path .. ".once")))
    assert.equal("0x", zk:exists(path .. ".once").owner) -- persistent
    assert.is_true(runs(0))
    assert.matches(":" .. support.pid() .. "$", (zk:get(path .. ".once")))
  end)

  it("says why it cannot be known whether it is due, or be noted", function()
    local zk, ran = support.zk(), false
    local forbidden = { { perms = 1, scheme = "world", id = "anyone" } }
    zk:make((path:match "^(.*)/"))
    zk:create(path .. ".once", { acl = forbidden })
    local n, ok, message, code, result = count(session:once(path, { per = 0 },
      function()
        ran = true
        return "done"
      end))
    assert.same({ 4, nil, "denied", "done" }, { n, ok, code, result })
    assert.matches("refused the stamp of " .. path .. ".once", message, 1, true)
    assert.is_true(ran)
    support.wait_for_queue(path, 0)
  end)

  it("asks again when the connection breaks while it has the lock", function()
    local proxy = start_proxy()
    session = connect { hosts = proxy.hosts, session_timeout = 60 }
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
      assert.same({ true, kind }, { ok, result })
      assert.equal(i, breaks)
      assert.is_not_nil(noted())
    end
    local guard = assert(session:mutex(path):acquire(30)) -- nothing is to do
    proxy:lose_reply "exists"
    assert.is_false(session:once(path, { per = 60 }, error))
    assert.equal(3, breaks)
    guard:release()
  end)

  it("ends with the session", function()
    support.hold(path)
    local scheduler = new_scheduler()
    session = connect { loop = scheduler.adapter }
    local code
    scheduler:spawn(function()
      code = select(3, session:once(path, { per = 60 }, error))
    end)
    scheduler:spawn(function()
      support.wait_for_queue(path, 2)
      session:close()
    end)
    assert.is_true(scheduler:run())
    assert.equal("closed", code)
    assert.equal("the session is closed",
      misuse(function() session:once(path, { per = 60 }, print) end))
  end)

  it("suspends its coroutine only", function()
    local scheduler = new_scheduler()
    session = connect { loop = scheduler.adapter }
    local order, holder = {}, support.hold(path)
    scheduler:spawn(function()
      assert(session:once(path, { per = 60 }, function()
        order[#order + 1] = "ran"
      end))
    end)
    scheduler:spawn(function()
      scheduler:sleep(0.05)
      order[#order + 1] = "another"
      holder:release()
    end)
    assert.is_true(scheduler:run())
    assert.same({ "another", "ran" }, order)
    assert.is_not_nil((support.zk():exists(path .. ".once")))
  end)

  it("is the mutex of its path, for this session, too", function()
    local mutex = session:mutex(path)
    assert.is_true(mutex:with_lock(function()
      assert.is_true(runs(60))
      assert.is_false(runs(60))
    end))
    session:election(path .. "/e")
    assert.matches("is used as an election by this session, not as a mutex",
      misuse(function() session:once(path .. "/e", { per = 1 }, print) end))
  end)

  it("is told so where it is misused", function()
    local function refused(options)
      return misuse(function() session:once("/a", options, print) end)
    end
    assert.equal("option 'per' must be a number, got nil", refused(nil))
    assert.equal("option 'per' must be a number, got nil", refused {})
    assert.equal("option 'per' must be a number of seconds, not negative, got "
      .. "-1", refused { per = -1 })
    assert.equal('unknown option "ever" in once options (known: data, per, '
      .. 'timeout)', refused { per = 1, ever = 1 })
    assert.equal("once options must be a table, got a number", refused(60))
    assert.matches("timeout must be a number", refused { per = 1,
      timeout = "x" })
    assert.matches("option 'data' must be a string", refused { per = 1,
      data = 5 })
    assert.equal("argument 3 of once must be a function, got nil",
      misuse(function() session:once("/a", { per = 1 }) end))
    assert.matches("^path must ",
      misuse(function() session:once("a", { per = 1 }, print) end))
    assert.equal("once must be called with a colon: "
      .. "session:once(path, options, fn)",
      misuse(function() session.once("/a", { per = 1 }, print) end))
    assert.matches("takes no more arguments, got a number, too$",
      misuse(function() session:once("/a", { per = 1 }, print, 5) end))
  end)
end)

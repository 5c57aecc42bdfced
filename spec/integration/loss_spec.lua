-- A hold that is lost: who is told, when, and why.  Everything here is a plain
-- script that calls step() only where a test says so.
local token = require "integration.family.kinds".token
local seize = require "support.seizure".seize
local start_proxy = require "support.proxy".start
local support = require "support"
local connect = support.connect

-- What on_lost is called with, and what is true then.
local function listen(guard, calls)
  calls = calls or {}
  guard:on_lost(function(mine, code, reason)
    assert(rawequal(mine, guard))
    calls[#calls + 1] = code .. " " .. tostring(reason)
    assert(mine:state() == "lost" and mine:reason() == reason)
  end)
  return calls
end

local function await_loss(guard)
  support.wait_until(function() return not guard:is_held() end, 10)
end

-- An operator deletes its node.  (Who may be asked to let go watches it.)
local function delete(guard)
  guard:on_revoke(function() end)
  for node in guard.node:gmatch "[^,]+" do support.zk():delete(node) end
  await_loss(guard)
end

-- A lock of each kind whose guards have something of their own.
local kinds = {
  mutex = function(session, path) return session:mutex(path) end,
  multi = function(session, path)
    return session:multi { session:mutex(path), session:mutex(path .. "-b") }
  end,
}

for name, make in pairs(kinds) do
  describe("Without step(), a lost " .. name, function()
    before_each(support.start)
    after_each(support.finish)

    local function lost(session)
      local lock = make(session, support.path())
      local guard = assert(lock:acquire(30))
      local calls = listen(guard)
      delete(guard)
      assert.is_false(guard:is_held())
      assert.same({}, calls) -- is_held runs nothing
      return guard, calls, lock
    end

    local function told_once(calls, session)
      assert.same({ "lost deleted" }, calls)
      for _ = 1, 20 do
        session:step()
        support.sleep(0.005)
      end
      assert.same({ "lost deleted" }, calls)
    end

    it("is told by release", function()
      local session = connect()
      local guard, calls = lost(session)
      local ok, message, code = guard:release()
      told_once(calls, session)
      assert.is_nil(ok)
      assert.equal("lost", code)
      assert.equal("zklock: the hold of " .. guard.path
        .. " was lost: its node was deleted", message)
      assert.equal("deleted", guard:reason())
    end)

    it("is told by the lock's release", function()
      local session = connect()
      local _, calls, lock = lost(session)
      assert.equal("lost", (select(3, lock:release { wait = true })))
      told_once(calls, session)
    end)

    it("is told by verify", function()
      local session = connect()
      local guard, calls = lost(session)
      local _, message, code = guard:verify()
      told_once(calls, session)
      assert.equal("lost", code)
      assert.matches("was lost: its node was deleted$", message)
    end)

    it("is told by verify, which is the first to know", function()
      local session = connect { session_timeout = 30 }
      local guard = assert(make(session, support.path()):acquire(30))
      local calls = listen(guard)
      support.zk():delete((guard.node:match "[^,]+"))
      assert.equal("lost", (select(3, guard:verify())))
      told_once(calls, session)
      assert.equal("deleted", guard:reason())
    end)

    it("is told by whoever acquires again", function()
      for _, verb in ipairs { "acquire", "try_acquire" } do
        local session = connect()
        local guard, calls, lock = lost(session)
        local again, message, code = lock[verb](lock)
        told_once(calls, session)
        assert.is_nil(again)
        assert.equal("lost", code)
        assert.matches("was lost: its node was deleted$", message)
        assert.equal("lost", (select(3, guard:release())))
        told_once(calls, session)
      end
    end)

    it("is told by the end of with_lock", function()
      local session = connect()
      local lock, calls = make(session, support.path()), {}
      local ok, message, code, result = lock:with_lock(function(guard)
        listen(guard, calls)
        delete(guard)
        assert.same({}, calls)
        return "result"
      end)
      told_once(calls, session)
      assert.is_nil(ok)
      assert.matches("was lost while it was used: its node was deleted$",
        message)
      assert.equal("lost", code)
      assert.equal("result", result)
    end)

    it("is told by the end of with_lock if its function raises", function()
      local session = connect()
      local lock, calls = make(session, support.path()), {}
      local ok, problem = pcall(lock.with_lock, lock, function(guard)
        listen(guard, calls)
        delete(guard)
        error("ouch", 0)
      end)
      told_once(calls, session)
      assert.is_false(ok)
      assert.equal("ouch", problem)
    end)

    it("is told by close", function()
      local session = connect()
      local guard, calls = lost(session)
      session:close()
      assert.same({ "lost deleted" }, calls)
      assert.equal("lost", guard:state())
      assert.equal("deleted", guard:reason())
    end)

    it("is one after close, too, though nobody listens", function()
      for _ = 1, 3 do
        local session = connect()
        local lock = make(session, support.path())
        local guard, ok, message, code
        ok, message, code = lock:with_lock(function(mine)
          guard = mine
          while mine:is_held() do end -- (nobody else may hear of it first)
          session:close()
        end, { max_hold = 1 })
        assert.is_nil(ok)
        assert.matches("it was held for as long as max_hold allows$", message)
        assert.equal("lost", code)
        assert.equal("lost", guard:state())
      end
    end)

    it("can be had again by the callback", function()
      local session = connect()
      local lock = make(session, support.path())
      local guard, fresh = assert(lock:acquire(30)), nil
      guard:on_lost(function(mine)
        assert(select(3, mine:release()) == "lost")
        fresh = assert(lock:acquire(30))
      end)
      delete(guard)
      assert.equal("lost", (select(3, guard:release())))
      assert.is_true(fresh:is_held())
      assert.is_true(token(fresh) > token(guard))
    end)

    it("may close the session from the callback", function()
      local session = connect()
      local guard = assert(make(session, support.path()):acquire(30))
      local calls = listen(guard)
      guard:on_lost(function() session:close() end)
      delete(guard)
      session:close()
      assert.same({ "lost deleted" }, calls)
      assert.equal("closed", session:state())
    end)

    it("has callbacks that raise: in the log, or out of step()", function()
      local lines = {}
      for _, log in ipairs { function(level, message)
        lines[#lines + 1] = level .. ": " .. message
      end, false } do
        local session = connect { log = log or nil }
        local guard = assert(make(session, support.path()):acquire(30))
        guard:on_lost(function() error("ouch", 0) end)
        local calls = listen(guard)
        delete(guard)
        assert.equal("lost", (select(3, guard:release())))
        assert.same({ "lost deleted" }, calls)
        if log then
          told_once(calls, session)
          assert.matches("an error in a callback: ouch",
            table.concat(lines, "\n"))
        else
          local ok, problem = pcall(session.step, session)
          assert.is_false(ok)
          assert.matches("^ouch\nstack traceback:\n", problem)
        end
      end
    end)

    it("is not told to who has released it in time", function()
      local session = connect()
      local guard = assert(make(session, support.path()):acquire(30))
      local calls = listen(guard)
      assert.is_true(guard:release())
      session:step()
      session:close()
      assert.same({}, calls)
      assert.is_nil(guard:reason())
    end)
  end)
end

describe("Without step(), a loss", function()
  before_each(support.start)
  after_each(support.finish)

  it("is told to all guards of the hold by the first that is released",
    function()
      local session = connect()
      local mutex = session:mutex(support.path())
      local a, b = assert(mutex:acquire(30)), assert(mutex:acquire(30))
      local calls = listen(b, listen(a))
      delete(a)
      assert.equal("lost", (select(3, b:release())))
      assert.same({ "lost deleted", "lost deleted" }, calls)
      assert.equal("lost", (select(3, a:release())))
      assert.equal(2, #calls)
    end)

  it("is told to who asked for it again before the session was closed",
    function()
      local session = connect()
      local lock = session:mutex(support.path(), { max_hold = 0.05 })
      local guard = assert(lock:acquire { owner = "me" })
      while guard:is_held() do end -- (nobody else may hear of it first)
      local said
      lock:acquire_async({ owner = "me" }, function(...) said = { ... } end)
      session:close()
      assert.is_nil(said[1])
      assert.matches("was lost: it was held for as long as max_hold allows$",
        said[2])
      assert.equal("lost", said[3])
      assert.equal("lost", guard:state())
    end)

  it("of the write lock is told to who asks for the read lock", function()
    local session = connect()
    local lock = session:rwlock(support.path())
    local guard = assert(lock.write:acquire(30))
    local calls = listen(guard)
    delete(guard)
    assert.equal("lost", (select(3, lock.read:acquire(30))))
    assert.same({ "lost deleted" }, calls)
  end)

  it("is told to nobody else by a call that finds another", function()
    local session = connect()
    local a = assert(session:mutex(support.path()):acquire(30))
    local b = assert(session:mutex(support.path()):acquire(30))
    local of_a, of_b = listen(a), listen(b)
    delete(a)
    delete(b)
    a:release()
    assert.same({ { "lost deleted" }, {} }, { of_a, of_b })
    session:step()
    assert.same({ "lost deleted" }, of_b)
  end)
end)

describe("A loss says why:", function()
  before_each(support.start)
  after_each(support.finish)

  -- By step(), and by release; `act` takes the hold away.  (30 s: no lease is
  -- over, and no node watched, before that.)
  local function says(code, reason, words, options, act)
    for _, by_step in ipairs { true, false } do
      local lines, proxy = {}, start_proxy()
      local session = connect { hosts = proxy.hosts,
        session_timeout = reason == "silence" and 4 or 30,
        log = function(level, message)
          if message:find "was lost" then
            lines[#lines + 1] = level .. ": " .. message
          end
        end }
      local mutex = session:mutex(support.path(), options)
      local guard = assert(mutex:acquire(30))
      local calls = listen(guard)
      act(guard, session, proxy)
      if by_step then
        support.step_until(session, function() return calls[1] end, 10)
      else
        await_loss(guard)
        -- (A hold that is past its lease may yet be renewed, if nobody asks.)
        support.wait_until(function() return guard:reason() end, 10)
      end
      local message = select(2, guard:release())
      local text = ("the hold of %s was lost: %s"):format(guard.path, words)
      assert.equal("zklock: " .. text, message)
      assert.same({ code .. " " .. reason }, calls)
      assert.equal(reason, guard:reason())
      assert.same({ "warn: " .. text }, lines)
      local late
      guard:on_lost(function(...) late = { ... } end)
      assert.same({ guard, code, reason }, late)
      proxy:heal()
      support.step_until(session, function()
        return session:state() == "connected"
          and session:stats().pending_releases == 0
      end, 10)
    end
  end

  it("max_hold", function()
    says("lost", "max_hold", "it was held for as long as max_hold allows",
      { max_hold = 0.05 }, function() end)
  end)

  it("deleted", function()
    says("lost", "deleted", "its node was deleted", nil, function(guard)
      delete(guard)
    end)
  end)

  it("silence", function()
    says("lost", "silence", "no server answered until its lease was over", nil,
      function(_, _, proxy) proxy:freeze() end)
  end)

  it("suspended", function()
    says("lost", "suspended",
      "the connection was lost, and on_suspend is \"lose\"",
      { on_suspend = "lose" }, function(_, _, proxy) proxy:cut() end)
  end)

  it("closed", function()
    says("expired", "closed", "somebody else closed the ZooKeeper session",
      nil, function(_, session, proxy)
        -- (Beside its own connection the other's would come and go with it.)
        proxy:refuse()
        assert.is_true(seize(support.hosts, session:id()))
        proxy:heal()
      end)
  end)
end)

describe("Silence of the servers", function()
  before_each(support.start)
  after_each(support.finish)

  -- So long that a session outlives a machine that stalls while its hold is
  -- lost, which takes half of it.
  local T = 8

  -- A holder behind a wire, and what it is told.
  local function open()
    local proxy = start_proxy()
    local told = {}
    local session = connect { hosts = proxy.hosts, session_timeout = T,
      on_event = function(event, session)
        told[#told + 1] = event .. ", " .. session:state()
      end }
    local guard = assert(session:mutex(support.path()):acquire(30))
    guard:on_lost(function(_, _, reason)
      told[#told + 1] = reason .. ", " .. session:state()
    end)
    -- A young connection's lease is nearly the session's whole time.
    support.step_until(session, function() return guard:lease() < 0.7 * T end)
    for i = #told, 1, -1 do told[i] = nil end -- (connected)
    return session, guard, proxy, told
  end

  local silent = { "suspended, suspended", "silence, suspended" }
  local over = { silent[1], silent[2], "reconnected, connected" }

  local function settle(session)
    for _ = 1, 30 do
      session:step()
      support.sleep(0.01)
    end
  end

  it("is a suspension before it is a loss, and over when one is heard",
    function()
      local session, _, proxy, told = open()
      proxy:freeze()
      support.step_until(session, function() return told[2] end, 10)
      assert.same(silent, told)
      proxy:heal()
      support.step_until(session, function() return told[3] end, 10)
      settle(session)
      assert.same(over, told)
    end)

  it("is one suspension with the loss of the connection", function()
    local session, _, proxy, told = open()
    proxy:freeze()
    support.step_until(session, function() return told[2] end, 10)
    proxy:refuse()
    settle(session)
    assert.same(silent, told)
    assert.equal("suspended", session:state())
    proxy:heal()
    support.step_until(session, function() return told[3] end, 10)
    settle(session)
    assert.same(over, told)
    assert.equal(1, session:stats().reconnects)
  end)

  it("is a suspension before it is a loss for a call that finds it", function()
    local session, guard, proxy, told = open()
    proxy:freeze()
    await_loss(guard)
    assert.same({}, told)
    assert.equal("lost", (select(3, guard:release())))
    assert.same(silent, told)
    assert.equal("silence", guard:reason())
    settle(session)
    assert.same(silent, told)
    proxy:heal()
    support.step_until(session, function() return told[3] end, 10)
    settle(session)
    assert.same(over, told)
  end)

  it("is none to who holds nothing", function()
    local session, guard, proxy, told = open()
    guard:release { wait = true }
    proxy:freeze()
    -- Longer than a lease, and shorter than silence.
    local stop = support.now() + T / 2
    support.step_until(session, function() return support.now() > stop end, 10)
    assert.same({}, told)
    assert.equal("connected", session:state())
    proxy:heal()
  end)
end)

-- A hook may raise between any two instructions of ours: see strikes.lua.
local strikes = require "support.strikes"
local support = require "support"
local waits = require "zklock.wait"
local zklock = require "zklock"

local STRIKE, at_each_instruction, check_free, connect, forgive =
  strikes.STRIKE, strikes.at_each_instruction, strikes.check_free,
  strikes.connect, strikes.forgive
local sethook = debug.sethook

describe("A hook that raises", function()
  before_each(support.start)
  after_each(support.finish)

  for name, acquire in pairs {
    acquire = function(lock) return lock:acquire(30) end,
    try_acquire = function(lock) return lock:try_acquire() end,
  } do
    it("in " .. name .. " leaves nothing held", function()
      local session, path = connect(), support.path()
      local lock = session:mutex(path)
      at_each_instruction(function() return {} end, function(got)
        got.guard = acquire(lock)
      end, function(got, through)
        if through then got.guard:release() end
        forgive(lock, through)
        check_free(session, lock, path)
      end)
    end)
  end

  it("in acquire by the holder leaves it one share", function()
    local session, path = connect(), support.path()
    local lock = session:mutex(path)
    local guard = lock:acquire(30)
    at_each_instruction(function() return {} end, function(got)
      got.guard = lock:acquire(30)
    end, function(got, through)
      if through then got.guard:release() end
      if support.is_51 and not through then
        local stack = guard._stack
        if stack[#stack] ~= guard then lock:release() end
      end
      assert.is_true(guard:is_held())
      assert.equal(1, session:stats().holding)
      assert.equal(guard, guard._stack[#guard._stack])
    end)
    guard:release()
    check_free(session, lock, path)
  end)

  it("in acquire, when the wait times out, leaves nothing", function()
    local session, path = connect(), support.path()
    local lock = session:mutex(path)
    local held = connect():mutex(path):acquire(30)
    at_each_instruction(function() end, function()
      return lock:acquire(0.002)
    end, function()
      support.wait_until(function() return #support.zk():queue(path) == 1 end)
      assert.is_nil(waits.any(session._engine.waits.answers))
    end)
    held:release { wait = true }
    check_free(session, lock, path)
  end)

  it("in with_lock leaves nothing held", function()
    local session, path = connect(), support.path()
    local lock = session:mutex(path)
    at_each_instruction(function() end, function()
      return lock:with_lock(function(guard) assert(guard:is_held()) end)
    end, function() check_free(session, lock, path) end)
  end)

  it("in with_lock, when fn has raised, leaves nothing held", function()
    local session, path = connect(), support.path()
    local lock = session:mutex(path)
    at_each_instruction(function() end, function()
      local _, problem = pcall(lock.with_lock, lock, error)
      if problem == STRIKE then error(problem, 0) end
    end, function() check_free(session, lock, path) end)
  end)

  it("in multi leaves nothing held", function()
    local session, path = connect(), support.path()
    local a, b = session:mutex(path .. "/a"), session:mutex(path .. "/b")
    local lock = session:multi { a, b }
    at_each_instruction(function() return {} end, function(got)
      got.guard = lock:acquire(30)
    end, function(got, through)
      if through then got.guard:release() end
      forgive(lock, through)
      check_free(session, a, path .. "/a")
      check_free(session, b, path .. "/b")
    end)
    at_each_instruction(function() return lock:acquire(30) end,
      function(guard) guard:release() end,
      function(guard)
        assert.is_true(guard:release())
        check_free(session, a, path .. "/a")
        check_free(session, b, path .. "/b")
      end)
  end)

  for name, options in pairs { release = false,
      ["release { wait = true }"] = { wait = true } } do
    it("in " .. name .. ": a second one is true", function()
      local session, path = connect(), support.path()
      local lock = session:mutex(path)
      at_each_instruction(function() return lock:acquire(30) end,
        function(guard) return guard:release(options or nil) end,
        function(guard)
          assert.is_true(guard:release())
          assert.equal("released", guard:state())
          check_free(session, lock, path)
        end)
    end)
  end

  it("in release of a lost hold: a second one says so", function()
    local session, path = connect(), support.path()
    local lock = session:mutex(path)
    at_each_instruction(function()
      local guard = lock:acquire { max_hold = 0.001 }
      support.wait_until(function() return not guard:is_held() end)
      return guard
    end, function(guard) return guard:release() end, function(guard)
      assert.equal("lost", select(3, guard:release()))
      check_free(session, lock, path)
    end)
  end)

  it("in verify, contenders and their like leaves no wait", function()
    local session, path = connect(), support.path()
    local lock = session:mutex(path)
    local guard = lock:acquire(30)
    for _, ask in ipairs {
      function() return guard:verify() end,
      function() return session:contenders(path) end,
      function() return session:revoke(path) end,
      function() return session:stat(path) end,
      function() return session:children(path) end,
      function() return session:stamp(path .. "/stamp") end,
      function() return session:evict(path, "holder") end,
    } do
      at_each_instruction(function() end, ask, function()
        assert.is_nil(waits.any(session._engine.waits.answers))
        assert.is_true(guard:is_held())
      end)
    end
    guard:release()
    check_free(session, lock, path)
  end)

  it("in step does not keep a callback from its turn", function()
    local session = connect()
    local lost = session:mutex(support.path())
    local one, two = support.path(), support.path()
    local a, b = session:mutex(one), session:mutex(two)
    at_each_instruction(function()
      local calls = { a = 0, b = 0, lost = 0, state = 0 }
      local guard = lost:acquire { max_hold = 0.001 }
      guard:on_lost(function() calls.lost = calls.lost + 1 end)
      guard:on_lost(function() calls.state = calls.state + 1 end)
      a:acquire_async(5, function(mine, message)
        calls.a = calls.a + 1
        calls.guard_a = assert(mine, message)
      end)
      b:acquire_async(5, function(mine, message)
        calls.b = calls.b + 1
        calls.guard_b = assert(mine, message)
      end)
      -- all that is to be told has come
      support.wait_until(function()
        return session:stats().holding == 2 and not guard:is_held()
      end)
      calls.guard = guard
      return calls
    end, function() session:step() end, function(calls)
      support.step_until(session, function()
        return calls.a > 0 and calls.b > 0 and calls.lost > 0
          and calls.state > 0
      end, 2, "all callbacks")
      for _ = 1, 3 do session:step() end
      assert.same({ 1, 1, 1, 1 },
        { calls.a, calls.b, calls.lost, calls.state })
      calls.guard:release()
      calls.guard_a:release()
      calls.guard_b:release()
      check_free(session, a, one)
      check_free(session, b, two)
    end)
  end)

  it("in acquire does not keep another's callback from its turn", function()
    local session, path = connect(), support.path()
    local holder = connect():mutex(path)
    local lock, mine = session:mutex(path), session:mutex(support.path())
    at_each_instruction(function()
      local held = holder:acquire(30)
      local subject = { calls = 0 }
      lock:acquire_async(5, function(guard, message)
        subject.calls = subject.calls + 1
        subject.guard = assert(guard, message)
      end)
      held:release()
      return subject
    end, function() return assert(mine:acquire(30)):release() end,
    function(subject)
      support.step_until(session, function() return subject.calls > 0 end)
      assert.equal(1, subject.calls)
      pcall(mine.release, mine)
      subject.guard:release()
      check_free(session, lock, path)
    end)
  end)

  it("in close leaves it closed", function()
    local path = support.path()
    local threads = support.count_threads()
    at_each_instruction(function()
      local session = connect()
      local subject = { session = session, closed = 0, told = 0 }
      session:on("closed", function() subject.closed = subject.closed + 1 end)
      subject.guard = session:mutex(path):acquire(30)
      session:mutex(path):acquire_async(function(_, _, code)
        assert(code == "closed")
        subject.told = subject.told + 1
      end)
      return subject
    end, function(subject) return subject.session:close() end,
    function(subject)
      local session = subject.session
      assert.is_true(session:close())
      assert.equal("closed", session:state())
      assert.is_false(subject.guard:is_held())
      assert.same({ 1, 1 }, { subject.closed, subject.told })
      support.wait_until(function()
        return support.count_threads() <= threads
      end)
      assert.equal(0, #support.zk():queue(path))
    end)
  end)

  it("in connect leaves no session open", function()
    local threads, fds = support.count_threads(), support.count_fds()
    at_each_instruction(function() return {} end, function(got)
      got.session = zklock.connect(support.hosts)
    end, function(got, through)
      if through then got.session:close() end
      if support.is_51 and not through then collectgarbage() end
      support.wait_until(function()
        return support.count_threads() <= threads
          and support.count_fds() <= fds + 1
      end)
    end)
  end)

  it("inside a callback is the caller's, not the log's", function()
    local lines = {}
    local session = connect {
      log = function(level, message)
        if level ~= "debug" then lines[#lines + 1] = message end
      end,
    }
    local calls = 0
    session:mutex(support.path()):acquire_async(function(guard)
      guard:release()
      sethook(function() sethook() error(STRIKE, 0) end, "", 100)
      while true do calls = calls + 1 end
    end)
    session:mutex(support.path()):acquire_async(function(guard)
      guard:release()
      error "a user's own"
    end)
    local problem
    support.wait_until(function()
      local ok, why = pcall(session.step, session)
      if not ok then problem = why end
      return problem and #lines > 0
    end)
    assert.equal(STRIKE, problem)
    assert.equal(1, #lines)
    assert.matches("an error in a callback: .*a user's own", lines[1])
  end)

  it("inside with_lock in a callback is the caller's, too", function()
    local session = connect()
    local path, calls = support.path(), 0
    local lock = session:mutex(path)
    session:mutex(support.path()):acquire_async(function(guard)
      guard:release()
      lock:with_lock(function()
        sethook(function() sethook() error(STRIKE, 0) end, "", 100)
        while true do calls = calls + 1 end
      end)
    end)
    local ok, problem
    support.wait_until(function()
      ok, problem = pcall(session.step, session)
      return not ok
    end)
    assert.equal(STRIKE, problem)
    session:step() -- nothing was put off
    check_free(session, lock, path)
  end)
end)

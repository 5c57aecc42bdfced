local support = require "support"
local connect, lose, misuse = support.connect, support.lose, support.misuse

before_each(support.start)
after_each(support.finish)

-- A guard whose hold has just been lost.
local function lost_guard(session, path)
  local guard = session:mutex(path):acquire()
  lose(guard)
  return guard
end

local function step_for(session, seconds)
  for _ = 1, seconds * 100 do
    session:step()
    support.advance(0.01)
  end
end

describe("A guard", function()
  it("knows its path and its node", function()
    local path = support.path()
    local guard = connect():mutex(path):acquire()
    assert.equal(path, guard.path)
    assert.equal(path .. "/" .. support.zk():queue(path)[1], guard.node)
  end)

  it("stays held while the server answers, with half a timeout's lease",
    function()
      local session = connect { session_timeout = 6 }
      local guard = session:mutex(support.path()):acquire()
      for _ = 1, 600 do
        assert.is_true(guard:is_held())
        local lease = guard:lease() / 6
        assert.is_true(lease > 0.49 and lease <= 0.95, lease)
        support.advance(0.1)
      end
    end)

  it("waits for the server's word if release is told to", function()
    local mutex = connect():mutex(support.path())
    for _ = 1, 20 do
      local guard = mutex:acquire()
      assert.is_true(guard:release { wait = true })
      assert.is_false(support.zk():exists(guard.node))
      for _ = 1, 3 do assert.is_true(guard:release { wait = true }) end
    end
  end)

  it("outlives its coroutine, and may be released by another", function()
    local path = support.path()
    local mutex = connect { loop = "poll" }:mutex(path)
    local guard = coroutine.wrap(function() return mutex:acquire() end)()
    support.collect()
    assert.is_true(guard:is_held())
    assert.equal(1, #support.zk():queue(path))
    assert.is_true(coroutine.wrap(function() return guard:release() end)())
    support.wait_for_queue(path, 0)
    assert.is_true(mutex:acquire(1):release())
  end)

  -- (The first heartbeat watches the node.)
  for after, within in pairs { [1.2] = 0.01, [0] = 1.01 } do
    it(("is lost within a heartbeat when an operator deletes its node: %g s "
      .. "old"):format(after), function()
      local session = connect { session_timeout = 6 }
      local guard = session:mutex(support.path()):acquire()
      support.advance(after)
      local took = support.timed(function() lose(guard) end)
      assert.is_true(took < within, took)
      assert.equal("lost", guard:state())
      assert.equal(0, guard:lease())
    end)
  end

  it("is lost by max_hold while Lua is stuck, and its node goes", function()
    local path, session = support.path(), connect()
    local mutex = session:mutex(path, { max_hold = 0.3 })
    local other, guard = connect():mutex(path), mutex:acquire()
    local took = support.timed(function() -- no step of the first session
      assert(other:acquire(5)):release { wait = true }
    end)
    assert.near(0.3, took, 0.02)
    assert.is_false(guard:is_held())
    guard:release()
    guard = mutex:acquire { max_hold = 60, timeout = 5 }
    support.advance(59)
    assert.is_true(guard:is_held())
  end)

  it("has a readable tostring", function()
    local path = support.path()
    local guard = connect():mutex(path):acquire()
    assert.equal("zklock guard of " .. path .. " (held)", tostring(guard))
    guard:release()
    assert.equal("zklock guard of " .. path .. " (released)", tostring(guard))
  end)

  it("is misuse to release with unknown options", function()
    local guard = connect():mutex(support.path()):acquire()
    assert.matches("unknown option \"wiat\"",
      misuse(function() guard:release { wiat = true } end))
    assert.matches("release options must be a table",
      misuse(function() guard:release(true) end))
    assert.matches("option 'wait' must be a boolean",
      misuse(function() guard:release { wait = 1 } end))
    assert.is_true(guard:is_held())
  end)

  if support.is_54 then
    -- `<close>` is no syntax elsewhere.
    local function close(mutex, body)
      return load [[
        local mutex, body = ...
        do
          local guard <close> = mutex:try_acquire()
          body(guard)
        end
      ]](mutex, body)
    end

    it("is released at the end of a <close> block, in each way", function()
      local path = support.path()
      local mutex, seen = connect { loop = "poll" }:mutex(path), {}
      local function note(guard)
        assert.is_true(guard:is_held())
        seen[#seen + 1] = guard
      end
      close(mutex, note)
      assert.same({ false, "ouch" }, { pcall(close, mutex, function(guard)
        note(guard)
        error("ouch", 0)
      end) })
      local co = coroutine.create(function()
        close(mutex, function(guard)
          note(guard)
          coroutine.yield()
        end)
      end)
      assert.is_true(coroutine.resume(co))
      assert.equal(1, #support.zk():queue(path))
      assert.is_true(coroutine.close(co))
      assert.equal(3, #seen)
      for _, guard in ipairs(seen) do
        assert.equal("released", guard:state())
      end
      support.wait_for_queue(path, 0)
    end)

    it("may be nil in a <close> block: it was not granted", function()
      local path = support.path()
      support.hold(path)
      close(connect():mutex(path), function(guard) assert.is_nil(guard) end)
    end)
  end
end)

describe("The fencing token", function()
  it("grows with every hold, whatever the parent has gone through", function()
    local path = support.path()
    local last = ""
    for i = 1, 6 do
      local session = connect()
      local guard = session:mutex(path):acquire(30)
      assert.is_true(guard:token() > last)
      last = guard:token()
      guard:release { wait = true }
      session:close()
      if i % 2 == 0 then support.zk():delete_all(path) end
    end
  end)

  it("can still be read after release and close, as a number, too", function()
    local session = connect()
    local guard = session:mutex(support.path()):acquire()
    local token, node = guard:token(), guard.node
    for _, act in ipairs { guard.release, function() session:close() end } do
      act(guard)
      assert.equal(token, guard:token())
      assert.equal(token, ("%019.0f"):format(guard:token_number()))
      assert.equal(node, guard.node)
    end
    if math.type then
      assert.equal("integer", math.type(guard:token_number()))
    end
  end)
end)

describe("on_lost", function()
  local function listen(guard)
    local calls = {}
    guard:on_lost(function(mine, code, reason)
      assert.is_true(rawequal(guard, mine))
      calls[#calls + 1] = code .. " " .. reason
    end)
    return calls
  end

  it("calls once, from step(), with the guard and a code", function()
    local session = connect()
    local guard = session:mutex(support.path()):acquire()
    local calls = listen(guard)
    lose(guard)
    assert.same({}, calls)
    step_for(session, 1)
    assert.same({ "lost deleted" }, calls)
  end)

  it("calls every listener, of every guard of the hold", function()
    local session = connect()
    local mutex = session:mutex(support.path())
    local a, b = mutex:acquire(), mutex:acquire()
    local calls = {}
    a:on_lost(function() calls[#calls + 1] = "a1" end)
    a:on_lost(function() calls[#calls + 1] = "a2" end)
    b:on_lost(function() calls[#calls + 1] = "b" end)
    local of_b = listen(b)
    lose(a)
    session:step()
    assert.same({ "a1", "a2", "b" }, calls)
    assert.same({ "lost deleted" }, of_b)
  end)

  it("calls at once, and once, if the hold is lost already", function()
    local session = connect()
    for _, stepped in ipairs { true, false } do
      local guard = lost_guard(session, support.path())
      if stepped then session:step() end
      local calls = listen(guard)
      assert.same({ "lost deleted" }, calls)
      step_for(session, 0.2)
      assert.same({ "lost deleted" }, calls)
    end
  end)

  it("may release, and acquire again, in the callback (T34)", function()
    local session = connect()
    local mutex = session:mutex(support.path())
    local guard = mutex:acquire()
    local code, fresh
    guard:on_lost(function(mine)
      code = select(3, mine:release())
      fresh = mutex:acquire(30)
    end)
    lose(guard)
    session:step()
    assert.equal("lost", code)
    assert.is_true(fresh:is_held())
  end)

  it("is misuse without a function", function()
    local guard = connect():mutex(support.path()):acquire()
    assert.matches("argument 1 of on_lost must be a function, got a number",
      misuse(function() guard:on_lost(1) end))
    assert.matches("must be a function, got nil",
      misuse(function() guard:on_lost() end))
  end)
end)

describe("verify", function()
  it("asks the server and says true", function()
    local session = connect()
    local guard = session:mutex(support.path()):acquire()
    local before = support.requests(session)
    for _ = 1, 10 do assert.is_true(guard:verify()) end
    assert.equal(before + 20, support.requests(session))
  end)

  it("says lost after a release, a loss and re-entry's end", function()
    local session = connect()
    local mutex = session:mutex(support.path())
    local a, b = mutex:acquire(), mutex:acquire()
    b:release()
    assert.is_true(a:verify())
    a:release()
    for guard, words in pairs { [a] = "was released$", [b] = "was released$",
        [lost_guard(session, support.path())] = "was lost: " } do
      local _, message, code = guard:verify()
      assert.equal("lost", code)
      assert.matches(words, message)
    end
  end)
end)

local support = require "support"
local connect, misuse = support.connect, support.misuse

-- A guard whose hold has just been lost: an operator deleted its node.
local function lost_guard(session, path)
  local guard = session:mutex(path):acquire()
  support.zk():delete(guard.node)
  support.wait_until(function() return not guard:is_held() end)
  return guard
end

before_each(support.start)
after_each(support.finish)

describe("A guard", function()
  it("knows its path and its node", function()
    local path = support.path()
    local guard = connect():mutex(path):acquire()
    assert.equal(path, guard.path)
    assert.equal(path .. "/", guard.node:sub(1, #path + 1))
    assert.is_table(support.zk():exists(guard.node))
  end)

  it("is held, with a lease of less than the session timeout", function()
    local session = connect { session_timeout = 5 }
    local guard = session:mutex(support.path()):acquire()
    assert.is_true(guard:is_held())
    assert.equal("held", guard:state())
    assert.is_true(guard:lease() > 0.5, guard:lease())
    assert.is_true(guard:lease() <= 0.95 * 5, guard:lease())
  end)

  it("stays held while the server answers", function()
    local session = connect { session_timeout = 6 }
    local guard = session:mutex(support.path()):acquire()
    local deadline = support.now() + 4.5 -- longer than a lease
    while support.now() < deadline do
      assert.is_true(guard:is_held())
      assert.is_true(guard:lease() > 0)
      support.sleep(0.01)
    end
  end)

  it("is released once, however often it is asked", function()
    local path = support.path()
    local guard = connect():mutex(path):acquire()
    assert.is_true(guard:release())
    assert.is_false(guard:is_held())
    assert.equal(0, guard:lease())
    assert.equal("released", guard:state())
    for _ = 1, 3 do assert.is_true(guard:release()) end
    assert.is_true(guard:release { wait = true })
    support.wait_for_queue(path, 0)
  end)

  it("waits for the server's word if release is told to", function()
    local path = support.path()
    local mutex = connect():mutex(path)
    for _ = 1, 20 do
      local guard = mutex:acquire()
      assert.is_true(guard:release { wait = true })
      assert.is_false(support.zk():exists(guard.node))
    end
  end)

  it("can be released by another coroutine", function()
    local path = support.path()
    local mutex = connect { loop = "poll" }:mutex(path)
    local guard = mutex:acquire()
    assert.is_true(coroutine.wrap(function() return guard:release() end)())
    support.wait_for_queue(path, 0)
    assert.is_true(mutex:acquire(1):release())
  end)

  it("outlives the coroutine that acquired it", function()
    local path = support.path()
    local mutex = connect { loop = "poll" }:mutex(path)
    local guard = coroutine.wrap(function() return mutex:acquire() end)()
    collectgarbage()
    collectgarbage()
    assert.is_true(guard:is_held())
    assert.equal(1, #support.zk():queue(path))
    assert.is_true(guard:release())
  end)

  it("is lost when an operator deletes its node, within a heartbeat",
    function()
      local session = connect { session_timeout = 6 }
      local guard = session:mutex(support.path()):acquire()
      support.sleep(1.2) -- the first heartbeat watches the node
      local begun = support.now()
      support.zk():delete(guard.node)
      support.wait_until(function() return not guard:is_held() end)
      assert.is_true(support.now() - begun < 1 + support.slack)
      assert.equal("lost", guard:state())
      assert.equal(0, guard:lease())
    end)

  it("is lost within a heartbeat even if the node goes at once", function()
    local session = connect { session_timeout = 3 }
    local guard = session:mutex(support.path()):acquire()
    local begun = support.now()
    support.zk():delete(guard.node)
    support.wait_until(function() return not guard:is_held() end)
    assert.is_true(support.now() - begun < 0.5 + support.slack)
  end)

  it("says lost when it is released after its loss", function()
    local path = support.path()
    local guard = lost_guard(connect(), path)
    for _ = 1, 3 do
      local ok, message, code = guard:release()
      assert.is_nil(ok)
      local text = "zklock: the hold of " .. path .. " was lost: "
      assert.equal(text, message:sub(1, #text))
      assert.equal("lost", code)
    end
    local _, _, code = guard:release { wait = true }
    assert.equal("lost", code)
    assert.equal("lost", guard:state())
  end)

  it("is lost after max_hold seconds, and its node goes", function()
    local path = support.path()
    local session = connect()
    local mutex = session:mutex(path, { max_hold = 0.3 })
    local begun = support.now()
    local guard = mutex:acquire()
    local node = guard.node
    assert.is_true(guard:lease() <= 0.3)
    support.wait_until(function() return not guard:is_held() end)
    local took = support.now() - begun
    assert.is_true(took >= 0.3 and took < 0.3 + support.slack, took)
    support.wait_until(function() return not support.zk():exists(node) end)
    local _, _, code = guard:release()
    assert.equal("lost", code)
    guard = mutex:acquire { max_hold = 60, timeout = 5 }
    support.sleep(0.4)
    assert.is_true(guard:is_held())
  end)

  it("is lost by max_hold while Lua is stuck", function()
    local path = support.path()
    local guard = connect():mutex(path):acquire { max_hold = 0.2 }
    local other = connect()
    support.wait_until(function() -- nobody steps the first session
      return other:mutex(path):try_acquire()
    end, 5, "a lock that is free")
    assert.is_false(guard:is_held())
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
          local guard <close> = assert(mutex:acquire(30))
          body(guard)
        end
      ]](mutex, body)
    end

    it("is released at the end of a <close> block", function()
      local path = support.path()
      local seen
      close(connect():mutex(path), function(guard)
        seen = guard
        assert.is_true(guard:is_held())
      end)
      assert.equal("released", seen:state())
      support.wait_for_queue(path, 0)
    end)

    it("is released by <close> when there is an error", function()
      local path = support.path()
      local ok, problem = pcall(close, connect():mutex(path), function()
        error("ouch", 0)
      end)
      assert.is_false(ok)
      assert.equal("ouch", problem)
      support.wait_for_queue(path, 0)
    end)

    it("is released by <close> when its coroutine is closed", function()
      local path = support.path()
      local mutex = connect { loop = "poll" }:mutex(path)
      local co = coroutine.create(function()
        close(mutex, function() coroutine.yield() end)
      end)
      assert.is_true(coroutine.resume(co))
      assert.equal(1, #support.zk():queue(path))
      assert.is_true(coroutine.close(co))
      support.wait_for_queue(path, 0)
    end)

    it("may be nil in a <close> block: it was not granted", function()
      local path = support.path()
      support.hold(path)
      local mutex = connect():mutex(path)
      load [[
        local mutex = ...
        local guard <close> = mutex:try_acquire()
        assert(guard == nil)
      ]](mutex)
    end)
  end
end)

describe("The fencing token", function()
  it("is the czxid of our node, as 19 digits", function()
    local mutex = connect():mutex(support.path())
    for _ = 1, 3 do
      local guard = mutex:acquire()
      local token = guard:token()
      assert.is_string(token)
      assert.matches("^%d+$", token)
      assert.equal(19, #token)
      assert.equal(support.zk():exists(guard.node).czxid, token)
      guard:release()
    end
  end)

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

  it("is the same for the successor's hand-off as in ZooKeeper", function()
    local path = support.path()
    local first = support.hold(path)
    local waiter, guard = connect(), nil
    waiter:mutex(path):acquire_async(nil, function(mine) guard = mine end)
    support.wait_for_queue(path, 2)
    first:release()
    support.step_until(waiter, function() return guard end)
    assert.equal(support.zk():exists(guard.node).czxid, guard:token())
    assert.is_true(guard:token() > first:token())
  end)

  it("can still be read after release and close", function()
    local session = connect()
    local guard = session:mutex(support.path()):acquire()
    local token = guard:token()
    guard:release()
    assert.equal(token, guard:token())
    session:close()
    assert.equal(token, guard:token())
    assert.is_string(guard.node)
  end)

  it("is a number, too", function()
    local guard = connect():mutex(support.path()):acquire()
    local number = guard:token_number()
    assert.equal("number", type(number))
    assert.equal(guard:token(), ("%019.0f"):format(number))
    if math.type then assert.equal("integer", math.type(number)) end
  end)
end)

describe("on_lost", function()
  it("calls once, from step(), with the guard and a code", function()
    local session = connect()
    local guard = session:mutex(support.path()):acquire()
    local calls = {}
    guard:on_lost(function(...) calls[#calls + 1] = { ... } end)
    support.zk():delete(guard.node)
    support.wait_until(function() return not guard:is_held() end)
    assert.equal(0, #calls)
    support.step_until(session, function() return #calls > 0 end)
    for _ = 1, 50 do
      session:step()
      support.sleep(0.005)
    end
    assert.equal(1, #calls)
    assert.is_true(rawequal(guard, calls[1][1]))
    assert.equal("lost", calls[1][2])
  end)

  it("calls before the release that finds it out returns", function()
    local session = connect()
    local guard, calls
    repeat -- until it has not been lost before somebody listens
      guard = session:mutex(support.path()):acquire { max_hold = 0.05 }
      calls = {}
      guard:on_lost(function(...) calls[#calls + 1] = { ... } end)
    until #calls == 0
    support.wait_until(function() return not guard:is_held() end)
    assert.equal(0, #calls)
    assert.equal("lost", (select(3, guard:release())))
    assert.same({ { guard, "lost", "max_hold" } }, calls)
  end)

  it("calls every listener, of every guard of the hold", function()
    local session = connect()
    local mutex = session:mutex(support.path())
    local a, b = mutex:acquire(), mutex:acquire()
    local calls = {}
    a:on_lost(function() calls[#calls + 1] = "a1" end)
    a:on_lost(function() calls[#calls + 1] = "a2" end)
    b:on_lost(function(guard)
      calls[#calls + 1] = "b"
      assert.is_true(rawequal(guard, b))
    end)
    support.zk():delete(a.node)
    support.step_until(session, function() return #calls == 3 end)
    assert.same({ "a1", "a2", "b" }, calls)
  end)

  it("calls at once if the hold is lost already", function()
    local session = connect()
    local guard = lost_guard(session, support.path())
    session:step()
    local seen
    guard:on_lost(function(mine, code)
      assert.is_true(rawequal(guard, mine))
      seen = code
    end)
    assert.equal("lost", seen)
  end)

  it("calls at once, and once, even before step() has told", function()
    local session = connect()
    local guard = lost_guard(session, support.path())
    local calls = 0
    guard:on_lost(function() calls = calls + 1 end)
    assert.equal(1, calls)
    for _ = 1, 20 do
      session:step()
      support.sleep(0.005)
    end
    assert.equal(1, calls)
  end)

  it("is not called after a release", function()
    local session = connect()
    local path = support.path()
    local guard = session:mutex(path):acquire()
    local called = false
    guard:on_lost(function() called = true end)
    guard:release { wait = true }
    support.zk():delete_all(path)
    for _ = 1, 40 do
      session:step()
      support.sleep(0.01)
    end
    assert.is_false(called)
    guard:on_lost(function() called = true end)
    assert.is_false(called)
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
    support.zk():delete(guard.node)
    support.step_until(session, function() return fresh end)
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
    local guard = connect():mutex(support.path()):acquire()
    for _ = 1, 10 do assert.is_true(guard:verify()) end
  end)

  it("says lost when the node has gone, before we know", function()
    local path = support.path()
    local session = connect { session_timeout = 60 }
    local guard = session:mutex(path):acquire()
    support.zk():delete(guard.node)
    local ok, message, code = guard:verify()
    assert.is_nil(ok)
    assert.equal("lost", code)
    assert.matches("^zklock: the hold of " .. path:gsub("%-", "%%-"), message)
    -- and then we do know
    assert.is_false(guard:is_held())
    assert.equal("lost", guard:state())
    assert.equal("lost", (select(3, guard:release())))
  end)

  it("says lost after a release, a loss and re-entry's end", function()
    local session = connect()
    local mutex = session:mutex(support.path())
    local a, b = mutex:acquire(), mutex:acquire()
    b:release()
    assert.is_true(a:verify())
    local _, message, code = b:verify()
    assert.equal("lost", code)
    assert.matches("was released$", message)
    a:release()
    _, _, code = a:verify()
    assert.equal("lost", code)
    _, message, code = lost_guard(session, support.path()):verify()
    assert.equal("lost", code)
    assert.matches("was lost: ", message)
  end)

  it("says closed after close", function()
    local session = connect()
    local guard = session:mutex(support.path()):acquire()
    session:close()
    local ok, message, code = guard:verify()
    assert.is_nil(ok)
    assert.equal("closed", code)
    assert.matches("closed", message)
  end)

  it("suspends only the calling coroutine", function()
    local scheduler = require "support.scheduler".new()
    local session = connect { loop = scheduler.adapter }
    local path, answers = support.path(), {}
    scheduler:spawn(function()
      local guard = session:mutex(path):acquire()
      for i = 1, 3 do answers[i] = guard:verify() end
      guard:release { wait = true }
    end)
    assert.is_true(scheduler:run())
    assert.same({ true, true, true }, answers)
  end)
end)

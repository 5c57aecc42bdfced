local support = require "support"
local connect, lose = support.connect, support.lose

-- A guard whose hold has just been lost.
local function lost_guard(session, path)
  local guard = session:mutex(path):acquire()
  lose(guard)
  return guard
end

describe("A guard", function()
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
    guard:on_lost(function(mine, reason, message)
      assert.is_true(rawequal(guard, mine))
      assert.equal("zklock: the hold of " .. mine.path .. " was lost: its node "
        .. "was deleted", message)
      calls[#calls + 1] = reason
    end)
    return calls
  end

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
    assert.same({ "node_deleted" }, of_b)
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
end)

describe("verify", function()
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

-- Guards, and which calls are their holder's.  (Of each kind of lock:
-- family/contract_spec.lua.)
local kinds = require "integration.family.kinds"
local support = require "support"
local connect, lose = support.connect, support.lose

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

  it("A guard is released at the end of a <close> block", function()
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

  it("A guard may be nil in a <close> block: it was not granted", function()
    local path = support.path()
    support.hold(path)
    close(connect():mutex(path), function(guard) assert.is_nil(guard) end)
  end)
end

it("The fencing token can still be read after release and close, as a number, "
  .. "too", function()
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

it("A callback of on_lost can release, and acquire again (T34)", function()
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

it("verify says lost after a release and re-entry's end", function()
  local mutex = connect():mutex(support.path())
  local a, b = mutex:acquire(), mutex:acquire()
  b:release()
  assert.is_true(a:verify())
  a:release()
  for _, guard in ipairs { a, b } do
    assert.matches("was released$", kinds.refused("lost", guard:verify()))
  end
end)

-- Runs `fn` in a coroutine of its own, to its end.
local function in_task(fn)
  local co = coroutine.create(fn)
  local ok, problem = coroutine.resume(co)
  assert.is_true(ok, tostring(problem))
  assert.equal("dead", coroutine.status(co))
end

it("An owner that acquires again holds until its last guard is released, and "
  .. "each listener hears, but of no released one", function()
  local session, lost, guards = connect(), {}, {}
  local mutex = session:mutex(support.path())
  for i = 1, 4 do
    guards[i] = mutex:acquire()
    for _ = 1, 2 do
      guards[i]:on_lost(function() lost[#lost + 1] = i end)
    end
  end
  for _, i in ipairs { 1, 3, 1 } do -- twice is no second release
    assert.is_true(guards[i]:release())
  end
  assert.is_true(guards[2]:is_held())
  assert.equal("released", guards[1]:state())
  support.lose(guards[4])
  session:step()
  assert.same({ 2, 2, 4, 4 }, lost)
end)

describe("The owner", function()
  it("is what the option says, whatever runs", function()
    local mutex = connect { loop = "poll" }:mutex(support.path())
    for _, owner in ipairs { "name", 7, {}, print, true, false } do
      local a = mutex:acquire { owner = owner, timeout = 30 }
      in_task(function()
        local b = mutex:acquire { owner = owner, timeout = 1 }
        assert.equal(a:token(), b:token())
        b:release()
      end)
      assert.equal("busy", select(3, mutex:try_acquire { owner = "another" }))
      assert.equal("busy", select(3, mutex:try_acquire()))
      assert.is_true(a:release())
    end
  end)

  it("of acquire_async is a new one each time, unless it is given", function()
    local session = connect()
    local mutex = session:mutex(support.path())
    local first = kinds.await(kinds.wait_in(mutex))
    assert.equal("timeout", select(3, kinds.await(kinds.wait_in(mutex, 0.05))))
    -- nor is it the caller's
    assert.equal("busy", select(3, mutex:try_acquire()))
    first:release()
    local c = kinds.await(kinds.wait_in(mutex, { owner = "me" }))
    local again = kinds.wait_in(mutex, { owner = "me" })
    assert.is_nil(again.guard) -- a callback runs in step(), never at once
    assert.equal(c:token(), kinds.await(again):token())
  end)

  it("does not pass its hold on to a coroutine that takes its place",
    function()
      local mutex = connect { loop = "poll" }:mutex(support.path())
      local kept
      in_task(function() kept = mutex:acquire() end)
      collectgarbage()
      for _ = 1, 50 do
        in_task(function()
          assert.equal("busy", select(3, mutex:try_acquire()))
        end)
      end
      assert.is_true(kept:is_held())
    end)
end)

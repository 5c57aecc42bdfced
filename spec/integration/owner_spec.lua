-- Who holds a lock, and which calls are the holder's.  (Each kind of lock:
-- family/contract_spec.lua "The owner of a lock".)
local kinds = require "integration.family.kinds"
local support = require "support"
local connect = support.connect

-- Runs `fn` in a coroutine of its own, to its end.
local function in_task(fn)
  local co = coroutine.create(fn)
  local ok, problem = coroutine.resume(co)
  assert.is_true(ok, tostring(problem))
  assert.equal("dead", coroutine.status(co))
end

describe("An owner that acquires again", function()
  it("holds until its last guard is released, and hears of no released one",
    function()
      local session, path = connect(), support.path()
      local mutex, lost = session:mutex(path), {}
      local a, b, c = mutex:acquire(), mutex:acquire(), mutex:try_acquire()
      for i, guard in ipairs { a, b, c } do
        guard:on_lost(function() lost[#lost + 1] = i end)
      end
      assert.is_true(a:release())
      assert.is_true(c:release())
      assert.is_true(a:release()) -- twice is no second release
      assert.is_true(b:is_held())
      assert.equal("released", a:state())
      support.zk():delete(b.node)
      support.step_until(session, function() return lost[1] end)
      assert.same({ 2 }, lost)
    end)
end)

describe("The owner", function()
  it("is what the option says, whatever runs", function()
    local mutex = connect { loop = "poll" }:mutex(support.path())
    for _, owner in ipairs { "name", 7, {}, print, true } do
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

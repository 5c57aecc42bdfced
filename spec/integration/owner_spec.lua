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
  it("holds until its last guard is released, in any order", function()
    local session, path = connect(), support.path()
    local mutex = session:mutex(path)
    local a, b, c = mutex:acquire(), mutex:acquire(), mutex:try_acquire()
    assert.is_false(rawequal(a, b))
    assert.is_true(a:release())
    assert.equal("released", a:state())
    assert.is_true(b:is_held())
    assert.is_true(c:release())
    assert.is_true(a:release()) -- twice is no second release
    assert.is_true(b:is_held())
    assert.equal(1, #support.zk():queue(path))
    assert.is_true(b:release { wait = true })
    assert.equal(0, #support.zk():queue(path))
    assert.equal(1, session:stats().grants)
  end)

  it("must release every lost guard before a fresh acquire works", function()
    local mutex = connect():mutex(support.path())
    local a, b = mutex:acquire(), mutex:acquire()
    support.lose(a)
    b:release()
    assert.equal("lost", select(3, mutex:acquire(1)))
    assert.equal("lost", select(3, mutex:with_lock(error)))
    assert.equal("lost", select(3, mutex:release()))
    assert.is_true(assert(mutex:acquire(30)):is_held())
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

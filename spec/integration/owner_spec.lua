local support = require "support"
local new_scheduler = require "support.scheduler".new
local connect, misuse = support.connect, support.misuse

-- Runs `fn` in a coroutine of its own, to its end.
local function in_task(fn)
  local co = coroutine.create(fn)
  local ok, problem = coroutine.resume(co)
  assert.is_true(ok, tostring(problem))
  assert.equal("dead", coroutine.status(co))
end

before_each(support.start)
after_each(support.finish)

describe("An owner that acquires again", function()
  it("gets another guard on the same hold", function()
    local path = support.path()
    local mutex = connect():mutex(path)
    local a = mutex:acquire()
    local b = mutex:acquire()
    local c = mutex:try_acquire()
    assert.is_false(rawequal(a, b))
    assert.equal(a:token(), b:token())
    assert.equal(a:token(), c:token())
    assert.equal(a.node, c.node)
    assert.equal(1, #support.zk():queue(path))
    assert.is_true(a:is_held() and b:is_held() and c:is_held())
  end)

  it("holds until its last guard is released, in any order", function()
    local path = support.path()
    local mutex = connect():mutex(path)
    local a, b, c = mutex:acquire(), mutex:acquire(), mutex:acquire()
    assert.is_true(a:release())
    assert.equal("released", a:state())
    assert.is_false(a:is_held())
    assert.is_true(b:is_held())
    assert.is_true(c:release())
    assert.is_true(a:release()) -- twice is no second release
    assert.is_true(b:is_held())
    assert.equal(1, #support.zk():queue(path))
    assert.is_true(b:release { wait = true })
    assert.equal(0, #support.zk():queue(path))
  end)

  it("may do so through another object on the same path (T7, T40)", function()
    local session, path = connect(), support.path()
    local a = session:mutex(path):acquire()
    local b, _, code = session:mutex(path):acquire(1)
    assert.is_table(b, code)
    assert.equal(a:token(), b:token())
    session:mutex(path):release()
    session:mutex(path):release()
    assert.equal("released", a:state())
    assert.equal("released", b:state())
    support.wait_for_queue(path, 0)
  end)

  it("is no grant of the server's", function()
    local session = connect()
    local mutex = session:mutex(support.path())
    local guard = mutex:acquire()
    local before = session:stats().grants
    for _ = 1, 100 do
      local again = mutex:acquire()
      again:release()
    end
    assert.equal(before, session:stats().grants)
    assert.is_true(guard:is_held())
  end)

  it("fails with lost after the hold was lost, until it is released (T4)",
    function()
      local path = support.path()
      local mutex = connect { session_timeout = 1 }:mutex(path)
      local guard = mutex:acquire()
      support.zk():delete(guard.node)
      support.wait_until(function() return not guard:is_held() end)
      for _, name in ipairs { "acquire", "try_acquire" } do
        local again, message, code = mutex[name](mutex)
        assert.is_nil(again)
        assert.equal("lost", code)
        local text = "zklock: the hold of " .. path .. " was lost: "
        assert.equal(text, message:sub(1, #text))
      end
      local ran = false
      local _, _, code = mutex:with_lock(function() ran = true end)
      assert.equal("lost", code)
      assert.is_false(ran)
      local _, _, why = guard:release()
      assert.equal("lost", why)
      local fresh = assert(mutex:acquire(30))
      assert.is_true(fresh:is_held())
      assert.is_true(fresh:token() > guard:token())
    end)

  it("must release every lost guard before a fresh acquire works", function()
    local mutex = connect { session_timeout = 1 }:mutex(support.path())
    local a, b = mutex:acquire(), mutex:acquire()
    support.zk():delete(a.node)
    support.wait_until(function() return not a:is_held() end)
    b:release()
    local _, _, code = mutex:acquire(1)
    assert.equal("lost", code)
    local released, _, why = mutex:release()
    assert.is_nil(released)
    assert.equal("lost", why)
    assert.is_true(assert(mutex:acquire(30)):is_held())
  end)

  it("is told deadlock where the lock is not reentrant", function()
    local path = support.path()
    local session = connect()
    local mutex = session:mutex(path, { reentrant = false })
    local guard = mutex:acquire()
    local begun = support.now()
    for _, name in ipairs { "acquire", "try_acquire" } do
      local again, message, code = mutex[name](mutex)
      assert.is_nil(again)
      assert.equal("deadlock", code)
      assert.equal("zklock: " .. path
        .. " is already held by the caller and not reentrant", message)
    end
    assert.is_true(support.now() - begun < support.slack)
    -- the object that asks decides
    assert.is_table((session:mutex(path):acquire(1)))
    assert.is_true(guard:is_held())
  end)

  it("is told deadlock by with_lock, too", function()
    local mutex = connect():mutex(support.path(), { reentrant = false })
    local ok, code = mutex:with_lock(function()
      local ran = false
      local _, _, why = mutex:with_lock(function() ran = true end)
      assert.is_false(ran)
      return why
    end)
    assert.is_true(ok)
    assert.equal("deadlock", code)
  end)
end)

describe("The owner", function()
  it("is the main program outside of coroutines", function()
    local mutex = connect():mutex(support.path())
    local a = mutex:acquire()
    local b = mutex:acquire(1)
    assert.equal(a:token(), b:token())
  end)

  it("is the coroutine: another one waits", function()
    local mutex = connect { loop = "poll" }:mutex(support.path())
    local guard = mutex:acquire()
    in_task(function()
      local mine, _, code = mutex:acquire(0.05)
      assert.is_nil(mine)
      assert.equal("timeout", code)
      local _, _, busy = mutex:try_acquire()
      assert.equal("busy", busy)
    end)
    guard:release()
    in_task(function() assert.is_true(mutex:acquire(30):release()) end)
  end)

  it("is the coroutine: each has its own re-entry", function()
    local mutex = connect { loop = "poll" }:mutex(support.path())
    in_task(function()
      local a, b = mutex:acquire(), mutex:acquire(1)
      assert.equal(a:token(), b:token())
      a:release()
      b:release()
    end)
  end)

  it("is what the option says, whatever runs", function()
    local mutex = connect { loop = "poll" }:mutex(support.path())
    local owners = { "name", 7, {}, print, true }
    for _, owner in ipairs(owners) do
      local a = mutex:acquire { owner = owner, timeout = 30 }
      in_task(function()
        local b = mutex:acquire { owner = owner, timeout = 1 }
        assert.is_table(b)
        assert.equal(a:token(), b:token())
        b:release()
      end)
      local _, _, code = mutex:try_acquire { owner = "somebody else" }
      assert.equal("busy", code)
      _, _, code = mutex:try_acquire()
      assert.equal("busy", code)
      assert.is_true(a:release())
    end
  end)

  it("of acquire_async is a new one each time, unless it is given", function()
    local session = connect()
    local mutex = session:mutex(support.path())
    local a, b, c, d
    mutex:acquire_async(nil, function(guard) a = guard end)
    support.step_until(session, function() return a end)
    mutex:acquire_async(0.05, function(_, _, code) b = code end)
    support.step_until(session, function() return b end)
    assert.equal("timeout", b)
    local _, _, code = mutex:try_acquire()
    assert.equal("busy", code) -- nor is it the caller's
    a:release()
    mutex:acquire_async({ owner = "me" }, function(guard) c = guard end)
    support.step_until(session, function() return c end)
    mutex:acquire_async({ owner = "me" }, function(guard) d = guard end)
    assert.is_nil(d) -- a callback runs in step(), never at once
    support.step_until(session, function() return d end)
    assert.equal(c:token(), d:token())
  end)

  it("contends with others of its session, in order of arrival", function()
    local scheduler = new_scheduler()
    local session = connect { loop = scheduler.adapter }
    local path = support.path()
    local mutex = session:mutex(path)
    local order, inside, most = {}, 0, 0
    for i = 1, 10 do
      scheduler:spawn(function()
        local guard = assert(mutex:acquire(30))
        inside = inside + 1
        most = math.max(most, inside)
        order[#order + 1] = i
        scheduler:sleep(0.002)
        inside = inside - 1
        guard:release()
      end)
    end
    assert.is_true(scheduler:run())
    assert.equal(1, most)
    assert.same({ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, order)
  end)

  it("is not kept alive by us when it is abandoned", function()
    local session = connect { loop = "poll" }
    local path = support.path()
    local mutex = session:mutex(path)
    local weak = setmetatable({}, { __mode = "k" })
    do
      local co = coroutine.create(function()
        local guard = mutex:acquire()
        coroutine.yield(guard.node)
      end)
      weak[co] = true
      coroutine.resume(co)
    end
    collectgarbage()
    collectgarbage()
    collectgarbage()
    assert.is_nil(next(weak))
    support.wait_for_queue(path, 0)
  end)

  it("does not pass its hold on to a coroutine that takes its place",
    function()
      local mutex = connect { loop = "poll" }:mutex(support.path())
      local kept
      in_task(function() kept = mutex:acquire() end)
      collectgarbage()
      for _ = 1, 50 do
        in_task(function()
          local _, _, code = mutex:try_acquire()
          assert.equal("busy", code)
        end)
      end
      assert.is_true(kept:is_held())
    end)
end)

describe("mutex:release", function()
  it("releases the caller's innermost hold", function()
    local path = support.path()
    local mutex = connect():mutex(path)
    local a, b = mutex:acquire(), mutex:acquire()
    assert.is_true(mutex:release())
    assert.equal("released", b:state())
    assert.equal("held", a:state())
    assert.is_true(mutex:release { wait = true })
    assert.equal("released", a:state())
    assert.equal(0, #support.zk():queue(path))
  end)

  it("passes over guards that were released by themselves", function()
    local mutex = connect():mutex(support.path())
    local a, b = mutex:acquire(), mutex:acquire()
    b:release()
    assert.is_true(mutex:release())
    assert.equal("released", a:state())
    assert.matches("is not held by the calling task",
      misuse(function() mutex:release() end))
  end)

  it("is misuse by one who does not hold", function()
    local session, path = connect { loop = "poll" }, support.path()
    local mutex = session:mutex(path)
    assert.equal(path .. " is not held by the calling task",
      misuse(function() mutex:release() end))
    local guard = mutex:acquire()
    in_task(function()
      assert.matches("is not held by the calling task",
        misuse(function() mutex:release() end))
      assert.matches("is not held by the calling task",
        misuse(function() session:mutex(path):release() end))
    end)
    assert.is_true(guard:is_held())
    assert.is_true(mutex:release())
    assert.matches("is not held", misuse(function() mutex:release() end))
  end)

  it("is no way to release another session's hold (T14)", function()
    local path = support.path()
    local guard = support.hold(path)
    assert.matches("is not held",
      misuse(function() connect():mutex(path):release() end))
    assert.is_true(guard:is_held())
  end)

  it("does not need the guard to be kept", function()
    local path = support.path()
    local mutex = connect():mutex(path)
    assert(mutex:acquire())
    collectgarbage()
    collectgarbage()
    assert.equal(1, #support.zk():queue(path))
    assert.is_true(mutex:release { wait = true })
    assert.equal(0, #support.zk():queue(path))
  end)
end)

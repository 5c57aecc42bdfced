local support = require "support"
local new_scheduler = require "support.scheduler".new
local connect, collect = support.connect, support.collect

-- What is for the user, not what ZooKeeper's client chats.
local function log_to(lines)
  return function(level, message)
    if level ~= "debug" then lines[#lines + 1] = level .. ": " .. message end
  end
end

before_each(support.start)
after_each(support.finish)

describe("The collector", function()
  it("releases a guard that nobody has any more, and it is logged", function()
    local lines, path = {}, support.path()
    local session = connect {
      log = log_to(lines),
    }
    do
      local guard = session:mutex(path):acquire()
      assert.is_true(guard:is_held())
    end
    collect()
    support.wait_for_queue(path, 0)
    session:step()
    assert.same({ "warn: a guard of " .. path
      .. " was collected without release, which ends its hold: keep the guard, "
      .. "and release it" }, lines)
  end)

  it("releases it though its owner's earlier guard is kept", function()
    local path, session = support.path(), connect { loop = "poll" }
    local kept
    coroutine.wrap(function()
      kept = session:mutex(path):acquire()
      kept:release()
      assert.is_true(session:mutex(path):acquire():is_held())
    end)()
    collect()
    support.wait_for_queue(path, 0)
    assert.is_false(kept:is_held())
  end)

  it("is not needed for a coroutine that dies of an error in with_lock",
    function()
      local mutex = connect():mutex(support.path())
      local task = coroutine.create(function()
        mutex:with_lock(function() error "ouch" end)
      end)
      assert.is_false(coroutine.resume(task))
      assert.is_table(mutex:acquire(2)) -- `task` is still referred to
      assert.equal("dead", coroutine.status(task))
    end)

  it("logs nothing about guards that were released, lost or closed",
    function()
      local lines = {}
      local session = connect { log = log_to(lines) }
      do
        session:mutex(support.path()):acquire():release()
        local guard = session:mutex(support.path()):acquire()
        support.zk():delete(guard.node)
        support.wait_until(function() return not guard:is_held() end)
        session:mutex(support.path()):try_acquire():release { wait = true }
      end
      collect()
      session:step()
      assert.matches("^warn: the hold of %S+ was lost: ",
        table.remove(lines, 1))
      assert.same({}, lines)
    end)

  it("leaves a hold alone whose lock and owner are still there", function()
    local path = support.path()
    local mutex = connect():mutex(path)
    assert.is_table((mutex:acquire()))
    collect()
    assert.equal(1, #support.zk():queue(path))
    assert.is_true(mutex:release())
  end)

  it("leaves a hold alone whose guard is still there", function()
    local path = support.path()
    local guard = connect():mutex(path):acquire()
    collect()
    assert.is_true(guard:is_held())
    assert.equal(1, #support.zk():queue(path))
  end)

  it("leaves a hold alone while one guard of it is there", function()
    local path = support.path()
    local session = connect()
    local guard
    do
      local mutex = session:mutex(path)
      guard = mutex:acquire()
      for _ = 1, 10 do mutex:acquire() end
    end
    collect()
    assert.is_true(guard:is_held())
    assert.equal(1, #support.zk():queue(path))
  end)

  it("does not make a multi forget that its hold was lost", function()
    local session = connect()
    local path = support.path()
    local function multi() return session:multi { session:mutex(path) } end
    local guard = assert(multi():acquire(30))
    support.zk():delete(guard.node)
    guard:on_lost(function() end)
    support.step_until(session, function() return not guard:is_held() end)
    collect()
    assert.equal("lost", select(3, multi():acquire(30)))
    guard:release()
    assert(multi():acquire(30)):release()
  end)

  it("does not keep lock objects, guards or paths", function()
    local session = connect()
    local weak = setmetatable({}, { __mode = "k" })
    for i = 1, 50 do
      local mutex = session:mutex(support.path(i))
      local guard = mutex:acquire()
      weak[mutex], weak[guard] = true, true
      guard:release()
    end
    session:mutex(support.path()):acquire():release { wait = true }
    collect()
    assert.is_nil(next(weak))
  end)

  it("passes a grant on that came for an abandoned coroutine", function()
    local path = support.path()
    local holder = support.hold(path)
    local scheduler = new_scheduler()
    local session = connect { loop = scheduler.adapter }
    do
      local task = scheduler:spawn(function()
        session:mutex(path):acquire()
      end)
      scheduler:turn()
      support.wait_for_queue(path, 2)
      scheduler.sleeping[task] = nil
    end
    holder:release { wait = true }
    support.wait_until(function()
      session:step()
      collect()
      return #support.zk():queue(path) == 0
    end, 5, "the abandoned node's end")
  end)

  if support.is_54 then
    it("need not run where a waiting coroutine is closed (T17)", function()
      local path = support.path()
      support.hold(path)
      local scheduler = new_scheduler()
      local session = connect { loop = scheduler.adapter }
      local task = scheduler:spawn(function()
        session:mutex(path):acquire()
      end)
      scheduler:turn()
      support.wait_for_queue(path, 2)
      collectgarbage "stop"
      assert.is_true(scheduler:kill(task))
      support.wait_for_queue(path, 1)
      collectgarbage "restart"
    end)
  end
end)

describe("An error in the middle of a wait", function()
  it("comes through, and leaves nothing behind (T17)", function()
    local path = support.path()
    local holder = support.hold(path)
    local problem, armed = { "an error of the loop" }, false
    local scheduler = new_scheduler()
    local adapter = {
      new = function(session)
        local real = scheduler.adapter.new(session)
        local wait = real.wait
        real.wait = function(w, timeout)
          wait(w, timeout)
          if armed then error(problem) end
        end
        return real
      end,
    }
    local session = connect { loop = adapter }
    armed = true
    scheduler:spawn(function()
      session:mutex(path):acquire()
    end)
    scheduler:spawn(function()
      support.wait_for_queue(path, 2)
      holder:release()
    end)
    local ok, what = pcall(scheduler.run, scheduler)
    assert.is_false(ok)
    assert.is_true(rawequal(problem, what))
    armed = false
    collectgarbage()
    collectgarbage()
    support.wait_for_queue(path, 0)
  end)

  it("leaves nothing behind wherever it strikes (T17)", function()
    local session = connect()
    local paths = {}
    for n = 1, 250 do
      local path = support.path()
      paths[n] = path
      -- In a function of its own, so that nothing of it stays on the stack.
      local function try()
        local mutex = session:mutex(path)
        debug.sethook(function()
          debug.sethook()
          error "struck"
        end, "", n)
        local guard = mutex:acquire(30)
        debug.sethook()
        guard:release()
      end
      pcall(try)
      debug.sethook()
    end
    collectgarbage()
    collectgarbage()
    for _ = 1, 10 do pcall(session.step, session) end
    collectgarbage()
    for _, path in ipairs(paths) do support.wait_for_queue(path, 0) end
    assert.is_true(session:mutex(support.path()):acquire(30):release())
  end)
end)

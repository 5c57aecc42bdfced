local sessions = require "integration.sessions"
local support = require "support"
local connect, collect = support.connect, support.collect

local path, lines

-- A log of what is for the user, not of what ZooKeeper's client chats.
local function log(level, message)
  if level ~= "debug" then lines[#lines + 1] = level .. ": " .. message end
end

before_each(function() path, lines = support.path(), {} end)

describe("The garbage collector", function()
  it("releases a guard that nobody has any more, and it is logged", function()
    local session = connect { log = log }
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
    local session, kept = connect { loop = "poll" }, nil
    coroutine.wrap(function()
      kept = session:mutex(path):acquire()
      kept:release()
      assert.is_true(session:mutex(path):acquire():is_held())
    end)()
    collect()
    support.wait_for_queue(path, 0)
    assert.is_false(kept:is_held())
  end)

  it("logs nothing about guards that were released, lost or closed (T14)",
    function()
      local session = connect { log = log }
      do
        session:mutex(support.path()):acquire():release()
        local guard = session:mutex(path):acquire()
        support.zk():delete(guard.node)
        support.wait_until(function() return not guard:is_held() end)
        session:mutex(support.path()):try_acquire():release { wait = true }
      end
      collect()
      session:step()
      assert.equal(1, #lines)
      assert.matches("^warn: the hold of %S+ was lost: ", lines[1])
    end)

  it("leaves a hold alone whose lock, or one of whose guards, is there",
    function()
      local session, other = connect(), support.path()
      local mutex = session:mutex(path)
      local guard
      assert.is_table((mutex:acquire()))
      do
        local locked = session:mutex(other)
        guard = locked:acquire()
        for _ = 1, 10 do locked:acquire() end
      end
      collect()
      assert.equal(1, #support.zk():queue(path))
      assert.equal(1, #support.zk():queue(other))
      assert.is_true(guard:is_held())
      assert.is_true(mutex:release())
    end)

  it("does not make a multi forget that its hold was lost", function()
    local session = connect()
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
end)

describe("A coroutine that waits", function()
  local scheduler, holder, session, task

  before_each(function()
    holder = support.hold(path)
    session, scheduler = sessions.in_loop()
    task = scheduler:spawn(function() session:mutex(path):acquire() end)
    scheduler:turn()
    support.wait_for_queue(path, 2)
  end)

  it("and is abandoned passes on a grant that comes for it", function()
    scheduler:forget(task)
    task = nil
    holder:release { wait = true }
    support.wait_until(function()
      session:step()
      collect()
      return #support.zk():queue(path) == 0
    end)
  end)

  if support.is_54 then
    it("and is closed needs no collector (T17)", function()
      collectgarbage "stop"
      assert.is_true(scheduler:kill(task))
      support.wait_for_queue(path, 1)
      collectgarbage "restart"
    end)
  end

  it("leaves no node behind if its loop raises an error (T17)",
    function()
      scheduler.problem = { "an error of the loop" }
      holder:release()
      local ok, what = pcall(scheduler.run, scheduler)
      assert.is_false(ok)
      assert.is_true(rawequal(scheduler.problem, what))
      scheduler.problem, task = nil, nil
      collect()
      support.wait_for_queue(path, 0)
    end)
end)

-- The loops of this process: poll, and one's own.
local support = require "support"
local new_scheduler = require "support.scheduler".new
local socket = require "socket"
local zklock = require "zklock"
local connect, misuse = support.connect, support.misuse

describe("The loop", function()
  before_each(support.start)
  after_each(support.finish)

  it("auto refuses to block a scheduler that it does not know", function()
    local session, path = connect(), support.path()
    local mutex = session:mutex(path)
    coroutine.wrap(function()
      for _, use in ipairs {
        function() mutex:acquire() end,
        function() mutex:acquire(0) end,
        function() mutex:try_acquire() end,
        function() mutex:with_lock(print) end,
        function() session:with_lock(path, print) end,
        function() zklock.connect(support.hosts) end,
      } do
        local text = misuse(use)
        assert.matches('loop = "poll"', text)
        assert.matches("adapter", text)
      end
    end)()
    assert.equal(0, #support.zk():queue(path))
    assert.is_true(mutex:acquire():release())
  end)

  it("auto lets coroutines do what does not wait", function()
    local session = connect()
    local mutex = session:mutex(support.path())
    local guard = mutex:acquire()
    local granted
    coroutine.wrap(function()
      assert.is_true(guard:is_held())
      assert.is_true(guard:lease() > 0)
      assert.is_true(guard:release())
      mutex:acquire_async(nil, function(mine) granted = mine end)
      session:step()
    end)()
    support.step_until(session, function() return granted end)
  end)

  it("poll blocks, in coroutines too", function()
    local mutex = connect { loop = "poll" }:mutex(support.path())
    coroutine.wrap(function()
      assert.is_true(assert(mutex:acquire(30)):release { wait = true })
    end)()
  end)

  it("of one's own suspends only the calling coroutine, in time", function()
    local path, scheduler = support.path(), new_scheduler()
    local holder, order = support.hold(path), {}
    scheduler:spawn(function()
      local session = support.closing(assert(zklock.connect(support.hosts,
        { loop = scheduler.adapter })))
      local took, _, _, code = support.timed(function()
        return session:mutex(path):acquire(0.2)
      end)
      order[#order + 1] = code
      assert.near(0.2, took, 0.02)
      local guard = assert(session:mutex(path):acquire(30))
      order[#order + 1] = "granted"
      assert.is_true(guard:is_held())
      assert.is_true(guard:release { wait = true })
    end)
    scheduler:spawn(function()
      scheduler:pause(0.1)
      order[#order + 1] = "another"
      scheduler:pause(0.4)
      order[#order + 1] = "released"
      holder:release()
    end)
    assert.is_true(scheduler:run())
    assert.same({ "another", "timeout", "released", "granted" }, order)
  end)

  it("may be a bare { wait =, wake = } that only sleeps", function()
    local path, scheduler = support.path(), new_scheduler()
    local holder, waited = support.hold(path), nil
    local bare = {
      wait = function(_, timeout)
        scheduler:pause(math.min(timeout or 1, 0.002))
      end,
      wake = function() end,
    }
    scheduler:spawn(function()
      local session = support.closing(assert(zklock.connect(support.hosts,
        { loop = bare, connect_timeout = 2 })))
      local guard = assert(session:mutex(path):acquire(30))
      waited = true
      assert.is_true(guard:verify())
      assert.is_true(guard:release { wait = true })
    end)
    scheduler:spawn(function()
      scheduler:pause(0.1)
      assert.is_nil(waited)
      holder:release()
    end)
    assert.is_true(scheduler:run())
    assert.is_true(waited)
  end)

  it("serves hundreds of coroutines on one path (T52)", function()
    local path, scheduler = support.path(), new_scheduler()
    local mutex = connect { loop = scheduler.adapter }:mutex(path)
    local granted, inside = 0, false
    for _ = 1, 500 do
      scheduler:spawn(function()
        local guard = assert(mutex:acquire(60))
        assert.is_false(inside)
        inside = true
        granted = granted + 1
        inside = false
        guard:release()
      end)
    end
    assert.is_true(scheduler:run(60))
    assert.equal(500, granted)
    support.wait_for_queue(path, 0)
  end)

  it("wakes through fd() and step() alone", function()
    local session, granted = connect(), nil
    local source = { getfd = function() return session:fd() end }
    while #socket.select({ source }, nil, 0) > 0 do session:step() end
    session:mutex(support.path()):acquire_async(nil, function(guard)
      granted = guard
    end)
    while not granted do
      assert.equal(1, #socket.select({ source }, nil, 5))
      session:step()
    end
    granted:release()
  end)
end)

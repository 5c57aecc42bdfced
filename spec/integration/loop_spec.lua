-- The loops of this process: poll, and one's own.
local support = require "support"
local new_scheduler = require "support.scheduler".new
local zklock = require "zklock"
local connect, misuse = support.connect, support.misuse

describe("The loop", function()
  before_each(support.start)
  after_each(support.finish)

  it("auto refuses to block a scheduler that it does not know", function()
    local session = connect()
    local mutex = session:mutex(support.path())
    local path = support.path()
    coroutine.wrap(function()
      local uses = {
        function() mutex:acquire() end,
        function() mutex:acquire(0) end,
        function() mutex:try_acquire() end,
        function() mutex:with_lock(print) end,
        function() session:with_lock(path, print) end,
        function() zklock.connect(support.hosts) end,
      }
      for _, use in ipairs(uses) do
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

  it("of one's own suspends only the calling coroutine", function()
    local path = support.path()
    local holder = support.hold(path)
    local scheduler = new_scheduler()
    local session = connect { loop = scheduler.adapter }
    local ticks, waited = 0, nil
    scheduler:spawn(function()
      local guard = assert(session:mutex(path):acquire(30))
      waited = ticks
      assert.is_true(guard:is_held())
      assert.is_true(guard:release { wait = true })
    end)
    scheduler:spawn(function()
      while not waited do
        ticks = ticks + 1
        if ticks == 20 then holder:release() end
        scheduler:sleep(0.002)
      end
    end)
    assert.is_true(scheduler:run())
    assert.is_true(waited >= 20)
  end)

  it("of one's own times out in time", function()
    local path = support.path()
    support.hold(path)
    local scheduler = new_scheduler()
    local session = connect { loop = scheduler.adapter }
    local took, code
    scheduler:spawn(function()
      local begun = support.now()
      code = select(3, session:mutex(path):acquire(0.2))
      took = support.now() - begun
    end)
    assert.is_true(scheduler:run())
    assert.equal("timeout", code)
    assert.is_true(took >= 0.2 and took < 0.2 + support.slack, took)
  end)

  it("may be a bare { wait =, wake = } that only sleeps", function()
    local path = support.path()
    local holder = support.hold(path)
    local scheduler = new_scheduler()
    local bare = {
      wait = function(_, timeout)
        scheduler:sleep(math.min(timeout or 1, 0.002))
      end,
      wake = function() end,
    }
    local waited
    scheduler:spawn(function()
      local session = support.closing(assert(zklock.connect(support.hosts,
        { loop = bare, connect_timeout = 2 })))
      local guard = assert(session:mutex(path):acquire(30))
      waited = true
      assert.is_true(guard:verify())
      assert.is_true(guard:release { wait = true })
    end)
    scheduler:spawn(function()
      scheduler:sleep(0.1)
      assert.is_nil(waited)
      holder:release()
    end)
    assert.is_true(scheduler:run())
    assert.is_true(waited)
  end)

  it("may connect in a coroutine", function()
    local scheduler = new_scheduler()
    local done
    scheduler:spawn(function()
      local session = support.closing(assert(zklock.connect(support.hosts,
        { loop = scheduler.adapter })))
      done = session:mutex(support.path()):acquire(30):release { wait = true }
    end)
    assert.is_true(scheduler:run())
    assert.is_true(done)
  end)

  it("serves hundreds of coroutines on one path (T52)", function()
    local scheduler = new_scheduler()
    local session = connect { loop = scheduler.adapter }
    local path = support.path()
    local mutex = session:mutex(path)
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
    local socket = require "socket"
    local session = connect()
    local source = { getfd = function() return session:fd() end }
    local granted
    while #socket.select({ source }, nil, 0) > 0 do session:step() end
    session:mutex(support.path()):acquire_async(nil, function(guard)
      granted = guard
    end)
    local is_over = support.patience(5)
    while not granted and not is_over() do
      if #socket.select({ source }, nil, 1) > 0 then session:step() end
    end
    assert.is_table(granted)
    granted:release()
  end)
end)

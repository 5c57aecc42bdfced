-- The loops of this process: poll, and one's own.
local sessions = require "integration.sessions"
local support = require "support"
local new_scheduler = require "support.scheduler".new
local zklock = require "zklock"
local connect, misuse = support.connect, support.misuse

describe("The loop", function()
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

  it("raises each error of a callback in a step of its own, then watches no "
    .. "descriptor", function()
    local session, scheduler = sessions.in_loop()
    local path, raised = support.path(), {}
    local problems = { "ouch", { code = 42 }, {} }
    for i = 1, 3 do
      session:mutex(path .. i):acquire_async(nil, function(guard)
        guard:release()
        error(problems[i], 0)
      end)
    end
    support.advance(1) -- the first step calls all three callbacks
    for _ = 1, 10 do
      local ok, problem = pcall(scheduler.turn, scheduler)
      raised[#raised + 1] = not ok and problem or nil
    end
    assert.matches("^ouch\n", raised[1])
    for i = 2, 3 do assert.is_true(rawequal(problems[i], raised[i])) end
    assert.equal(3, #raised)
    assert.same({}, scheduler.sources)
  end)

  it("watches the descriptor while a hold has a listener, and no longer",
    function()
      local session, scheduler = sessions.in_loop()
      local mutex, reason = session:mutex(support.path()), nil
      local function hold()
        local guard = assert(mutex:acquire(30))
        assert.equal(0, #scheduler.sources)
        guard:on_lost(function(_, why) reason = why end)
        assert.equal(1, #scheduler.sources)
        return guard
      end
      hold():release()
      assert.equal(0, #scheduler.sources)
      local guard = hold()
      support.zk():delete(guard.node)
      scheduler:run_until(function() return reason end)
      assert.equal(0, #scheduler.sources)
      guard:release()
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
end)

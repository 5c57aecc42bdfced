local support = require "support"
local new_scheduler = require "support.scheduler".new
local zklock = require "zklock"
local connect, misuse = support.connect, support.misuse

before_each(support.start)
after_each(support.finish)

describe("session:close", function()
  it("ends the ZooKeeper session and everything of it", function()
    local path = support.path()
    local session = connect { session_timeout = 60 }
    local guard = session:mutex(path):acquire()
    assert.is_true(session:close())
    assert.is_false(support.zk():exists(guard.node))
    assert.is_false(guard:is_held())
    assert.equal("closed", session:state())
    -- not by its timeout: at once
    assert.is_true(support.hold(path):is_held())
  end)

  it("is idempotent", function()
    local session = connect()
    for _ = 1, 3 do assert.is_true(session:close()) end
  end)

  it("is quick", function()
    local session = connect()
    session:mutex(support.path()):acquire()
    local begun = support.now()
    session:close()
    assert.is_true(support.now() - begun < support.slack, support.now() - begun)
  end)

  it("leaves no thread and no descriptor, fifty times", function()
    local fds, threads = support.count_fds(), support.count_threads()
    for _ = 1, 50 do
      local session = connect()
      session:mutex(support.path()):acquire(30)
      session:close()
      assert.equal(threads, support.count_threads())
      assert.equal(fds, support.count_fds())
    end
  end)

  it("makes guards that are not held, and release true", function()
    local session = connect()
    local mutex = session:mutex(support.path())
    local a, b = mutex:acquire(), mutex:acquire()
    local called = false
    a:on_lost(function() called = true end)
    session:close()
    assert.is_false(a:is_held())
    assert.equal(0, a:lease())
    assert.equal("released", a:state())
    assert.equal("closed", (select(3, a:verify())))
    assert.is_true(a:release())
    assert.is_true(b:release { wait = true })
    assert.is_false(called) -- close is a release of ours
  end)

  it("lets a hold that was lost before stay lost", function()
    local session = connect()
    local guard = session:mutex(support.path()):acquire()
    support.zk():delete(guard.node)
    support.wait_until(function() return not guard:is_held() end)
    session:step()
    session:close()
    assert.equal("lost", guard:state())
    assert.equal("lost", (select(3, guard:release())))
  end)

  it("lets a hold that was lost before stay lost, told or not", function()
    local session = connect()
    local guard = session:mutex(support.path()):acquire()
    support.zk():delete(guard.node)
    support.wait_until(function() return guard:state() == "lost" end)
    session:close()
    assert.equal("lost", (select(3, guard:release())))
  end)

  it("wakes asynchronous waiters with closed, before it returns (T35)",
    function()
      local path = support.path()
      support.hold(path)
      local session = connect()
      local codes, messages = {}, {}
      for i = 1, 3 do
        session:mutex(path):acquire_async(nil, function(guard, message, code)
          assert.is_nil(guard)
          codes[i], messages[i] = code, message
        end)
      end
      support.wait_for_queue(path, 4)
      session:close()
      assert.same({ "closed", "closed", "closed" }, codes)
      assert.equal("zklock: the session was closed while waiting for " .. path,
        messages[1])
      support.wait_for_queue(path, 1)
    end)

  it("wakes coroutines that wait with closed (T35)", function()
    local path = support.path()
    support.hold(path)
    local scheduler = new_scheduler()
    local session = connect { loop = scheduler.adapter }
    local codes = {}
    for i = 1, 3 do
      scheduler:spawn(function()
        codes[i] = select(3, session:mutex(path):acquire())
      end)
    end
    scheduler:spawn(function()
      scheduler:sleep(0.1)
      session:close()
    end)
    assert.is_true(scheduler:run())
    assert.same({ "closed", "closed", "closed" }, codes)
    support.wait_for_queue(path, 1)
  end)

  it("in a loop returns at once, even if no server answers", function()
    local scheduler = new_scheduler()
    local proxy = require "support.proxy".start()
    local session = connect { hosts = proxy.hosts, session_timeout = 2,
      loop = scheduler.adapter }
    local took
    scheduler:spawn(function()
      session:mutex(support.path()):acquire()
      proxy:freeze()
      local begun = support.now()
      session:close()
      took = support.now() - begun
    end)
    assert.is_true(scheduler:run())
    assert.is_true(took < support.slack, took)
    proxy:heal()
    proxy:cut()
  end)

  it("wakes one who waits in poll, from a callback", function()
    local path = support.path()
    support.hold(path)
    local session = connect()
    session:mutex(support.path()):acquire_async(nil, function()
      session:close()
    end)
    local guard, message, code = session:mutex(path):acquire(30)
    assert.is_nil(guard)
    assert.equal("closed", code)
    assert.matches("was closed", message)
  end)

  it("ends a release and a verify that wait", function()
    local scheduler = new_scheduler()
    local session = connect { loop = scheduler.adapter }
    local mutex = session:mutex(support.path())
    local other = session:mutex(support.path())
    local released, verified, held
    scheduler:spawn(function()
      local guard = assert(mutex:acquire())
      held = true
      released = select(3, guard:release { wait = true }) or "true"
    end)
    scheduler:spawn(function()
      local guard = assert(other:acquire())
      while not held do scheduler:sleep(0.001) end
      scheduler:spawn(function() session:close() end)
      verified = select(3, guard:verify()) or "true"
    end)
    assert.is_true(scheduler:run())
    assert.is_true(released == "true" or released == "closed")
    assert.is_true(verified == "true" or verified == "closed")
  end)

  it("between two questions of one call makes it return closed", function()
    local scheduler = new_scheduler()
    local new, asks, woken = scheduler.adapter.new, false, false
    function scheduler.adapter.new(session)
      local adapter = new(session)
      local wake = adapter.wake
      function adapter.wake(w)
        woken = asks
        wake(w)
      end
      return adapter
    end
    local session = connect { loop = scheduler.adapter }
    local guard = assert(session:mutex(support.path()):acquire(30))
    local code
    local function close() -- before the task that is woken in the same turn
      while not woken do
        scheduler:resume(coroutine.running())
        coroutine.yield()
      end
      session:close()
    end
    scheduler:spawn(function()
      asks = true
      code = select(3, session:revoke(guard.path))
    end)
    scheduler:spawn(close)
    assert.is_true(scheduler:run())
    assert.equal("closed", code)
  end)

  it("tells it: the event closed, once", function()
    local events = {}
    local session = connect {
      on_event = function(event) events[#events + 1] = event end,
    }
    session:on("closed", function(event, mine)
      events[#events + 1] = "on " .. event
      assert.is_true(rawequal(session, mine))
      assert.equal("closed", mine:state())
    end)
    session:close()
    session:close()
    assert.same({ "connected", "on closed", "closed" }, events)
  end)

  it("tells of every loss before closed, and of nothing after", function()
    local told = {}
    local function tell(what) return function() told[#told + 1] = what end end
    local session = connect { on_event = function(event) tell(event)() end }
    local guards = {}
    for i = 1, 3 do
      guards[i] = session:mutex(support.path(i)):acquire()
      guards[i]:on_lost(tell("lost " .. i))
      guards[i]:on_revoke(tell("revoked " .. i))
    end
    for i = 1, 2 do support.zk():delete(guards[i].node) end
    support.zk():set(guards[3].node, "__REVOKE__")
    support.wait_until(function()
      return guards[1]:state() == "lost" and guards[2]:state() == "lost"
    end)
    session:close()
    session:step()
    assert.same({ "connected", "lost 1", "lost 2", "closed" }, told)
    assert.equal("released", guards[3]:state())
  end)

  it("goes through callbacks that raise", function()
    local path = support.path()
    support.hold(path)
    local session = connect()
    local called = 0
    for _ = 1, 3 do
      session:mutex(path):acquire_async(nil, function()
        called = called + 1
        error "ouch"
      end)
    end
    session:on("closed", function() error "ouch" end)
    pcall(session.close, session)
    assert.equal(3, called)
    assert.equal("closed", session:state())
  end)

  it("may be called by a callback that close itself runs", function()
    local path = support.path()
    support.hold(path)
    local session = connect()
    local codes = {}
    for _ = 1, 2 do
      session:mutex(path):acquire_async(nil, function(_, _, code)
        codes[#codes + 1] = code
        session:close()
      end)
    end
    session:on("closed", function() session:close() end)
    session:close()
    assert.same({ "closed", "closed" }, codes)
  end)

  it("leaves nothing of creates under way (T25)", function()
    local path = support.path()
    for i = 1, 60 do
      local session = connect()
      for _ = 1, 5 do
        session:mutex(path):acquire_async(nil, function() end)
      end
      support.sleep(i % 10 * 0.0003)
      session:close()
    end
    support.wait_for_queue(path, 0)
  end)

  it("is clean with a thousand operations under way (T50)", function()
    local session = connect()
    local codes = 0
    for i = 1, 1000 do
      session:mutex(support.path(i % 50)):acquire_async(nil, function()
        codes = codes + 1
      end)
    end
    session:close()
    assert.equal(1000, codes)
  end)

  it("does what was released just before", function()
    local path = support.path()
    local session = connect { session_timeout = 60 }
    session:mutex(path):acquire():release()
    session:close()
    support.wait_for_queue(path, 0)
  end)

  if support.is_54 then
    it("happens at the end of a <close> block", function()
      local session
      load [[
        local connect, keep = ...
        local session <close> = connect()
        keep(session)
      ]](function() return assert(zklock.connect(support.hosts)) end,
        function(mine) session = mine end)
      assert.equal("closed", session:state())
    end)
  end

  it("happens to a session that nobody has any more", function()
    local path = support.path()
    do
      local session = assert(zklock.connect(support.hosts,
        { session_timeout = 60 }))
      session:mutex(path):acquire_async(nil, function() end)
      session:step()
    end
    collectgarbage()
    collectgarbage()
    collectgarbage()
    support.wait_for_queue(path, 0)
  end)
end)

describe("After close", function()
  it("every new use raises, with the caller's line", function()
    local session = connect()
    local mutex = session:mutex(support.path())
    session:close()
    local path = support.path()
    local uses = {
      function() mutex:acquire() end,
      function() mutex:acquire(0) end,
      function() mutex:try_acquire() end,
      function() mutex:acquire_async(nil, print) end,
      function() mutex:with_lock(print) end,
      function() mutex:cancel() end,
      function() session:mutex(path) end,
      function() session:with_lock(path, print) end,
      function() session:on("closed", print) end,
      function() session:timeout() end,
      function() session:fd() end,
    }
    for _, use in ipairs(uses) do
      assert.equal("the session is closed", misuse(use))
    end
    assert.equal("closed", session:state())
  end)

  it("mutex:release of a hold is true, of none is misuse", function()
    local session = connect()
    local mutex = session:mutex(support.path())
    mutex:acquire()
    session:close()
    assert.is_true(mutex:release())
    assert.matches("is not held by the calling task",
      misuse(function() mutex:release() end))
  end)

  it("step() is harmless", function()
    local session = connect()
    session:close()
    session:step()
  end)
end)

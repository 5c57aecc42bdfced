local kinds = require "integration.family.kinds"
local new_scheduler = require "support.scheduler".new
local sessions = require "integration.sessions"
local support = require "support"
local zklock = require "zklock"
local connect, misuse = support.connect, support.misuse

local path

before_each(function() path = support.path() end)

describe("session:close", function()
  it("makes guards that are not held, and release true", function()
    local session = connect()
    local mutex = session:mutex(path)
    local a, b = mutex:acquire(), mutex:acquire()
    a:on_lost(function() error "lost" end) -- close is a release of ours
    session:close()
    assert.same({ false, 0, "released" }, { a:is_held(), a:lease(),
      a:state() })
    assert.equal("closed", (select(3, a:verify())))
    assert.is_true(a:release())
    assert.is_true(b:release { wait = true })
    assert.matches("is not held by the calling task",
      misuse(function() mutex:release() end))
    session = connect()
    mutex = session:mutex(path)
    mutex:acquire()
    session:close()
    assert.is_true(mutex:release())
  end)

  it("ends all waits with closed before it returns (T35)", function()
    support.hold(path)
    local session, scheduler = sessions.in_loop()
    local closed = { nil, "zklock: the session was closed while waiting for "
      .. path, "closed" }
    local calls, callback = support.recorder()
    for _ = 1, 2 do
      session:mutex(path):acquire_async(nil, callback)
      scheduler:spawn(function() callback(session:mutex(path):acquire()) end)
    end
    scheduler:spawn(function()
      support.wait_for_queue(path, 5)
      session:close()
      assert.same({ closed, closed }, calls)
    end)
    assert.is_true(scheduler:run())
    assert.same({ closed, closed, closed, closed }, calls)
    support.wait_for_queue(path, 1)
  end)

  it("wakes one who waits in poll, from a callback", function()
    support.hold(path)
    local session = connect()
    session:mutex(support.path()):acquire_async(nil, function()
      session:close()
    end)
    assert.matches("was closed",
      kinds.refused("closed", session:mutex(path):acquire(30)))
  end)

  it("ends a release and a verify that wait, though no server answers",
    function()
      local proxy = require "support.proxy".start()
      local session, scheduler = sessions.in_loop { hosts = proxy.hosts,
        session_timeout = 2 }
      local calls, callback = support.recorder()
      for name, options in pairs { release = { wait = true },
          verify = false } do
        scheduler:spawn(function()
          local guard = assert(session:mutex(support.path()):acquire())
          scheduler:pause(0.1)
          proxy:freeze()
          callback(select(3, guard[name](guard, options or nil)))
        end)
      end
      scheduler:spawn(function()
        scheduler:pause(0.2)
        local begun = support.now()
        session:close()
        assert(support.now() - begun < 0.01)
      end)
      assert.is_true(scheduler:run())
      assert.same({ { "closed" }, { "closed" } }, calls)
      proxy:heal()
      proxy:cut()
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
    local guard = assert(session:mutex(path):acquire(30))
    local code
    scheduler:spawn(function()
      asks = true
      code = select(3, session:revoke(guard.path))
    end)
    scheduler:spawn(function() -- before the task that is woken in the same turn
      while not woken do
        scheduler:resume(coroutine.running())
        coroutine.yield()
      end
      session:close()
    end)
    assert.is_true(scheduler:run())
    assert.equal("closed", code)
  end)

  it("tells of every loss before closed, once, and of nothing after",
    function()
      local told, guards = {}, {}
      local function tell(what) return function() told[#told + 1] = what end end
      local session = connect { on_event = function(event) tell(event)() end }
      session:on("closed", function(event, mine)
        tell("on " .. event)()
        assert.is_true(rawequal(session, mine))
        assert.equal("closed", mine:state())
      end)
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
      session:close()
      session:step()
      assert.same({ "connected", "lost 1", "lost 2", "on closed", "closed" },
        told)
      assert.equal("released", guards[3]:state())
    end)

  it("may be called by a callback that close itself runs (T50), or that raises",
    function()
      support.hold(path)
      for _, raises in ipairs { false, true } do
        local session, codes = connect(), {}
        local function tell(_, _, code)
          codes[#codes + 1] = code
          if raises then error "ouch" end
          session:close()
        end
        for _ = 1, 3 do session:mutex(path):acquire_async(nil, tell) end
        session:on("closed", tell)
        assert.is_true(session:close())
        assert.same({ "closed", "closed", "closed" }, codes)
        assert.equal("closed", session:state())
      end
    end)

  it("does what was released just before", function()
    local session, zk, held = connect(), support.zk(), support.path()
    for _, directory in ipairs { path, held } do zk:make(directory) end
    support.keep(session:mutex(held):acquire())
    session:mutex(path):acquire():release()
    session:close()
    -- The end of the session deletes the node that is held, after the other.
    assert.same({ {}, {} }, { zk:children(path), zk:children(held) })
    assert.is_true(zk:exists(path).pzxid < zk:exists(held).pzxid)
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
    do
      local session = assert(zklock.connect(support.hosts,
        { session_timeout = 60 }))
      session:mutex(path):acquire_async(nil, function() end)
      session:step()
    end
    support.collect()
    support.wait_for_queue(path, 0)
  end)
end)

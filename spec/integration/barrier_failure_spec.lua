-- Barriers and what may befall who sets, lifts or waits for one: connections,
-- sessions, tasks, processes.
local mishaps = require "support.mishaps"
local new_scheduler = require "support.scheduler".new
local seize = require "support.seizure".seize
local spawn = require "support.child".spawn
local start_proxy = require "support.proxy".start
local support = require "support"
local waits = require "zklock.wait"
local connect = support.connect
local await_state = mishaps.await_state
local connect_through = mishaps.connect_through

-- A callback that keeps what it is called with.
local function recorder()
  local calls = {}
  return calls, function(...) calls[#calls + 1] = { ... } end
end

local function await_watches(path, n)
  support.wait_until(function() return support.count_watches(path) == n end, 5,
    ("%d watches of %s"):format(n, path))
end

-- Nothing is awaited, and nothing watched, by a session that goes on.
local function check_idle(session, path)
  support.step_until(session, function()
    return not waits.any(session._engine.waits.answers)
      and session:stats().watches == 0
  end, 5, "a session that waits for nothing")
  await_watches(path, 0)
  assert.is_true(session:barrier(path):is_set() ~= nil)
end

before_each(support.start)
after_each(support.finish)

describe("Without a connection a barrier", function()
  it("is not set, lifted or asked for: disconnected", function()
    local proxy, path = start_proxy(), support.path()
    local session = connect_through(proxy)
    local barrier = session:barrier(path)
    assert.is_true(barrier:set())
    proxy:refuse()
    await_state(session, "suspended")
    local function refused(sentence, _, message, code)
      assert.equal("disconnected", code)
      assert.truthy(message:find("no server " .. sentence
        .. " (last error: ", 1, true), message)
    end
    local doubt = ", though it may have been done"
    refused("has confirmed the barrier " .. path .. doubt, barrier:set())
    refused("has confirmed the lifting of the barrier " .. path .. doubt,
      barrier:lift())
    refused("could be asked what is at " .. path, barrier:is_set())
    assert.is_table(support.zk():exists(path))
    proxy:heal()
    await_state(session, "connected")
    assert.same({ true, true }, { barrier:lift() })
  end)

  it("may have been set or lifted where the answer was lost", function()
    local proxy, path, zk = start_proxy(), support.path(), support.zk()
    local session = connect_through(proxy)
    local barrier = session:barrier(path)
    zk:make((path:match "^(.*)/"))
    proxy:lose_reply "create_if"
    assert.equal("disconnected", select(3, barrier:set()))
    proxy:await_loss()
    proxy:heal()
    await_state(session, "connected")
    assert.is_table(zk:exists(path))
    assert.same({ true, false }, { barrier:set() })
    proxy:lose_reply "delete_if"
    assert.equal("disconnected", select(3, barrier:lift()))
    proxy:await_loss()
    proxy:heal()
    await_state(session, "connected")
    assert.is_false(zk:exists(path))
    assert.same({ true, false }, { barrier:lift() })
  end)

  it("lets nobody pass: disconnected, after as long as was said", function()
    local proxy, path = start_proxy(), support.path()
    local session = connect_through(proxy, { session_timeout = 4 })
    local barrier = session:barrier(path) -- nobody has set it
    proxy:refuse()
    await_state(session, "suspended")
    for seconds, within in pairs { [0.2] = " within 0.2 s", [0] = "" } do
      local begun = support.now()
      local ok, message, code = barrier:wait(seconds)
      assert.is_nil(ok)
      assert.equal("disconnected", code)
      local text = ("zklock: no server of %s answered%s, waiting for the "
        .. "barrier %s to be lifted"):format(proxy.hosts, within, path)
      assert.equal(text, message:sub(1, #text))
      assert.is_true(support.now() - begun >= seconds)
    end
    local calls, callback = recorder()
    barrier:wait_async(callback)
    proxy:heal()
    support.step_until(session, function() return calls[1] end, 10)
    assert.same({ { true } }, calls)
  end)
end)

describe("Who waits at a barrier", function()
  -- Behind a wire, at a barrier that is set.
  local function open(options)
    local proxy, path = start_proxy(), support.path()
    local session = connect_through(proxy, options)
    local calls, callback = recorder()
    support.zk():make(path)
    session:barrier(path):wait_async(callback)
    await_watches(path, 1)
    support.wait_until(function() return session:stats().in_flight == 0 end)
    return session, path, proxy, calls
  end

  local function passes(session, calls)
    support.step_until(session, function() return calls[1] end, 15)
    assert.same({ { true } }, calls)
  end

  it("goes on through reconnections while it is set", function()
    local session, path, proxy, calls = open()
    for i = 1, 3 do
      proxy:cut()
      support.until_state(session, "connected", { reconnects = i })
      await_watches(path, 1)
    end
    assert.same({}, calls)
    support.zk():delete(path)
    passes(session, calls)
  end)

  it("passes if it was lifted while there was no connection", function()
    local session, path, proxy, calls = open()
    proxy:refuse()
    await_state(session, "suspended")
    support.zk():delete(path)
    session:step()
    assert.same({}, calls)
    proxy:heal()
    passes(session, calls)
  end)

  it("passes if it was lifted and set anew meanwhile, and the next does not",
    function()
      local session, path, proxy, calls = open()
      proxy:refuse()
      await_state(session, "suspended")
      support.zk():delete(path)
      support.zk():create(path)
      local later, callback = recorder()
      session:barrier(path):wait_async(callback)
      proxy:heal()
      passes(session, calls)
      await_watches(path, 1)
      session:step()
      assert.same({}, later)
      support.zk():delete(path)
      passes(session, later)
    end)

  it("costs two requests and one watch after a reconnection, with a thousand",
    function()
      local session, path, proxy, calls = open()
      local barrier, passed = session:barrier(path), 0
      for _ = 1, 1000 do
        barrier:wait_async(function() passed = passed + 1 end)
      end
      support.wait_until(function()
        session:step()
        return session:stats().in_flight == 0
      end)
      local watches = session:stats().watches
      proxy:refuse()
      await_state(session, "suspended")
      local function asked(beats, nudges)
        return session:stats().requests - beats - nudges
      end
      local before = support.while_quiet({ session }, asked)
      proxy:heal()
      await_state(session, "connected")
      await_watches(path, 1)
      local after = support.while_quiet({ session }, asked)
      assert.equal(2, after - before) -- a proof, and a read
      assert.equal(watches, session:stats().watches)
      assert.same({ 0, {} }, { passed, calls })
      support.zk():delete(path)
      passes(session, calls)
      support.step_until(session, function() return passed == 1000 end)
      assert.equal(0, session:stats().watches)
    end)

  it("goes on in a new session when the old one is over", function()
    local session, path, proxy, calls = open()
    for i = 1, 2 do
      local id = session:id()
      proxy:refuse()
      await_state(session, "suspended")
      assert.is_true(seize(support.hosts, id))
      proxy:heal()
      support.step_until(session, function()
        return session:stats().expiries == i and session:state() == "connected"
      end, 15)
      assert.are_not.equal(id, session:id())
      await_watches(path, 1)
      assert.same({}, calls)
    end
    support.zk():delete(path)
    passes(session, calls)
  end)

  it("has a time limit that goes on, whatever happens", function()
    local session, path, proxy = open()
    local calls, callback = recorder()
    local begun = support.now()
    session:barrier(path):wait_async(0.5, callback)
    proxy:cut()
    support.step_until(session, function() return calls[1] end)
    assert.is_true(support.now() - begun >= 0.5)
    -- (The connection may not be back by then.)
    assert.matches("^%w+$", calls[1][3])
    assert.is_true(calls[1][3] == "timeout" or calls[1][3] == "disconnected")
  end)

  it("may be stopped for longer than its session lives", function()
    local path = support.path()
    local child = spawn([[
      local session = assert(zklock.connect(hosts, { session_timeout = 1 }))
      local barrier = session:barrier((...))
      assert(barrier:set())
      say "waiting"
      say(barrier:wait(60))
      say(session:stats().expiries > 0)
      session:close()
    ]], path)
    child:expect "waiting"
    await_watches(path, 1)
    child:signal "STOP"
    await_watches(path, 0) -- its session is over
    support.zk():delete(path)
    support.zk():create(path)
    child:signal "CONT"
    child:expect "true" -- it was lifted meanwhile
    child:expect "true"
    assert.equal(0, child:wait())
  end)

  it("may be killed: nothing is left", function()
    local path = support.path()
    local child = spawn([[
      local session = assert(zklock.connect(hosts, { session_timeout = 1 }))
      local barrier = session:barrier((...))
      assert(barrier:set())
      say "waiting"
      barrier:wait()
    ]], path)
    child:expect "waiting"
    await_watches(path, 1)
    child:signal "KILL"
    await_watches(path, 0)
    assert.is_table(support.zk():exists(path)) -- it is still set
  end)
end)

describe("A task that waits at a barrier, and never goes on,", function()
  local function abandon(end_it)
    local path, scheduler = support.path(), new_scheduler()
    local session = connect { loop = scheduler.adapter }
    support.zk():make(path)
    do
      local task = scheduler:spawn(function()
        session:barrier(path):wait()
      end)
      scheduler:turn()
      await_watches(path, 1)
      scheduler.sleeping[task] = nil
      end_it(path, task)
    end
    session:step()
    support.collect()
    check_idle(session, path)
  end

  -- (Until then it could be woken.)
  it("is collected when the barrier is lifted", function()
    abandon(function(path)
      support.zk():delete(path)
      await_watches(path, 0)
    end)
  end)

  if support.is_54 then
    it("leaves no watch when it is closed", function()
      abandon(function(_, task)
        assert(coroutine.close(task))
      end)
    end)
  end

  -- (On 5.1 there is nothing that ends a task's wait but what it waits for.)
  local it_ends = support.is_51 and function() end or it

  it_ends("leaves no watch when its loop raises", function()
    local path, problem, scheduler = support.path(), {}, new_scheduler()
    local armed = false
    local session = connect { loop = { new = function(mine)
      local real = scheduler.adapter.new(mine)
      local wait = real.wait
      real.wait = function(w, timeout)
        wait(w, timeout)
        if armed then error(problem) end
      end
      return real
    end } }
    support.zk():make(path)
    armed = true
    local task = scheduler:spawn(function() session:barrier(path):wait() end)
    scheduler:turn()
    await_watches(path, 1)
    scheduler:resume(task)
    local ok, raised = pcall(scheduler.run, scheduler)
    assert.is_false(ok)
    assert.is_true(rawequal(problem, raised))
    armed = false
    support.collect()
    await_watches(path, 0)
  end)

  it("leaves no watch when Ctrl-C ends the wait", function()
    local path = support.path()
    local child = spawn([[
      local session = assert(zklock.connect(hosts, { session_timeout = 60 }))
      local barrier = session:barrier((...))
      assert(barrier:set())
      say "waiting"
      local ok, problem = pcall(barrier.wait, barrier)
      say(ok, tostring(problem):match "interrupted!$" or problem)
      hear()
      say(barrier:lift())
      say(barrier:wait())
      session:close()
    ]], path)
    child:expect "waiting"
    await_watches(path, 1)
    child:signal "INT"
    child:expect "false\tinterrupted!"
    await_watches(path, 0)
    assert.is_table(support.zk():exists(path))
    child:say()
    child:expect "true\ttrue"
    child:expect "true"
    assert.equal(0, child:wait())
  end)
end)

describe("A session's barrier", function()
  it("is not a child process's to ask for", function()
    local ok, unistd = pcall(require, "posix.unistd")
    if not (ok and unistd.fork) then return end
    local child = spawn([[
      local unistd = require "posix.unistd"
      local session = assert(zklock.connect(hosts))
      local barrier = session:barrier((...))
      local ticket
      assert(barrier:set())
      ticket = barrier:wait_async(function() end)
      local parent = unistd.getpid()
      if unistd.fork() == 0 then
        local text = "zklock: this session belongs to process " .. parent
        for name, call in pairs {
          set = function() barrier:set() end,
          lift = function() barrier:lift() end,
          is_set = function() barrier:is_set() end,
          wait = function() barrier:wait() end,
          wait_async = function() barrier:wait_async(print) end,
          cancel = function() barrier:cancel() end,
          ticket = function() ticket:cancel() end,
        } do
          local fine, message = pcall(call)
          if fine or not message:find(text, 1, true) then
            say("wrong", name, fine, message)
          end
        end
        barrier, ticket, session = nil, nil, nil
        collectgarbage()
        collectgarbage()
        os.exit(0)
      end
      require "posix.sys.wait".wait()
      hear()
      repeat session:step() until session:stats().watches == 1
      say(session:stats().watches, barrier:lift())
      session:close()
    ]], support.path())
    child:say()
    child:expect "1\ttrue\ttrue"
    assert.equal(0, child:wait())
  end)
end)


-- Barriers: set, lifted, and waited for.  (Failures: barrier_failure_spec.lua.)
local new_scheduler = require "support.scheduler".new
local raw = require "support.raw"
local spawn = require "support.child".spawn
local support = require "support"
local connect, misuse = support.connect, support.misuse

-- A callback that keeps what it is called with.
local function recorder()
  local calls = {}
  return calls, function(...) calls[#calls + 1] = { ... } end
end

-- Steps for a while, in which none of these is called.
local function nobody(session, calls)
  for _ = 1, 20 do
    session:step()
    support.sleep(0.003)
  end
  assert.same({}, calls)
end

local function nothing() end

-- Sessions that watch the node.
local function count_watchers(path)
  local n, is_of_path = 0, false
  for line in raw.word(support.hosts, "wchp"):gmatch "[^\n]+" do
    if line:sub(1, 1) == "/" then is_of_path = line == path end
    if line:find "^\t" and is_of_path then n = n + 1 end
  end
  return n
end

local function await_watches(path, n)
  support.wait_until(function() return count_watchers(path) == n end, 5,
    ("%d watches of %s"):format(n, path))
end

before_each(support.start)
after_each(support.finish)

describe("A barrier", function()
  it("is a persistent node with our data, below containers", function()
    local session, zk = connect(), support.zk()
    local path = support.path() .. "/above/barrier"
    local barrier = session:barrier(path)
    assert.equal(path, barrier.path)
    assert.equal("zklock barrier " .. path, tostring(barrier))
    assert.is_true(barrier:set())
    local data, stat = zk:get(path)
    assert.equal("0x", stat.owner)
    assert.matches(":" .. support.pid() .. "$", data)
    session:close()
    assert.is_table(zk:exists(path))
    zk:delete(path)
    support.wait_until(function() -- (no other directory is reaped)
      return not zk:exists((path:match "^(.*)/"))
    end)
  end)

  it("says whether it was set before, and does nothing twice", function()
    local one, path = connect(), support.path()
    local barrier, other = one:barrier(path), connect():barrier(path)
    assert.same({ true, false }, { barrier:lift() })
    assert.is_false(barrier:is_set())
    assert.same({ true, true }, { barrier:set() })
    local set_by = support.zk():exists(path).czxid
    assert.same({ true, false }, { barrier:set() })
    assert.same({ true, false }, { other:set() })
    assert.equal(set_by, support.zk():exists(path).czxid)
    assert.is_true(barrier:is_set())
    assert.is_true(other:is_set())
    assert.same({ true, true }, { other:lift() })
    assert.same({ true, false }, { other:lift() })
    assert.same({ true, false }, { barrier:lift() })
    assert.is_false(other:is_set())
    assert.same({ true, true }, { barrier:set() })
    assert.same({ true, true }, { barrier:lift() })
  end)

  it("is one, whoever has made or deletes its node", function()
    local session, path, zk = connect(), support.path(), support.zk()
    local barrier = session:barrier(path)
    zk:make(path, { data = "of kazoo" })
    assert.is_true(barrier:is_set())
    assert.same({ true, false }, { barrier:set() })
    assert.equal("of kazoo", (zk:get(path)))
    assert.equal("timeout", select(3, barrier:wait(0)))
    zk:delete(path)
    assert.is_true(barrier:wait(0))
    assert.is_false(barrier:is_set())
  end)

  it("is below the chroot", function()
    local chroot, zk = support.path "chroot", support.zk()
    local session = connect { hosts = support.hosts .. chroot }
    local barrier = session:barrier "/a/b"
    assert.is_true(barrier:wait(0)) -- not even the chroot is there
    assert.same({ true, true }, { barrier:set() })
    assert.is_table(zk:exists(chroot .. "/a/b"))
    local calls, callback = recorder()
    barrier:wait_async(callback)
    await_watches(chroot .. "/a/b", 1)
    assert.same({ true, true }, { barrier:lift() })
    support.step_until(session, function() return calls[1] end)
    assert.same({ { true } }, calls)
  end)

  it("is made again where its directory vanishes meanwhile", function()
    local session, zk = connect(), support.zk()
    for _ = 1, 20 do
      local path = support.path()
      local barrier = session:barrier(path .. "/b")
      zk:make(path, { container = true })
      assert.same({ true, true }, { barrier:set() })
      assert.same({ true, true }, { barrier:lift() })
    end
  end)

  it("is not set where the node is a session's", function()
    local session, path, zk = connect(), support.path(), support.zk()
    zk:create((path:match "^(.*)/"))
    zk:create(path, { ephemeral = true })
    local barrier = session:barrier(path)
    local ok, message, code = barrier:set()
    assert.is_nil(ok)
    assert.equal("invalid", code)
    assert.matches("^zklock: ZooKeeper refused the barrier "
      .. path:gsub("%p", "%%%0") .. ": .*session", message)
    -- but it keeps waiting who finds it
    assert.equal("timeout", select(3, barrier:wait(0.05)))
    zk:delete(path)
    assert.is_true(barrier:wait(0))
  end)

  it("is not set below a session's node, nor lifted with children", function()
    local session, path, zk = connect(), support.path(), support.zk()
    zk:create((path:match "^(.*)/"))
    zk:create(path, { ephemeral = true })
    local ok, message, code = session:barrier(path .. "/b"):set()
    assert.is_nil(ok)
    assert.equal("invalid", code)
    assert.equal("zklock: ZooKeeper refused the barrier " .. path
      .. "/b: no children for ephemerals", message)
    zk:delete(path)
    local barrier = session:barrier(path)
    zk:make(path .. "/child")
    ok, message, code = barrier:lift()
    assert.is_nil(ok)
    assert.equal("invalid", code)
    assert.equal("zklock: ZooKeeper refused the lifting of the barrier " .. path
      .. ": not empty", message)
    assert.is_true(barrier:is_set())
  end)

  it("is refused where ACLs say so: auth", function()
    local session, path, zk = connect(), support.path(), support.zk()
    local function allow(perms)
      zk:set_acl(path, { { perms = perms, scheme = "world", id = "anyone" } })
    end
    zk:make(path)
    local barrier = session:barrier(path .. "/a")
    allow(17)
    local ok, message, code = barrier:set()
    assert.same({ nil, "zklock: ZooKeeper refused the barrier " .. path
      .. "/a: an ACL forbids it", "denied" }, { ok, message, code })
    allow(31)
    assert.is_true(barrier:set())
    allow(17)
    ok, message, code = barrier:lift()
    assert.same({ nil, "zklock: ZooKeeper refused the lifting of the barrier "
      .. path .. "/a: an ACL forbids it", "denied" }, { ok, message, code })
    allow(31)
    -- Who may not read it does not pass.
    zk:set_acl(path .. "/a",
      { { perms = 30, scheme = "world", id = "anyone" } })
    assert.equal("timeout", select(3, barrier:wait(0)))
    assert.equal("timeout", select(3, barrier:wait(0.05)))
    assert.is_true(barrier:lift())
    assert.is_true(barrier:wait(0))
  end)

  it("has the session's ACL", function()
    local path, zk = support.path(), support.zk()
    zk:make((path:match "^(.*)/"))
    local alice = { scheme = "digest", credential = "alice:secret" }
    local session = connect { auth = alice, acl = "creator" }
    assert.is_true(session:barrier(path):set())
    assert.has_error(function() zk:get(path) end)
    assert.is_true(session:barrier(path):lift())
  end)

  it("is lifted by who may delete it, and nothing else", function()
    local path, zk = support.path(), support.zk()
    zk:make(path)
    local gate = path .. "/a"
    assert.is_true(connect():barrier(gate):set())
    local function allow(perms)
      zk:set_acl(path, { { perms = perms, scheme = "world", id = "anyone" } })
    end
    allow(1 + 8 + 16) -- it may not create
    assert.same({ true, true }, { connect():barrier(gate):lift() })
    allow(31)
    assert.is_true(connect():barrier(gate):set())
    local other = connect { acl = {
      { perms = "cdrwa", scheme = "ip", id = "192.0.2.1" } } }
    assert.same({ true, true }, { other:barrier(gate):lift() })
    assert.same({ true, false }, { other:barrier(gate):lift() })
    support.wait_until(function() return #zk:children(path) == 0 end)
  end)

  it("is one kind of use of its path in a session", function()
    local session, path = connect(), support.path()
    local barrier, mutex = session:barrier(path), session:mutex(path .. "/m")
    assert.equal(path .. " is used as a barrier by this session, not as a "
      .. "mutex", misuse(function() session:mutex(path) end))
    assert.equal(mutex.path .. " is used as a mutex by this session, not as a "
      .. "barrier", misuse(function() session:barrier(mutex.path) end))
    assert.is_true(session:barrier(path):wait(0))
    assert.is_true(barrier:wait(0))
  end)

  it("refuses what it does not take, with the caller's line", function()
    local session = connect()
    local barrier = session:barrier "/a"
    assert.matches("^path must ", misuse(function() session:barrier "a" end))
    assert.matches("^path must not be /zookeeper or below it",
      misuse(function() session:barrier "/zookeeper/a" end))
    assert.matches("^path must not have a component that reads as a contender",
      misuse(function() session:barrier "/a-lock-0000000001/b" end))
    assert.equal("timeout must be a number of seconds, not negative, got -1",
      misuse(function() barrier:wait(-1) end))
    assert.equal("wait options must be a number or a table, got a string",
      misuse(function() barrier:wait "x" end))
    assert.equal('unknown option "data" in wait options (known: timeout)',
      misuse(function() barrier:wait { data = "x" } end))
    assert.equal("the callback of wait_async must be a function, got nil",
      misuse(function() barrier:wait_async(5) end))
    assert.equal('unknown option "timeuot" in wait options (known: '
      .. 'timeout)',
      misuse(function() barrier:wait_async({ timeuot = 1 }, nothing) end))
    assert.equal("barrier:set() takes no more arguments, got a number, too",
      misuse(function() barrier:set(1) end))
    for _, name in ipairs { "set", "lift", "is_set", "wait", "wait_async",
      "cancel" } do
      assert.matches("must be called with a colon: barrier:" .. name .. "%(",
        misuse(function() barrier[name]() end))
    end
    assert.matches("must be called with a colon: session:barrier%(",
      misuse(function() session.barrier "/a" end))
    local ticket = barrier:wait_async(nothing)
    assert.matches("must be called with a colon: ticket:cancel%(",
      misuse(function() ticket.cancel() end))
    session:close()
    for _, call in ipairs {
      function() session:barrier "/a" end,
      function() barrier:set() end,
      function() barrier:lift() end,
      function() barrier:is_set() end,
      function() barrier:wait() end,
      function() barrier:wait_async(nothing) end,
      function() barrier:cancel() end,
    } do
      assert.equal("the session is closed", misuse(call))
    end
    ticket:cancel()
  end)
end)

describe("Who waits at a barrier", function()
  it("does not wait where none is set", function()
    local session, path = connect(), support.path()
    for _, how in ipairs { 0, 5, math.huge, {}, { timeout = 0 } } do
      assert.is_true(session:barrier(path):wait(how))
    end
    assert.is_true(session:barrier(path .. "/a/b"):wait())
    support.zk():make(path)
    assert.is_true(session:barrier(path .. "/c"):wait())
    await_watches(path, 0)
    assert.is_table(support.zk():exists(path)) -- (it has no directory of ours)
    assert.same({}, support.zk():children(path))
  end)

  it("is let through when it is lifted, and not before", function()
    local session, path = connect(), support.path()
    local barrier, other = session:barrier(path), connect():barrier(path)
    assert.is_true(other:set())
    local calls, callback = recorder()
    barrier:wait_async(callback)
    await_watches(path, 1)
    nobody(session, calls)
    -- its data are written anew: that is no lifting
    support.zk():set(path, "new")
    await_watches(path, 1)
    nobody(session, calls)
    assert.is_true(other:lift())
    support.step_until(session, function() return calls[1] end)
    assert.same({ { true } }, calls)
    await_watches(path, 0)
  end)

  it("suspends its task alone", function()
    local scheduler, path = new_scheduler(), support.path()
    local session = connect { loop = scheduler.adapter }
    local barrier, passed, ticks = session:barrier(path), nil, 0
    scheduler:spawn(function()
      assert(barrier:set())
      scheduler:spawn(function() passed = { barrier:wait() } end)
      scheduler:spawn(function()
        while not passed do
          scheduler:sleep(0.001)
          ticks = ticks + 1
        end
      end)
      while count_watchers(path) == 0 do scheduler:sleep(0.01) end
      assert(not passed)
      ticks = 0
      while ticks < 5 do scheduler:sleep(0.001) end
      assert(barrier:lift())
    end)
    assert.is_true(scheduler:run())
    assert.same({ true }, passed)
  end)

  -- The time in which nobody is to pass has begun when all are watching.
  it("costs one watch and few requests, a thousand in each session", function()
    local path, n = support.path(), 1000
    local setter = connect():barrier(path)
    assert.is_true(setter:set())
    local sessions, passed, watches = { connect(), connect() }, 0, {}
    local before = {}
    for i, session in ipairs(sessions) do
      local stats = session:stats()
      before[i] = stats.requests - stats.heartbeats - stats.nudges
      watches[i] = stats.watches
      local barrier = session:barrier(path)
      for _ = 1, n do
        barrier:wait_async(function(ok)
          assert(ok == true)
          passed = passed + 1
        end)
      end
    end
    await_watches(path, #sessions)
    support.wait_until(function()
      for _, session in ipairs(sessions) do
        session:step()
        if session:stats().in_flight > 0 then return false end
      end
      return true
    end)
    for i, session in ipairs(sessions) do
      assert.equal(watches[i] + 1, session:stats().watches)
    end
    assert.equal(0, passed)
    assert.is_true(setter:lift())
    support.wait_until(function()
      for _, session in ipairs(sessions) do session:step() end
      return passed == n * #sessions
    end, 10)
    for i, session in ipairs(sessions) do
      -- A proof and a read for each batch of them that has come.
      local spent = support.while_quiet({ session }, function(beats, nudges)
        return session:stats().requests - beats - nudges - before[i]
      end)
      assert.is_true(spent >= 2 and spent <= n / 2, spent)
      assert.equal(watches[i], session:stats().watches)
      assert.equal(0, session:stats().waiting)
    end
    await_watches(path, 0)
  end)

  it("waits no longer than it has said, and not at all for 0", function()
    local session, path = connect(), support.path()
    local barrier = session:barrier(path)
    assert.is_true(barrier:set())
    local message = "zklock: timed out after %s waiting for the barrier "
      .. path .. " to be lifted"
    for _, seconds in ipairs { 0.2, 0 } do
      for _, how in ipairs { seconds, { timeout = seconds } } do
        local begun = support.now()
        local ok, said, code = barrier:wait(how)
        assert.is_nil(ok)
        assert.equal(message:format(seconds .. " s"), said)
        assert.equal("timeout", code)
        assert.is_true(support.now() - begun >= seconds)
        assert.is_true(support.now() - begun < seconds + support.slack)
      end
    end
    await_watches(path, 0)
    local calls, callback = recorder()
    barrier:wait_async(0.05, callback)
    barrier:wait_async({ timeout = 0 }, callback)
    barrier:wait_async(nil, callback)
    support.step_until(session, function() return #calls == 2 end)
    -- (A machine that stands still may tell them in the other order.)
    table.sort(calls, function(a, b) return #a[2] < #b[2] end)
    assert.same({ nil, message:format "0 s", "timeout" }, calls[1])
    assert.same({ nil, message:format "0.05 s", "timeout" }, calls[2])
    await_watches(path, 1)
    assert.is_true(barrier:lift())
    support.step_until(session, function() return #calls == 3 end)
    assert.same({ true }, calls[3])
  end)

  it("is woken by cancel, if it came through this object", function()
    local path, scheduler = support.path(), new_scheduler()
    local session = connect { loop = scheduler.adapter }
    local one, two = session:barrier(path), session:barrier(path)
    support.zk():make(path)
    local ended = {}
    for _ = 1, 3 do
      scheduler:spawn(function()
        local ended_with = { one:wait() }
        ended[#ended + 1] = ended_with
      end)
    end
    local calls, callback = recorder()
    one:wait_async(callback)
    local others, other_callback = recorder()
    two:wait_async(other_callback)
    scheduler:spawn(function()
      while count_watchers(path) == 0 do scheduler:sleep(0.01) end
      one:cancel()
      one:cancel()
    end)
    assert.is_true(scheduler:run())
    support.wait_until(function() scheduler:turn(0) return calls[1] end)
    local cancelled = { nil, "zklock: the wait for the barrier " .. path
      .. " to be lifted was cancelled", "cancelled" }
    assert.same({ cancelled, cancelled, cancelled }, ended)
    assert.same({ cancelled }, calls)
    assert.same({}, others)
    await_watches(path, 1)
    support.zk():delete(path)
    support.wait_until(function() scheduler:turn(0) return others[1] end)
    assert.same({ { true } }, others)
  end)

  it("has a ticket, which ends this wait only", function()
    local session, path = connect(), support.path()
    local barrier = session:barrier(path)
    barrier:set()
    local one, first = recorder()
    local two, second = recorder()
    local ticket = barrier:wait_async(first)
    local late = barrier:wait_async(second)
    ticket:cancel()
    ticket:cancel()
    support.step_until(session, function() return one[1] end)
    assert.equal("cancelled", one[1][3])
    nobody(session, two)
    barrier:lift()
    support.step_until(session, function() return two[1] end)
    late:cancel()
    ticket:cancel()
    barrier:cancel()
    session:step()
    assert.same({ { true } }, two)
    assert.equal(1, #one)
    assert.is_true(barrier:wait())
  end)

  it("may give the ticket away: the wait goes on", function()
    local session, path = connect(), support.path()
    session:barrier(path):set()
    local calls, callback = recorder()
    session:barrier(path):wait_async(callback)
    support.collect()
    session:barrier(path):lift()
    support.step_until(session, function() return calls[1] end)
    assert.same({ { true } }, calls)
  end)

  it("hears closed when the session is closed", function()
    local path, scheduler = support.path(), new_scheduler()
    local session = connect { loop = scheduler.adapter }
    local barrier = session:barrier(path)
    support.zk():make(path)
    local ended
    local calls, callback = recorder()
    barrier:wait_async(callback)
    scheduler:spawn(function() ended = { barrier:wait(60) } end)
    scheduler:spawn(function()
      while count_watchers(path) == 0 do scheduler:sleep(0.01) end
      session:close()
    end)
    assert.is_true(scheduler:run())
    local closed = { nil, "zklock: the session was closed while waiting for "
      .. "the barrier " .. path .. " to be lifted", "closed" }
    assert.same(closed, ended)
    assert.same({ closed }, calls)
    await_watches(path, 0)
  end)

  it("may set, lift, wait and close in its callback", function()
    local session, path = connect(), support.path()
    local barrier, told = session:barrier(path), {}
    barrier:set()
    barrier:wait_async(function(ok)
      told[1] = ok
      told[2] = select(2, barrier:set())
      told[3] = select(2, barrier:lift())
      assert(barrier:wait(30))
      barrier:wait_async(function(again)
        told[4] = again
        session:close()
      end)
    end)
    barrier:lift()
    support.wait_until(function()
      session:step()
      return told[4]
    end)
    assert.same({ true, true, true, true }, told)
    assert.equal("closed", session:state())
  end)

  it("goes on when another's callback raises, and step() raises it", function()
    local session, path = connect(), support.path()
    local barrier, problem = session:barrier(path), {}
    barrier:set()
    local calls, callback = recorder()
    barrier:wait_async(function() error(problem) end)
    barrier:wait_async(callback)
    barrier:wait_async(function() error(problem) end)
    barrier:lift()
    local raised = 0
    support.wait_until(function()
      local ok, what = pcall(session.step, session)
      if not ok then
        assert(rawequal(what, problem))
        raised = raised + 1
      end
      return calls[1] and raised == 2
    end)
    assert.same({ { true } }, calls)
  end)

  it("passes though it is set anew at once, and who comes later does not",
    function()
      local path = support.path()
      local setter = connect():barrier(path)
      local session = connect()
      local barrier = session:barrier(path)
      -- (What is under way is another wait's, or has not been seen yet.)
      local function settle(n)
        await_watches(path, n)
        support.wait_until(function() return session:stats().in_flight == 0 end)
      end
      setter:set()
      for _ = 1, 30 do
        local before, callback = recorder()
        local after, later = recorder()
        barrier:wait_async(callback)
        settle(1)
        setter:lift()
        setter:set()
        local ticket = barrier:wait_async(later)
        support.step_until(session, function() return before[1] end)
        assert.same({ { true } }, before)
        session:step()
        assert.same({}, after)
        ticket:cancel()
        support.step_until(session, function() return after[1] end)
        assert.equal("cancelled", after[1][3])
        settle(0)
      end
      setter:lift()
    end)

  it("comes right after it was set: each waits", function()
    local setter = connect():barrier(support.path())
    local barrier = connect():barrier(setter.path)
    for _ = 1, 50 do
      assert.same({ true, true }, { setter:set() })
      assert.equal("timeout", select(3, barrier:wait(0)))
      assert.same({ true, true }, { setter:lift() })
      assert.is_true(barrier:wait(0))
    end
  end)

  it("shares its watch with whoever asks to be told of the node", function()
    local session, path = connect(), support.path()
    local one, two = session:barrier(path), connect():barrier(path)
    one:set()
    local passed = 0
    for _ = 1, 5 do
      one:wait_async(function() passed = passed + 1 end)
      await_watches(path, 1)
    end
    local ticket = one:wait_async(nothing)
    ticket:cancel() -- takes nobody's watch away
    two:lift()
    support.step_until(session, function() return passed == 5 end)
  end)

  it("may be in another process", function()
    local path, children = support.path(), {}
    local barrier = connect():barrier(path)
    barrier:set()
    for i = 1, 3 do
      children[i] = spawn([[
        local session = assert(zklock.connect(hosts))
        local barrier = session:barrier((...))
        say "waiting"
        say(barrier:wait(60))
        say(barrier:is_set())
        session:close()
      ]], path)
    end
    for _, child in ipairs(children) do child:expect "waiting" end
    await_watches(path, 3)
    barrier:lift()
    for _, child in ipairs(children) do
      child:expect "true"
      child:expect "false"
      assert.equal(0, child:wait())
    end
  end)
end)

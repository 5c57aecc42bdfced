-- Elections: campaigns, resigning, and who leads.  (run: election_run_spec.lua;
-- leader(fn): leader_spec.lua.)
local new_scheduler = require "support.scheduler".new
local start_proxy = require "support.proxy".start
local support = require "support"
local connect, misuse = support.connect, support.misuse

local function name_of(guard) return guard.node:sub(#guard.path + 2) end

-- Another session leads at `path`: its guard.
local function lead(path, options)
  local session = connect()
  local election = session:election(path, options)
  local guard = assert(election:campaign(30))
  support.closing({}, function() return guard, election end) -- both are kept
  return guard, session, election
end

before_each(support.start)
after_each(support.finish)

describe("campaign", function()
  it("is won at once where nobody leads", function()
    local session, path = connect(), support.path()
    local election = session:election(path)
    local guard = assert(election:campaign())
    assert.is_true(guard:is_held())
    assert.equal(path, guard.path)
    assert.matches("^%w+%-lock%-%d+$", name_of(guard))
    assert.matches(":" .. support.pid() .. "$", (support.zk():get(guard.node)))
    assert.is_true(guard:release())
    support.wait_for_queue(path, 0)
  end)

  it("waits until the leader is gone, in the order of arrival", function()
    local path = support.path()
    local leader = lead(path)
    local order = {}
    local sessions = {}
    for i = 1, 3 do
      sessions[i] = connect()
      sessions[i]:election(path):campaign_async(function(guard)
        order[#order + 1] = i
        guard:release()
      end)
      support.wait_for_queue(path, 1 + i)
    end
    leader:release()
    support.wait_until(function()
      for _, session in ipairs(sessions) do session:step() end
      return #order == 3
    end)
    assert.same({ 1, 2, 3 }, order)
  end)

  it("takes seconds, and times out", function()
    local path = support.path()
    lead(path, { data = "the leader" })
    local election = connect():election(path)
    local begun = support.now()
    local guard, message, code = election:campaign(1)
    assert.is_nil(guard)
    assert.equal("timeout", code)
    assert.equal("zklock: timed out after 1 s waiting for " .. path
      .. ' (1 ahead of us; held by "the leader")', message)
    assert.is_true(support.now() - begun >= 1)
    assert.equal("timeout", select(3, election:campaign(0)))
    assert.equal("timeout", select(3, election:campaign { timeout = 0.05 }))
    support.wait_for_queue(path, 1)
  end)

  it("takes data and max_hold, the election's or its own", function()
    local path, zk = support.path(), support.zk()
    local election = connect():election(path, { data = "one", max_hold = 60 })
    local guard = assert(election:campaign(30))
    assert.equal("one", (zk:get(guard.node)))
    guard:release()
    guard = assert(election:campaign { data = "two", max_hold = 1 })
    assert.equal("two", (zk:get(guard.node)))
    support.wait_until(function() return guard:reason() end)
    assert.equal("max_hold", guard:reason())
    guard:release()
  end)

  it("loses at once without a connection, if on_suspend says so", function()
    local proxy, path = start_proxy(), support.path()
    local session = connect { hosts = proxy.hosts }
    local election = session:election(path, { on_suspend = "lose" })
    local guard = assert(election:campaign(30))
    proxy:refuse()
    support.step_until(session, function() return not guard:is_held() end)
    assert.equal("suspended", guard:reason())
    proxy:heal()
    assert.equal("lost", select(3, guard:release()))
  end)

  it("would wait for itself where the same task leads", function()
    local session, path = connect(), support.path()
    local election = session:election(path)
    local guard = assert(election:campaign(30))
    for _, again in ipairs { election, session:election(path) } do
      local _, message, code = again:campaign()
      assert.equal("deadlock", code)
      assert.matches("already held by the caller", message)
    end
    assert.equal("timeout", select(3,
      election:campaign { timeout = 0.05, owner = "another" }))
    guard:release()
    assert(election:campaign(30)):release()
  end)

  it("begins and returns at once: campaign_async", function()
    local session, path = connect(), support.path()
    local election = session:election(path)
    local led, cancelled, late
    election:campaign_async(function(...) led = { ... } end)
    local ticket = election:campaign_async({ data = "x" }, function(...)
      cancelled = { ... }
    end)
    support.wait_for_queue(path, 2)
    election:campaign_async(0.1, function(...) late = { ... } end)
    ticket:cancel()
    support.step_until(session, function()
      return led and cancelled and late
    end)
    assert.is_true(led[1]:is_held())
    assert.equal("cancelled", cancelled[3])
    assert.equal("timeout", late[3])
    led[1]:release()
  end)

  it("is ended by cancel, if it was begun through this object", function()
    local path, scheduler = support.path(), new_scheduler()
    lead(path)
    local session = connect { loop = scheduler.adapter }
    local one, two = session:election(path), session:election(path)
    local codes, others = {}, {}
    for _ = 1, 2 do
      scheduler:spawn(function()
        local _, _, code = one:campaign()
        codes[#codes + 1] = code
      end)
    end
    one:campaign_async(function(_, _, code) codes[#codes + 1] = code end)
    two:campaign_async(function(_, _, code) others[#others + 1] = code end)
    scheduler:spawn(function()
      support.wait_for_queue(path, 5)
      one:cancel()
    end)
    assert.is_true(scheduler:run())
    support.wait_until(function() scheduler:turn(0) return #codes == 3 end)
    assert.same({ "cancelled", "cancelled", "cancelled" }, codes)
    assert.same({}, others)
    support.wait_for_queue(path, 2)
    session:close()
    assert.same({ "closed" }, others)
  end)

  it("ends with the session", function()
    local path, scheduler = support.path(), new_scheduler()
    lead(path)
    local session = connect { loop = scheduler.adapter }
    local election = session:election(path)
    local code
    scheduler:spawn(function() code = select(3, election:campaign()) end)
    scheduler:spawn(function()
      support.wait_for_queue(path, 2)
      session:close()
    end)
    assert.is_true(scheduler:run())
    assert.equal("closed", code)
    for _, call in ipairs {
      function() election:campaign() end,
      function() election:campaign_async(print) end,
      function() election:cancel() end,
      function() election:run(print) end,
      function() election:leader() end,
      function() session:election(path) end,
    } do
      assert.matches("the session is closed$", select(2, pcall(call)))
    end
    assert.is_false(election:resign())
    election:stop()
  end)
end)

describe("An election", function()
  it("is the mutex of its path, for other sessions", function()
    local path = support.path()
    local holder = support.hold(path)
    local election = connect():election(path)
    assert.equal("timeout", select(3, election:campaign(0.1)))
    holder:release()
    local guard = assert(election:campaign(30))
    assert.is_true(guard:token() > holder:token())
    assert.equal("busy", select(3, connect():mutex(path):try_acquire()))
    guard:release()
  end)

  it("is spelled as its layout says", function()
    local path = support.path()
    local guard = assert(connect():election(path, { layout = "kazoo" })
      :campaign(30))
    assert.matches("__lock__%d+$", guard.node)
    assert.equal("busy", select(3, connect():mutex(path, { layout = "kazoo" })
      :try_acquire()))
    guard:release()
    local latch = { layout = "latch" }
    guard = assert(connect():election(path, latch):campaign(30))
    assert.matches("^%w+%-latch%-%d+$", name_of(guard))
    assert.equal("timeout",
      select(3, connect():election(path, latch):campaign(0.1)))
    assert.equal("conflict", select(3, connect():mutex(path):try_acquire()))
    assert(connect():mutex(path, { share_path = true }):try_acquire())
      :release() -- sees no latch
    assert.equal("mutex", connect():contenders(path)[1].mode)
    guard:release()
  end)

  it("is one kind of use of its path in a session", function()
    local session, path = connect(), support.path()
    local election = session:election(path, { layout = "kazoo" })
    assert.equal("zklock election in kazoo's layout " .. path,
      tostring(election))
    assert.equal(path .. " is used as an election in kazoo's layout by this "
      .. "session, not as a mutex", misuse(function() session:mutex(path) end))
    assert.equal(path .. " is used as an election in kazoo's layout by this "
      .. "session, not as an election",
      misuse(function() session:election(path) end))
    assert.equal("zklock election /a", tostring(session:election "/a"))
    assert.matches("must be a mutex, a side of a rwlock or a semaphore",
      misuse(function() session:multi { election } end))
  end)

  it("has options of its own", function()
    local session = connect()
    local function refused(options)
      return misuse(function() session:election("/a", options) end)
    end
    assert.equal("option 'fair' goes with a mutex only, not with an election",
      refused { fair = false })
    for _, name in ipairs { "handoffs", "wait", "poll_interval" } do
      assert.matches("^option '" .. name .. "' goes with a mutex only",
        refused { [name] = 1 })
    end
    assert.equal("option 'reentrant' goes with a mutex or a rwlock only, not "
      .. "with an election", refused { reentrant = true })
    assert.equal([[option 'layout' must be "curator", "latch" or "kazoo", ]]
      .. "got x", refused { layout = "x" })
    assert.equal('unknown option "dat" in election options (known: data, '
      .. 'layout, max_hold, on_suspend, share_path)',
      refused { dat = "x" })
    assert.equal("option 'data' must be a string, got a number",
      refused { data = 5 })
    assert.matches("path must ", misuse(function() session:election "a" end))
    local latch = { layout = "latch" }
    assert.equal([[option 'layout' = "latch" goes with an election only, not ]]
      .. "with a mutex", misuse(function() session:mutex("/a", latch) end))
    assert.equal([[option 'layout' = "latch" goes with an election only, not ]]
      .. "with a rwlock", misuse(function() session:rwlock("/a", latch) end))
    local election = session:election "/a"
    assert.equal("the callback of campaign_async must be a function, got nil",
      misuse(function() election:campaign_async(5) end))
    assert.equal("campaign options must be a number or a table, got a string",
      misuse(function() election:campaign "x" end))
    assert.equal('unknown option "fair" in campaign options (known: data, '
      .. 'max_hold, owner, timeout)',
      misuse(function() election:campaign { fair = true } end))
    assert.matches("must be called with a colon: election:campaign%(",
      misuse(function() election.campaign() end))
    assert.equal("election:cancel() takes no more arguments, got a number, too",
      misuse(function() election:cancel(1) end))
    assert.equal("argument 1 of leader must be a function, got a table",
      misuse(function() election:leader {} end))
    assert.equal('unknown option "now" in release options (known: wait)',
      misuse(function() election:resign { now = true } end))
  end)
end)

describe("resign", function()
  it("gives the leadership back, whichever task has it", function()
    local path, scheduler = support.path(), new_scheduler()
    local session = connect { loop = scheduler.adapter }
    local election = session:election(path)
    local guard, resigned
    scheduler:spawn(function() guard = assert(election:campaign()) end)
    assert.is_true(scheduler:run())
    scheduler:spawn(function() resigned = election:resign { wait = true } end)
    assert.is_true(scheduler:run())
    assert.is_true(resigned)
    assert.equal("released", guard:state())
    assert.equal(0, #support.zk():queue(path))
    assert.is_false(election:resign())
    assert.is_true(guard:release())
  end)

  it("knows what was campaigned for in the background", function()
    local session, path = connect(), support.path()
    local election, guard = session:election(path), nil
    election:campaign_async(function(mine) guard = mine end)
    assert.is_false(election:resign())
    support.step_until(session, function() return guard end)
    assert.is_false(session:election(path):resign()) -- another object
    assert.is_true(guard:is_held())
    assert.is_true(election:resign())
    assert.equal("released", guard:state())
  end)

  it("is lost once, where it is", function()
    local path = support.path()
    local guard, session, election = lead(path)
    local heard
    guard:on_lost(function(_, _, reason) heard = reason end)
    assert.is_true(connect():evict(path, name_of(guard)))
    support.wait_until(function() return not guard:is_held() end)
    local done, message, code = election:resign()
    assert.is_nil(done)
    assert.equal("lost", code)
    assert.equal("zklock: the hold of " .. path
      .. " was lost: its node was deleted", message)
    assert.equal("deleted", heard)
    assert.is_false(election:resign())
    guard = assert(election:campaign(30))
    assert.is_true(election:resign())
    session:close()
    assert.is_false(election:resign())
  end)

  it("leaves a guard that nobody refers to to the collector", function()
    local path = support.path()
    local session = connect()
    local election, done = session:election(path), false
    election:campaign_async(function() done = true end)
    support.step_until(session, function() return done end)
    support.wait_until(function()
      support.collect()
      return #support.zk():queue(path) == 0
    end)
    assert.is_false(election:resign())
  end)
end)

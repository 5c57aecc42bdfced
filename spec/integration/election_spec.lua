-- Elections: campaigns, resigning, and who leads: asked once, or told at each
-- change.  (run: election_run_spec.lua.)
local new_chance = require "explore.chance".new
local kinds = require "integration.family.kinds"
local sessions = require "integration.sessions"
local new_scheduler = require "support.scheduler".new
local seize = require "support.seizure".seize
local support = require "support"
local connect = support.connect

local path, zk

before_each(function() path, zk = support.path(), support.zk() end)

describe("campaign", function()
  it("takes turns with the mutex of its path", function()
    local leader = support.hold(path)
    local session, reason = connect(), nil
    local election = session:election(path, { data = "one", max_hold = 60 })
    for seconds, how in pairs { [1] = 1, [0] = 0, [2] = { timeout = 2 } } do
      kinds.refused("timeout", kinds.takes(seconds, function()
        return election:campaign(how)
      end))
    end
    local waiter = { session = session }
    election:campaign_async(function(guard) waiter.guard = guard end)
    support.wait_for_queue(path, 2)
    leader:release()
    local guard = kinds.await(waiter)
    assert.is_true(guard:token() > leader:token())
    assert.equal("one", (zk:get(guard.node)))
    assert.equal("busy", select(3, connect():mutex(path):try_acquire()))
    guard:release()
    guard = assert(election:campaign { data = "two", max_hold = 1 })
    assert.equal("two", (zk:get(guard.node)))
    kinds.refused("deadlock", session:election(path):campaign())
    kinds.refused("timeout",
      election:campaign { timeout = 0.05, owner = "another" })
    guard:on_lost(function(_, why) reason = why end)
    support.step_until(session, function() return reason end)
    assert.equal("max_hold_reached", reason)
    guard:release()
  end)

  it("is ended by cancel, if it was begun through this object, and by close",
    function()
      support.hold(path)
      local session = connect()
      local one, two = session:election(path), session:election(path)
      local codes, others = {}, {}
      local function note(list)
        return function(_, _, code) list[#list + 1] = code end
      end
      one:campaign_async(note(codes))
      local ticket = one:campaign_async({ data = "x" }, note(codes))
      two:campaign_async(note(others))
      support.wait_for_queue(path, 4)
      ticket:cancel()
      support.wait_for_queue(path, 3)
      one:cancel()
      support.step_until(session, function() return #codes == 2 end)
      support.wait_for_queue(path, 2)
      assert.same({}, others)
      session:close()
      assert.same({ "cancelled", "cancelled" }, codes)
      assert.same({ "closed" }, others)
      assert.is_false(one:resign())
      one:stop()
    end)
end)

describe("An election", function()
  it("is spelled as its layout says", function()
    local guard = assert(connect():election(path, { layout = "kazoo" })
      :campaign(30))
    assert.matches("__lock__%d+$", guard.node)
    assert.equal("busy", select(3, connect():mutex(path, { layout = "kazoo" })
      :try_acquire()))
    guard:release()
    local latch = { layout = "latch" }
    guard = assert(connect():election(path, latch):campaign(30))
    assert.matches("/%w+%-latch%-%d+$", guard.node)
    assert.equal("timeout",
      select(3, connect():election(path, latch):campaign(0.1)))
    assert.equal("conflict", select(3, connect():mutex(path):try_acquire()))
    assert(connect():mutex(path, { share_path = true }):try_acquire())
      :release() -- sees no latch
    assert.equal("mutex", connect():contenders(path)[1].mode)
    guard:release()
  end)

  it("raises for what it does not take, with the caller's line", function()
    local session = connect()
    assert.equal("zklock election in kazoo's layout /k",
      tostring(session:election("/k", { layout = "kazoo" })))
    local election = session:election "/a"
    assert.equal("zklock election /a", tostring(election))
    support.misuses {
      { [[option 'layout' must be "curator", "latch" or "kazoo", got "x"]],
        function() session:election("/a", { layout = "x" }) end },
    }
  end)
end)

it("resign gives the leadership back, whichever task has it", function()
  local session, scheduler = sessions.in_loop()
  local election, guard, resigned = session:election(path), nil, nil
  scheduler:spawn(function() guard = assert(election:campaign()) end)
  assert.is_true(scheduler:run())
  assert.is_false(session:election(path):resign()) -- another object
  scheduler:spawn(function() resigned = election:resign { wait = true } end)
  assert.is_true(scheduler:run())
  assert.is_true(resigned)
  assert.equal("released", guard:state())
  assert.equal(0, #zk:queue(path))
  assert.is_false(election:resign())
  assert.is_true(guard:release())
  -- … or what was campaigned for in the background.
  election:campaign_async(function(mine) guard = mine end)
  assert.is_false(election:resign())
  support.step_until(session, function() return guard:is_held() end)
  assert.is_true(election:resign())
  assert.equal("released", guard:state())
end)

it("resign says that the leadership was lost, once", function()
  local election = connect():election(path)
  local guard = assert(election:campaign())
  support.lose(guard)
  kinds.refused("lost", election:resign())
  assert.is_false(election:resign())
end)

-- What fn is told: who leads, `false` for nobody, or the code; in order.
local function observe(session, options)
  local told = { rows = {} }
  told.ticket = session:election(path, options):observe(function(leader,
      message, code)
    told[#told + 1] = code or leader and leader.data or false
    told.rows[#told], told.message = leader, message
  end)
  return told
end

-- It has been told all of this, and no more; and at last it asks nothing while
-- nothing changes.
local function expect(session, told, ...)
  local expected = { ... }
  support.step_until(session, function() return #told >= #expected end)
  local asked
  support.wait_until(function()
    local before = asked
    for _ = 1, 10 do
      support.advance(0.1)
      session:step()
    end
    asked = support.requests(session)
    return asked == before
  end, 20, "an observer that asks no more")
  assert.same(expected, { (unpack or table.unpack)(told) })
end

-- Another session leads: its guard, and itself.
local function lead(data, options)
  local session = connect()
  local guard = assert(session:election(path, options):campaign { timeout = 30,
    data = data })
  return support.closing(guard, guard.release), session
end

describe("leader()", function()
  it("is nil where nobody leads, and makes nothing", function()
    local election = connect():election(path)
    assert.same({ 1, nil }, { select("#", election:leader()),
      (election:leader()) })
    assert.is_false(zk:exists(path))
  end)

  it("tells who leads, not who waits", function()
    local guard, session = lead "the leader"
    local waiting = connect():election(path)
    waiting:campaign_async(function() end)
    support.wait_for_queue(path, 2)
    local leader = waiting:leader()
    assert.near(os.time(), leader.since, 2)
    assert.same({ data = "the leader", token = guard:token(),
      session = session:id(), since = session:contenders(path)[1].created },
      leader)
    waiting:cancel()
  end)

  it("sees the nodes of its layout only, and no leader where none owns one",
    function()
      zk:make(path)
      local unowned = zk:create(path .. "/x-lock-0000000000")
      local function leader(layout)
        local row = connect():election(path, { layout = layout }):leader()
        return row and row.data
      end
      assert.is_nil(leader())
      zk:delete(unowned)
      lead("curator's", { share_path = true })
      assert.is_nil(leader "kazoo")
      local kazoo = lead("kazoo's", { layout = "kazoo", share_path = true })
      assert.same({ "kazoo's", "curator's" }, { leader "kazoo", leader() })
      kazoo:release { wait = true }
      assert.is_nil(leader "kazoo")
    end)
end)

describe("observe()", function()
  it("is told of the same one again when it has another token", function()
    local guard, owner = lead "me"
    local session = connect()
    local told = observe(session)
    expect(session, told, "me")
    guard:release { wait = true }
    guard = assert(owner:election(path):campaign { data = "me" })
    support.step_until(session, function()
      local last = told.rows[#told]
      return last and last.token == guard:token()
    end)
    assert.equal("me", told[#told])
    guard:release()
  end)

  it("is for several, and told nothing more once it is cancelled", function()
    local session = connect()
    local early, one, two = observe(session), observe(session), observe(session)
    early.ticket:cancel()
    expect(session, one, false)
    one.ticket:cancel()
    one.ticket:cancel()
    local guard, inside = lead "me", { n = 0 }
    inside.ticket = session:election(path):observe(function()
      inside.n = inside.n + 1
      inside.ticket:cancel()
    end)
    expect(session, two, false, "me")
    support.until_state(session, nil, { watches = 1 })
    two.ticket:cancel()
    support.until_state(session, nil, { watches = 0 })
    guard:release { wait = true }
    lead "another"
    session:close()
    assert.same({ 0, 1, 2, 1 }, { #early, #one, #two, inside.n })
  end)

  it("goes on when the directory of nobody is deleted", function()
    zk:make(path)
    local session, proxy = sessions.behind_proxy()
    local told = observe(session)
    expect(session, told, false)
    zk:delete(path)
    support.advance(1)
    proxy:cut()
    support.until_state(session, "connected", { reconnects = 1 })
    local guard = lead "me"
    expect(session, told, false, "me")
    guard:release()
    told.ticket:cancel()
    support.until_state(session, nil, { watches = 0 })
  end)

  it("hears of the session's end, once", function()
    lead "me"
    local session = connect()
    local told = observe(session)
    expect(session, told, "me")
    local asking = observe(session)
    session:close()
    for _, each in ipairs { told, asking } do
      assert.equal("closed", each[#each])
      assert.equal("zklock: the session was closed while it asked who leads "
        .. path, each.message)
    end
    assert.same({ 2, 1 }, { #told, #asking })
  end)

  it("hears that it may not know", function()
    zk:make((path:match "^(.*)/"))
    zk:create(path, { acl = support.everybody(30) })
    local child = zk:create(path .. "/x")
    local session = connect()
    local told = observe(session)
    support.step_until(session, function() return told[1] end)
    assert.equal("denied", told[1])
    assert.matches("refused to say who leads " .. path, told.message, 1, true)
    zk:delete(child)
    zk:delete(path)
  end)

  it("goes on when the connection or the session was lost, and tells what is "
    .. "new", function()
    local session, proxy = sessions.behind_proxy()
    local guard, expected = lead "first", { "first" }
    local told = observe(session)
    expect(session, told, "first")
    for i = 1, 3 do
      sessions.cut_off(session, proxy)
      local late = observe(session)
      if i == 3 then assert.is_true(seize(support.hosts, session:id())) end
      guard:release { wait = true }
      guard = lead("later" .. i)
      session:step()
      proxy:heal()
      expected[i + 1] = "later" .. i
      expect(session, told, (unpack or table.unpack)(expected))
      expect(session, late, "later" .. i)
      late.ticket:cancel()
    end
    assert.equal(1, session:stats().expirations)
  end)

  it("tells the newest when fn has returned, if that waits", function()
    local scheduler = new_scheduler(new_chance(1)) -- whose callbacks may wait
    local session = connect { loop = scheduler.adapter }
    local told, inside, go_on = {}, 0, false
    local first, election = lead "first", session:election(path)
    scheduler:spawn(function()
      election:observe(function(leader)
        inside = inside + 1
        assert(inside == 1)
        while #told == 0 and not go_on do scheduler:pause(0.001) end
        told[#told + 1] = leader and leader.data
        inside = inside - 1
      end)
    end)
    scheduler:run_until(function() return inside == 1 end)
    first:release { wait = true }
    lead "second":release { wait = true }
    lead "third"
    -- (As long as it waits nothing more is asked, however often one steps.)
    local steps = 0
    scheduler:run_until(function()
      steps = steps + 1
      return steps == 20
    end)
    assert.same({ 1, {} }, { inside, told })
    go_on = true
    scheduler:run_until(function() return #told == 2 end)
    assert.same({ "first", "third" }, told)
  end)

  it("goes on when fn raises, and step() raises it", function()
    local session, calls, raised = connect(), 0, {}
    local guard = lead "me"
    session:election(path):observe(function()
      calls = calls + 1
      error("ouch", 0)
    end)
    for i = 1, 2 do
      support.wait_until(function()
        local ok, problem = pcall(session.step, session)
        if not ok then raised[#raised + 1] = problem:match "^[^\n]*" end
        return #raised == i
      end)
      guard:release()
    end
    assert.same({ "ouch", "ouch", 2 }, { raised[1], raised[2], calls })
  end)
end)

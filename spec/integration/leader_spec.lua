-- Who leads: asked once, or told at each change.  (What may befall who is told:
-- observer_spec.lua.)
local observing = require "support.observing"
local start_proxy = require "support.proxy".start
local support = require "support"
local await, connect = observing.await, support.connect

local path

local function start()
  support.start()
  path = support.path()
end

local function observe(session, options)
  return observing.observe(session, path, options)
end

local function lead(...) return observing.lead(path, ...) end

-- How many requests a session has made, beside heartbeats.
local function count_requests(session)
  local requests
  support.while_quiet({ session }, function(heartbeats, nudges)
    requests = session:stats().requests - heartbeats - nudges
  end)
  return requests
end

local function step_for(session, seconds)
  local deadline = support.now() + seconds
  support.step_until(session, function() return support.now() > deadline end)
end

-- Nothing is told, and after a while nothing asked.  (How soon it watches is up
-- to the machine: what was told was told before.)
local function is_quiet(session, told)
  local n, before = #told, nil
  support.step_until(session, function()
    before = count_requests(session)
    step_for(session, 0.2)
    return count_requests(session) == before
  end, 20, "an observer that does not ask again and again")
  assert.equal(n, #told)
end

before_each(start)
after_each(support.finish)

describe("leader()", function()
  it("is nil where nobody leads, and makes nothing", function()
    local election = connect():election(path)
    assert.equal(1, select("#", election:leader()))
    assert.is_nil((election:leader()))
    assert.is_false(support.zk():exists(path))
  end)

  it("tells who leads, not who waits", function()
    local guard, session = lead "the leader"
    local waiting = connect():election(path)
    waiting:campaign_async(function() end)
    support.wait_for_queue(path, 2)
    local row = session:contenders(path)[1]
    assert.same({ data = "the leader", token = guard:token(),
      session = session:id(), since = row.created }, waiting:leader())
    assert.is_true(math.abs(waiting:leader().since - os.time()) < 60)
    waiting:cancel()
  end)

  it("tells a mutex's holder, and has its size in place of large data",
    function()
      local holder = connect():mutex(path)
      local guard = assert(holder:acquire { data = ("x"):rep(1000000) })
      local leader = connect():election(path):leader()
      assert.equal(guard:token(), leader.token)
      assert.equal(1000000, leader.size or #leader.data)
    end)

  it("sees the nodes of its layout only", function()
    local session = connect()
    lead "curator's"
    assert.is_nil((session:election(path, { layout = "kazoo" }):leader()))
    local kazoo = lead("kazoo's", { layout = "kazoo", share_path = true })
    local election = connect():election(path, { layout = "kazoo" })
    assert.equal("kazoo's", election:leader().data)
    assert.equal("curator's", connect():election(path):leader().data)
    kazoo:release { wait = true }
    assert.is_nil((election:leader()))
  end)

  it("passes over what no session owns", function()
    local zk = support.zk()
    zk:make(path)
    local bystander = zk:create(path .. "/x-lock-0000000000")
    local election = connect():election(path)
    assert.is_nil((election:leader()))
    lead "me"
    assert.equal("me", election:leader().data)
    zk:delete(bystander)
  end)

  it("is disconnected while there is no server", function()
    local proxy = start_proxy()
    local session = connect { hosts = proxy.hosts }
    local election = session:election(path)
    proxy:refuse()
    support.until_state(session, "suspended")
    local leader, message, code = election:leader()
    assert.is_nil(leader)
    assert.equal("disconnected", code)
    assert.matches("no server could be asked who leads " .. path, message, 1,
      true)
    proxy:heal()
  end)
end)

describe("leader(fn)", function()
  it("returns at once, and tells from step() that nobody leads", function()
    local session = connect()
    local told = observe(session)
    support.sleep(0.05)
    assert.equal(0, #told)
    local leader, message = await(session, told, 1)
    assert.is_false(leader)
    assert.is_nil(message)
    is_quiet(session, told)
  end)

  it("tells who leads now, and nothing again while nothing changes", function()
    local guard = lead "me"
    local session = connect()
    local told = observe(session)
    local leader = await(session, told, 1)
    assert.same({ "me", guard:token() }, { leader.data, leader.token })
    is_quiet(session, told)
    session:mutex(support.path()):acquire(30):release { wait = true }
    assert.equal(1, #told)
  end)

  it("tells each change: a handover, nobody, a new one", function()
    local session = connect()
    local told = observe(session)
    await(session, told, 1)
    local first = lead "first"
    assert.equal("first", await(session, told, 2).data)
    local other = connect()
    local second
    other:election(path):campaign_async({ data = "second" }, function(guard)
      second = guard
    end)
    support.wait_for_queue(path, 2)
    is_quiet(session, told)
    first:release()
    support.step_until(other, function() return second end)
    local leader = await(session, told, 3)
    assert.same({ "second", second:token() }, { leader.data, leader.token })
    second:release()
    assert.is_false(await(session, told, 4))
    is_quiet(session, told)
    local third = lead "third"
    assert.equal("third", await(session, told, 5).data)
    third:release()
    assert.is_false(await(session, told, 6))
  end)

  it("is told of the same one again when it has another token", function()
    local guard, owner = lead "me"
    local session = connect()
    local told = observe(session)
    local before = await(session, told, 1)
    guard:release { wait = true }
    guard = assert(owner:election(path):campaign { data = "me" })
    support.step_until(session, function()
      local last = told[#told][1]
      return last and last.token == guard:token()
    end)
    assert.equal(before.data, told[#told][1].data)
    guard:release()
  end)

  it("tells of leaders of its layout", function()
    for _, layout in ipairs { "kazoo", "latch" } do
      path = support.path()
      local session = connect()
      local told = observe(session, { layout = layout })
      await(session, told, 1)
      local guard = lead(layout, { layout = layout, share_path = true })
      assert.equal(layout, await(session, told, 2).data)
      lead("curator's", { share_path = true })
      guard:release()
      assert.is_false(await(session, told, 3))
      is_quiet(session, told)
    end
  end)

  it("does not ask again and again beside what does not lead", function()
    local zk = support.zk()
    zk:make(path)
    local nodes = {}
    for i, marker in ipairs { "-lock-", "-lease-", "__lock__", "-x-" } do
      nodes[i] = zk:create(path .. "/x" .. marker .. "000000000" .. i)
    end
    local session = connect()
    local told = observe(session)
    assert.is_false(await(session, told, 1))
    is_quiet(session, told)
    lead "me"
    assert.equal("me", await(session, told, 2).data)
    for _, node in ipairs(nodes) do zk:delete(node) end
    is_quiet(session, told)
  end)

  it("costs one watch beside 20 candidates, and few requests a change",
    function()
      local sessions, guards = {}, {}
      for i = 1, 20 do
        sessions[i] = connect()
        sessions[i]:election(path):campaign_async(function(guard)
          guards[i] = guard
        end)
        support.wait_for_queue(path, i)
      end
      local session = connect()
      local told = observe(session)
      await(session, told, 1)
      for i = 1, 5 do
        support.step_until(session, function()
          return session:stats().watches == 1
        end, 5, "one watch")
        is_quiet(session, told)
        assert.equal(1, session:stats().watches)
        support.step_until(sessions[i], function() return guards[i] end)
        assert.equal(guards[i]:token(), told[i][1].token)
        local before = count_requests(session)
        guards[i]:release()
        await(session, told, i + 1)
        is_quiet(session, told)
        -- Of the directory and of one contender; no more for more of these.
        local requests = count_requests(session) - before
        assert.is_true(requests > 0 and requests <= 8, requests)
      end
      for i = 6, 20 do sessions[i]:close() end
      told.ticket:cancel()
    end)

  it("is for several: each has its own", function()
    local session = connect()
    local one, two = observe(session), observe(session)
    await(session, one, 1)
    await(session, two, 1)
    one.ticket:cancel()
    lead "me"
    await(session, two, 2)
    assert.equal(1, #one)
    two.ticket:cancel()
  end)
end)

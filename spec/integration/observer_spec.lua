-- What may befall leader(fn), which is told who leads (leader_spec.lua).
local new_scheduler = require "support.scheduler".new
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

describe("leader(fn)", function()
  before_each(start)
  after_each(support.finish)

  it("is told nothing more once it is cancelled", function()
    local session = connect()
    local early = observe(session)
    early.ticket:cancel()
    local told = observe(session)
    await(session, told, 1)
    told.ticket:cancel()
    told.ticket:cancel()
    local guard = lead "me"
    local inside = { n = 0 }
    inside.ticket = session:election(path):leader(function()
      inside.n = inside.n + 1
      inside.ticket:cancel()
    end)
    support.step_until(session, function() return inside.n > 0 end)
    guard:release { wait = true }
    lead "another"
    support.until_state(session, nil, { watches = 0 })
    assert.same({ 0, 1, 1 }, { #early, #told, inside.n })
    session:close()
    assert.same({ 0, 1, 1 }, { #early, #told, inside.n })
    told.ticket:cancel()
  end)

  it("hears of the session's end, once", function()
    lead "me"
    local session = connect()
    local told = observe(session)
    await(session, told, 1)
    local asking = observe(session)
    session:close()
    for _, each in ipairs { told, asking } do
      local last = each[#each]
      assert.is_false(last[1])
      assert.equal("closed", last[3])
      assert.equal("zklock: the session was closed while it asked who leads "
        .. path, last[2])
    end
    assert.same({ 2, 1 }, { #told, #asking })
  end)

  it("hears that it may not know", function()
    local zk = support.zk()
    zk:make((path:match "^(.*)/"))
    zk:create(path, { acl = { { perms = 30, scheme = "world",
      id = "anyone" } } })
    local child = zk:create(path .. "/x")
    local session = connect()
    local told = observe(session)
    local _, message, code = await(session, told, 1)
    assert.equal("denied", code)
    assert.matches("refused to say who leads " .. path, message, 1, true)
    zk:delete(child)
    zk:delete(path)
  end)

  it("goes on when the connection has been lost, and tells what is new",
    function()
      local proxy = start_proxy()
      local session = connect { hosts = proxy.hosts }
      local guard = lead "first"
      local told = observe(session)
      await(session, told, 1)
      for i = 1, 3 do
        proxy:refuse()
        support.until_state(session, "suspended")
        local late = i == 1 and observe(session)
        guard:release { wait = true }
        guard = lead("later" .. i)
        session:step()
        assert.equal(i, #told)
        proxy:heal()
        assert.equal("later" .. i, await(session, told, i + 1).data)
        if late then
          assert.equal("later1", await(session, late, 1).data)
          late.ticket:cancel()
        end
      end
    end)

  it("goes on when its session has expired", function()
    local proxy = start_proxy()
    local session = connect { hosts = proxy.hosts, session_timeout = 1 }
    local guard = lead "first"
    local told = observe(session)
    await(session, told, 1)
    proxy:freeze()
    support.sleep(0.1)
    guard:release { wait = true }
    lead "second"
    support.sleep(4)
    proxy:heal()
    proxy:cut()
    assert.equal("second", await(session, told, 2).data)
    assert.equal(1, session:stats().expiries)
  end)

  it("tells the newest when fn has returned, if that waits", function()
    if support.is_51 then return end -- nothing can
    local scheduler = new_scheduler()
    scheduler.watch = function() end -- see below
    local session = connect { loop = scheduler.adapter }
    local first = lead "first"
    local told, inside, go_on = {}, 0, false
    local election = session:election(path)
    local function fn(leader)
      inside = inside + 1
      assert(inside == 1)
      while #told == 0 and not go_on do scheduler:sleep(0.001) end
      told[#told + 1] = leader and leader.data
      inside = inside - 1
    end
    scheduler:spawn(function() election:leader(fn) end)
    local function turn_until(condition)
      support.wait_until(function()
        scheduler:turn(0)
        -- (Callbacks may wait: each step is a task.)
        scheduler:spawn(session.step, session)
        return condition()
      end)
    end
    turn_until(function() return inside == 1 end)
    first:release { wait = true }
    local second = lead "second"
    second:release { wait = true }
    lead "third"
    -- (As long as it waits nothing more is asked, however often one steps.)
    local steps = 0
    turn_until(function()
      steps = steps + 1
      return steps == 20
    end)
    assert.same({ 1, {} }, { inside, told })
    go_on = true
    turn_until(function() return #told == 2 end)
    assert.same({ "first", "third" }, told)
  end)

  it("goes on when fn raises, and step() raises it", function()
    local session, calls = connect(), 0
    local guard = lead "me"
    session:election(path):leader(function()
      calls = calls + 1
      error("ouch", 0)
    end)
    local raised = {}
    local function step_until(n)
      support.wait_until(function()
        local ok, problem = pcall(session.step, session)
        if not ok then raised[#raised + 1] = problem:match "^[^\n]*" end
        return #raised == n
      end)
    end
    step_until(1)
    guard:release()
    step_until(2)
    assert.same({ "ouch", "ouch" }, raised)
    assert.equal(2, calls)
  end)

  it("is nothing that keeps a session from being collected", function()
    local session = connect()
    local weak = setmetatable({ session }, { __mode = "k" })
    observe(session)
    session:close()
    session = nil
    support.collect()
    assert.is_nil(next(weak) and session)
  end)
end)

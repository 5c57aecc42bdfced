-- No server for a moment, for a while, or for longer than a session lives; and
-- what each call says meanwhile.  (Of every kind of lock:
-- family/contract_spec.lua; of stat and its like: tools_spec.lua.)
local kinds = require "integration.family.kinds"
local sessions = require "integration.sessions"
local support = require "support"
local timed = support.timed
local wait_in, await, refused = kinds.wait_in, kinds.await, kinds.refused

local behind_proxy, cut_off = sessions.behind_proxy, sessions.cut_off

describe("Without a server", function()
  it("for a moment, an owner does not wait for its own node (T44)",
    function()
      local events = {}
      local session, proxy = behind_proxy { on_event = function(event)
        events[#events + 1] = event
      end }
      local id, mutex = session:id(), session:mutex(support.path())
      local guard = mutex:acquire(30)
      guard:on_lost(function() error "lost" end)
      for i = 1, 2 do
        cut_off(session, proxy)
        assert.equal("suspended", guard:state())
        assert.is_true(guard:is_held()) -- its lease still stands
        assert.is_true(guard:lease() > 0)
        proxy:heal()
        support.until_state(session, "connected", { reconnects = i })
        assert.equal("held", guard:state())
        assert.equal(guard:token(), assert(mutex:acquire(1)):token())
      end
      assert.is_true(guard:verify())
      assert.equal(id, session:id())
      assert.same({ "connected", "suspended", "reconnected", "suspended",
        "reconnected" }, events)
    end)

  it("try_acquire waits one session timeout for a silent one", function()
    local session, proxy = behind_proxy { session_timeout = 1 }
    local mutex = session:mutex(support.path())
    proxy:freeze()
    local took, _, _, code = timed(function() return mutex:try_acquire() end)
    assert.equal("disconnected", code)
    assert.is_true(took <= 1.01, took)
    proxy:heal()
  end)

  it("a release waits for the reconnection, and is completed (T24)", function()
    local session, proxy = behind_proxy()
    local mutex = session:mutex(support.path())
    local guard = mutex:acquire(30)
    cut_off(session, proxy)
    assert.is_true(guard:release())
    assert.equal("released", guard:state())
    assert.equal(1, #support.zk():queue(guard.path))
    support.until_state(session, nil, { pending_releases = 1 })
    proxy:heal()
    support.wait_for_queue(guard.path, 0)
    -- nor does its next acquire wait behind its own ghost
    assert.is_true(mutex:acquire(2):release())
  end)

  it("close of a silent one takes two seconds at most", function()
    local session, proxy = behind_proxy { session_timeout = 3 }
    session:mutex(support.path()):acquire(30)
    proxy:freeze()
    local took = timed(function() session:close() end)
    assert.is_true(took <= 2.01, took)
    proxy:heal()
    proxy:cut()
  end)
end)

it("A hundred tries, a tenth of them interrupted, leave no node (T18)",
  function()
  local session, proxy = behind_proxy()
  local path, codes, last = support.path(), {}, ""
  local mutex = session:mutex(path)
  for i = 1, 100 do
    local waiter = wait_in(mutex, 0)
    if i % 10 == 0 then
      support.advance(0.0003) -- it is under way
      proxy:cut()
    end
    local guard, _, code = await(waiter)
    if guard then
      assert.is_true(guard:token() > last)
      last = guard:token()
      assert.is_true(guard:release())
    end
    codes[code or "granted"] = (codes[code or "granted"] or 0) + 1
    support.until_state(session, "connected")
  end
  assert.same({ granted = 90, disconnected = 10 }, codes)
  assert.equal(90, session:stats().grants)
  support.wait_for_queue(path, 0)
end)

describe("Without a connection", function()
  local session, proxy, path

  before_each(function()
    path = support.path()
    session, proxy = behind_proxy { session_timeout = 30 }
  end)

  it("each call says disconnected, at once or at its deadline", function()
    local member = session:double_barrier(path .. "/alone", 1)
    assert(member:enter(30))
    local guard = assert(session:mutex(path .. "/held"):acquire(30))
    local barrier = session:barrier(path .. "/b")
    local gate = session:double_barrier(path .. "/d", 2)
    local election = session:election(path .. "/e")
    local mutex = session:mutex(path .. "/m")
    local doubt, silent = "; it may have happened (last error: ",
      ("of %s answered"):format(proxy.hosts)
    local lifted = ", waiting for the barrier " .. barrier.path
      .. " to be lifted"
    local holders = "could be asked who holds " .. mutex.path .. " (last error"
    -- Each call, and what its message says, behind "no server ".
    local rows = {
      with_lock = { silent, function()
        return session:with_lock(path .. "/w", 0, error)
      end },
      wait = { silent .. lifted, function() return barrier:wait(0) end },
      enter = { silent, function() return gate:enter { timeout = 0 } end },
      campaign = { silent, function()
        return election:campaign { timeout = 0 }
      end },
      once = { silent, function()
        return session:once(path .. "/o", { per = 1, timeout = 0 }, error)
      end },
      leave = { silent, function() return member:leave(0) end },
      set = { "has confirmed the barrier " .. barrier.path .. doubt,
        function() return barrier:set() end },
      lift = { "has confirmed the lifting of the barrier " .. barrier.path
        .. doubt, function() return barrier:lift() end },
      is_set = { "could be asked what is at " .. barrier.path
        .. " (last error: ", function() return barrier:is_set() end },
      contenders = { "could be asked",
        function() return session:contenders(path) end },
      revoke = { "could be asked", function() return session:revoke(path) end },
      holders = { holders, function() return mutex:holders() end },
      multi_holders = { holders,
        function() return session:multi({ mutex }):holders() end },
      leader = { "could be asked who leads " .. election.path,
        function() return election:leader() end },
      verify = { "could be asked", function() return guard:verify() end },
    }
    cut_off(session, proxy)
    for name, row in pairs(rows) do
      local message = refused("disconnected", kinds.takes(0, row[2]))
      local text = "no server " .. row[1]
      assert.equal(text, message:sub(9, 8 + #text), name)
    end
    assert.is_true(guard:is_held())
    assert.matches("answered within 0.2 s" .. lifted, refused("disconnected",
      kinds.takes(0.2, barrier.wait, barrier, 0.2)), 1, true)
    local passed
    barrier:wait_async(function(...) passed = { ... } end)
    proxy:heal()
    support.step_until(session, function() return passed end)
    assert.same({ true }, passed)
    assert.same({ true, false }, { barrier:lift() })
    assert(rows.campaign[2]()):release()
    assert.is_true(guard:release { wait = true })
  end)

  it("each call says so when the connection is lost before the answer",
    function()
      local codes = {}
      local function note(name)
        return function(_, _, code) codes[#codes + 1] = name .. " " .. code end
      end
      proxy:freeze()
      session:mutex(path .. "/m"):acquire_async(0, note "acquire")
      session:barrier(path .. "/b"):wait_async(0, note "wait")
      session:election(path .. "/e"):campaign_async(0, note "campaign")
      session:double_barrier(path .. "/d", 2):enter_async(0, note "enter")
      session:step()
      assert.same({}, codes)
      local begun = support.now()
      proxy:refuse()
      support.step_until(session, function() return #codes == 4 end)
      assert.is_true(support.now() - begun < 0.1)
      table.sort(codes)
      assert.same({ "acquire disconnected", "campaign disconnected",
        "enter disconnected", "wait disconnected" }, codes)
      proxy:heal()
    end)
end)

-- handoffs = N: the waiters of one session take turns on one node.
local kinds = require "integration.family.kinds"
local new_scheduler = require "support.scheduler".new
local start_proxy = require "support.proxy".start
local support = require "support"
local connect, misuse = support.connect, support.misuse
local wait_in, await, nobody = kinds.wait_in, kinds.await, kinds.nobody

local unpack = unpack or table.unpack

describe("Local turns", function()
  before_each(function() kinds.start() end)
  after_each(support.finish)

  local path
  before_each(function() path = support.path() end)

  local function mutex(session, n, options)
    return kinds.with_handoffs(path, n or 3, session, options)
  end

  it("are taken on one node, in order, without a request", function()
    local lock = mutex(nil, 100)
    local session = lock._session
    local first = lock:acquire(30)
    local waiters = {}
    for i = 1, 20 do waiters[i] = wait_in(lock) end
    nobody(0.03, unpack(waiters))
    assert.equal(1, #kinds.nodes(path))
    local received = kinds.traffic(session)
    local requests = session:stats().requests
    local guard = first
    for i = 1, 20 do
      guard:release()
      guard = await(waiters[i])
      assert.equal(first.node, guard.node)
      assert.equal(first:token(), guard:token())
      assert.equal(i, guard:turn())
      assert.is_true(guard:is_held())
      for k = i + 1, 20 do assert.is_nil(waiters[k].guard) end
    end
    assert.equal(requests, session:stats().requests)
    assert.equal(received, (kinds.traffic(session)))
    assert.equal(20, session:stats().local_turns)
    assert.is_true(guard:verify())
    guard:release { wait = true }
    assert.same({}, kinds.nodes(path))
  end)

  -- All that the session has asked is answered, so many lists among that.
  local function wait_for_lists(session, lists)
    support.wait_until(function()
      local stats = session:stats()
      return stats.lists == lists and stats.in_flight == 0
    end)
  end

  it("go on without end while nobody else waits, and are counted from then",
    function()
      local n = 3
      local lock = mutex(nil, n)
      local session, waiters = lock._session, {}
      local first = lock:acquire(30)
      for i = 1, 20 do waiters[i] = wait_in(lock) end
      local guard, turn = first, 0
      local function release()
        guard:release()
        turn = turn + 1
        guard = await(waiters[turn])
      end
      local lists = session:stats().lists
      for _ = 1, 2 do release() end
      -- Half are over: it looks around.
      wait_for_lists(session, lists + 1)
      local before = session:stats()
      for i = 3, 12 do
        release()
        assert.equal(i, guard:turn())
        assert.equal(first:token(), guard:token())
      end
      assert.same({ before.lists, before.in_flight },
        { session:stats().lists, session:stats().in_flight })
      local stranger = kinds.queue_in(mutex(nil, 0), path)
      wait_for_lists(session, lists + 2)
      for i = 13, 12 + n do
        release()
        assert.equal(i, guard:turn())
      end
      guard:release()
      assert.is_true(await(stranger):is_held())
      nobody(0.05, waiters[turn + 1])
      stranger.guard:release()
      guard = await(waiters[turn + 1])
      assert.equal(0, guard:turn())
      assert.is_true(guard:token() > first:token())
      for i = turn + 2, 20 do
        guard:release()
        guard = await(waiters[i])
      end
      guard:release()
    end)

  it("let another process in after at most N", function()
    local n = 4
    local busy, other = mutex(nil, n), mutex(nil, n)
    local guard = busy:acquire(30)
    local waiters = {}
    for i = 1, 12 do waiters[i] = wait_in(busy) end
    local stranger = kinds.queue_in(other, path)
    local served = 0
    for i = 1, n do
      guard:release()
      guard = await(waiters[i])
      served = served + 1
      nobody(0.01, stranger)
    end
    guard:release()
    assert.is_true(await(stranger):is_held())
    nobody(0.05, waiters[n + 1])
    assert.equal(n, served)
    stranger.guard:release()
    -- and the rest goes on, behind one node again
    guard = await(waiters[n + 1])
    assert.equal(0, guard:turn())
    for i = n + 2, 12 do
      guard:release()
      guard = await(waiters[i])
    end
    guard:release()
  end)

  it("are passed on though nobody else waits; the node goes with the last",
    function()
      local lock = mutex(nil, 5)
      local guard = lock:acquire(30)
      local waiter = wait_in(lock)
      nobody(0.02, waiter)
      guard:release()
      assert.equal(1, await(waiter):turn())
      waiter.guard:release()
      kinds.wait_for_nodes(path, 0)
      assert.equal(0, lock:acquire(30):turn())
      assert.is_true(lock:release())
    end)

  it("of a thousand coroutines need one node at a time (T52)", function()
    local scheduler = new_scheduler()
    local session = connect { loop = scheduler.adapter, session_timeout = 60 }
    local lock = mutex(session, 1000)
    local order, expected, inside, tokens = {}, {}, 0, {}
    for i = 1, 1000 do
      expected[i] = i
      scheduler:spawn(function()
        local guard = assert(lock:acquire(30))
        inside = inside + 1
        assert.equal(1, inside)
        order[#order + 1] = i
        tokens[guard:token()] = true
        if i % 200 == 0 then scheduler:sleep(0.001) end
        inside = inside - 1
        guard:release()
      end)
    end
    local begun = support.now()
    local most = 0
    while not scheduler:run(0.01) do
      most = math.max(most, #kinds.nodes(path))
    end
    assert.same(expected, order)
    assert.is_true(most <= 1)
    local n = 0
    for _ in pairs(tokens) do n = n + 1 end
    assert.equal(1, n)
    assert.equal(999, session:stats().local_turns)
    assert.is_true(session:stats().requests < 20)
    assert.is_true(support.now() - begun < 9 + support.slack)
    kinds.wait_for_nodes(path, 0)
  end)

  it("of a thousand coroutines leave every Nth turn to others (T52)",
    function()
      local scheduler = new_scheduler()
      local session = connect { loop = scheduler.adapter,
        session_timeout = 60 }
      local lock, done = mutex(session, 50), 0
      local other, granted, served = mutex(nil, 0), 0, {}
      local asks, known -- does the other one? after how many turns it was known
      -- Whoever is listed, of that one the session has heard.
      local function is_listed()
        local id = other._session:id()
        for _, row in ipairs(assert(session:contenders(path))) do
          if row.session == id then return true end
        end
      end
      for _ = 1, 1000 do
        scheduler:spawn(function()
          local guard = lock:acquire(30)
          while asks and not known do known = is_listed() and done end
          guard:release()
          done = done + 1
        end)
      end
      scheduler:watch(other._session)
      local function again()
        asks, known = true, nil
        other:acquire_async({ timeout = 30, owner = {} }, function(guard)
          granted = granted + 1
          served[granted] = done - (known or done)
          asks = false
          guard:release()
          if done < 900 then again() end
        end)
      end
      again()
      assert.is_true(scheduler:run(30 + support.slack))
      support.step_until(other._session, function() return granted > 0 end)
      assert.equal(1000, done)
      assert.is_true(granted >= 5, granted)
      -- N turns after the first, and our next node is behind it
      for _, turns in ipairs(served) do assert.is_true(turns <= 51, turns) end
      scheduler:unwatch(other._session)
    end)

  it("are given up by timeout, cancel and close, each at its place", function()
    local lock = mutex(nil, 10)
    local guard = lock:acquire(30)
    local waiters = {}
    for i = 1, 6 do waiters[i] = wait_in(lock, i == 2 and 0.1 or nil) end
    waiters[4].ticket:cancel()
    await(waiters[2], waiters[4])
    assert.equal("timeout", waiters[2].code)
    assert.equal("cancelled", waiters[4].code)
    for turn, i in ipairs { 1, 3, 5 } do
      guard:release()
      guard = await(waiters[i])
      assert.equal(turn, guard:turn())
    end
    lock._session:close()
    assert.equal("closed", waiters[6].code)
    assert.is_false(guard:is_held())
    kinds.wait_for_nodes(path, 0)
  end)

  it("keep the deadline of each who waits in this process", function()
    local lock = mutex(nil, 10)
    local guard = lock:acquire(30)
    local begun = support.now()
    local waiters = {}
    for i = 1, 5 do waiters[i] = wait_in(lock, 0.05 * i) end
    await(unpack(waiters))
    for i = 1, 5 do
      assert.equal("timeout", waiters[i].code)
      local took = waiters[i].at - begun
      assert.is_true(took >= 0.05 * i and took < 0.05 * i + 0.3
        + support.slack, took)
    end
    assert.is_true(guard:is_held())
    guard:release()
  end)

  it("end with the hold when it is lost; who waits gets a new node", function()
    local session = connect()
    local lock = mutex(session, 10)
    local guard = lock:acquire(30)
    local one, two = wait_in(lock), wait_in(lock)
    guard:release()
    local held = await(one)
    assert.equal(1, held:turn())
    local lost
    held:on_lost(function() lost = true end)
    support.zk():delete(held.node)
    support.step_until(session, function() return lost end, 5)
    assert.is_false(held:is_held())
    await(two)
    assert.is_true(two.guard:token() > held:token())
    assert.equal(0, two.guard:turn())
    assert.equal("lost", select(3, held:release()))
    assert.is_true(two.guard:verify())
    two.guard:release()
  end)

  it("each have a max_hold of their own", function()
    local lock = mutex(nil, 10, { max_hold = 2 })
    local guard = lock:acquire(30)
    local one = wait_in(lock)
    local two = wait_in(lock, { max_hold = 50 })
    support.sleep(1.2)
    local begun = support.now()
    guard:release()
    local held = await(one)
    support.sleep(0.9) -- past the first one's
    assert.is_true(held:is_held() or support.now() - begun >= 2)
    -- and after its end the next one has a node of its own
    await(two)
    assert.is_false(held:is_held())
    assert.equal("lost", held:state())
    assert.is_true(two.guard:token() > held:token())
    support.sleep(0.2)
    assert.is_true(two.guard:is_held())
    two.guard:release()
    held:release()
  end)

  it("go on over a broken connection", function()
    local proxy = start_proxy()
    local session = connect { hosts = proxy.hosts, session_timeout = 10 }
    local lock = mutex(session, 10)
    local other = mutex(nil, 10)
    local guard = lock:acquire(30)
    local one, two = wait_in(lock), wait_in(lock)
    local stranger = kinds.queue_in(other, path)
    proxy:cut()
    guard:release()
    -- while suspended nothing is passed on: then the stranger is before us
    local left = { one, two, stranger }
    support.wait_until(function()
      for i = #left, 1, -1 do
        left[i].session:step()
        if left[i].guard then
          left[i].guard:release()
          table.remove(left, i)
        end
      end
      return #left == 0
    end, 10)
    kinds.wait_for_nodes(path, 0)
  end)

  it("are reentrant, and pass on when the last guard is released", function()
    local lock = mutex(nil, 10)
    local one, two = lock:acquire(30), lock:acquire(30)
    assert.equal(one:token(), two:token())
    local waiter = wait_in(lock)
    nobody(0.02, waiter)
    one:release()
    nobody(0.03, waiter)
    two:release()
    await(waiter)
    assert.equal(1, waiter.guard:turn())
    waiter.guard:release()
  end)

  it("do not wait for a task that has released and forgotten", function()
    local lock = mutex(nil, 10)
    local first = lock:acquire(30)
    local one, two = wait_in(lock), wait_in(lock)
    first:release { wait = true } -- the hold is passed on: it is given back
    assert.is_false(first:is_held())
    await(one)
    assert.is_true(first:release())
    assert.is_true(one.guard:is_held())
    one.guard:release()
    await(two):release()
  end)

  it("pass on a hold whose guard is collected", function()
    local lock = mutex(nil, 10)
    local granted
    do
      assert(lock:acquire { timeout = 5, owner = {} })
      lock:acquire_async({ owner = {} }, function(guard) granted = guard end)
    end
    support.wait_until(function()
      collectgarbage()
      lock._session:step()
      return granted
    end)
    granted:release()
  end)

  it("are not passed on once somebody has asked for the node", function()
    local lock = mutex(nil, 10)
    local guard = lock:acquire(30)
    local one = wait_in(lock)
    nobody(0.02, one)
    local asked = 0
    guard:on_revoke(function() asked = asked + 1 end)
    support.sleep(0.05)
    assert.equal(1, connect():revoke(path))
    support.step_until(lock._session, function() return asked == 1 end)
    guard:release()
    await(one)
    assert.equal(0, one.guard:turn())
    assert.is_true(one.guard:token() > guard:token())
    one.guard:on_revoke(function() asked = asked + 1 end)
    support.sleep(0.05)
    lock._session:step()
    assert.equal(1, asked)
    one.guard:release()
  end)

  it("may be asked for by two objects with different numbers", function()
    local session = connect()
    local some, none = mutex(session, 5), session:mutex(path)
    local guard = some:acquire(30)
    local one = wait_in(none)
    local two = wait_in(some)
    kinds.wait_for_nodes(path, 2)
    nobody(0.02, one, two)
    guard:release()
    -- the strict one has a place of its own; either may be first
    support.wait_until(function()
      session:step()
      for _, waiter in ipairs { one, two } do
        if waiter.guard then waiter.guard:release() end
      end
      return one.guard and two.guard
    end)
  end)

  it("take a whole number from 0 on", function()
    local session = connect()
    for _, bad in ipairs { -1, 1.5, 0 / 0, math.huge, 1e7 } do
      assert.matches("^option 'handoffs' must be a whole number from 0 to "
        .. "1000000, got ",
        misuse(function() session:mutex(path, { handoffs = bad }) end))
    end
    assert.equal("option 'handoffs' must be a number, got a string",
      misuse(function() session:mutex(path, { handoffs = "3" }) end))
    assert.equal("option 'handoffs' must be a number, got a boolean",
      misuse(function() session:mutex(path, { handoffs = true }) end))
  end)
end)

-- local_turns = N: the waiters of one session take turns on one node.
local kinds = require "integration.family.kinds"
local new_scheduler = require "support.scheduler".new
local support = require "support"
local connect = support.connect
local wait_in, await, nobody = kinds.wait_in, kinds.await, kinds.nobody

describe("Local turns", function()
  local path
  before_each(function() path = support.path() end)

  local function mutex(session, n, options)
    return kinds.with_local_turns(path, n or 10, session, options)
  end

  local function wait_often(lock, n)
    local waiters = {}
    for i = 1, n do waiters[i] = wait_in(lock) end
    return waiters
  end

  -- Passes the lock to each of `waiters` from number `i` on: the last guard.
  local function pass(guard, waiters, i, last)
    for k = i, last or #waiters do
      guard:release()
      guard = await(waiters[k])
    end
    return guard
  end

  it("are taken on one node, in order, without a request", function()
    local lock = mutex(nil, 100)
    local session = lock._session
    local guard = lock:acquire(30)
    local node, token = guard.node, guard:token()
    local waiters = wait_often(lock, 20)
    nobody(0.03, (unpack or table.unpack)(waiters))
    assert.equal(1, #kinds.nodes(path))
    local requests = session:stats().requests
    for i = 1, 20 do
      guard:release()
      assert.is_false(guard:is_held())
      assert.same({ "released", "nil" },
        { guard:state(), tostring(guard:reason()) })
      guard = await(waiters[i])
      assert.same({ "held", node }, { guard:state(), guard.node })
      assert.is_true(guard:lease() > 0)
      assert.equal(token, guard:token())
      assert.equal(i, guard:turn())
      assert.is_true(guard:is_held())
      for k = i + 1, 20 do assert.is_nil(waiters[k].guard) end
    end
    assert.equal(requests, session:stats().requests)
    assert.equal(20, session:stats().local_turns)
    assert.is_true(guard:verify())
    guard:release { wait = true }
    assert.same({}, kinds.nodes(path))
    assert.equal(0, lock:acquire(30):turn())
    lock:release()
  end)

  it("go on without end while nobody else waits, and are counted from then",
    function()
      local n = 3
      local lock = mutex(nil, n)
      local session, waiters = lock._session, wait_often(lock, 20)
      local guard = await(waiters[1])
      local token, lists = guard:token(), session:stats().internal.lists
      guard = pass(guard, waiters, 2, 3)
      -- Half are over: it looks around.
      support.until_state(session, nil, { lists = lists + 1, in_flight = 0 })
      guard = pass(guard, waiters, 4, 13)
      assert.same({ 12, token }, { guard:turn(), guard:token() })
      assert.equal(lists + 1, session:stats().internal.lists)
      local stranger = kinds.queue_in(mutex(nil, 0), path)
      support.until_state(session, nil, { lists = lists + 2, in_flight = 0 })
      guard = pass(guard, waiters, 14, 13 + n)
      assert.equal(12 + n, guard:turn())
      guard:release()
      assert.is_true(await(stranger):is_held())
      nobody(0.05, waiters[14 + n])
      stranger.guard:release()
      guard = await(waiters[14 + n])
      assert.equal(0, guard:turn())
      assert.is_true(guard:token() > token)
      pass(guard, waiters, 15 + n):release()
    end)

  it("of a thousand coroutines need one node at a time (T52)", function()
    local scheduler = new_scheduler()
    local session = connect { loop = scheduler.adapter, session_timeout = 60 }
    local lock = mutex(session, 1000)
    local order, expected, inside, token = {}, {}, 0, nil
    for i = 1, 1000 do
      expected[i] = i
      scheduler:spawn(function()
        local guard = assert(lock:acquire(30))
        inside = inside + 1
        assert.equal(1, inside)
        order[i] = #order + 1
        token = token or guard:token()
        assert.equal(token, guard:token())
        if i % 200 == 0 then scheduler:pause(0.001) end
        inside = inside - 1
        guard:release()
      end)
    end
    while not scheduler:run(0.01) do
      assert.is_true(#kinds.nodes(path) <= 1)
    end
    assert.same(expected, order)
    assert.equal(999, session:stats().local_turns)
    assert.is_true(session:stats().requests < 20)
    kinds.wait_for_nodes(path, 0)
  end)

  it("are given up by timeout, cancel and close, each at its place", function()
    local lock = mutex()
    local guard, waiters = lock:acquire(30), {}
    for i = 1, 6 do waiters[i] = wait_in(lock, i == 2 and 0.1 or nil) end
    waiters[4].ticket:cancel()
    kinds.refused("timeout", await(waiters[2]))
    kinds.refused("cancelled", await(waiters[4]))
    for turn, i in ipairs { 1, 3, 5 } do
      guard = pass(guard, waiters, i, i)
      assert.equal(turn, guard:turn())
    end
    lock._session:close()
    assert.equal("closed", waiters[6].code)
    assert.is_false(guard:is_held())
    kinds.wait_for_nodes(path, 0)
  end)

  it("each have a max_hold of their own", function()
    local lock = mutex(nil, 10, { max_hold = 2 })
    local guard = lock:acquire(30)
    local one = wait_in(lock)
    local two = wait_in(lock, { max_hold = 50 })
    support.advance(1.2)
    local begun = support.now()
    guard:release()
    local held = await(one)
    support.advance(1.9) -- past the first one's
    assert.is_true(held:is_held())
    -- and after its end the next one has a node of its own
    await(two)
    assert.is_true(two.at >= begun + 2 and two.at < begun + 2.05)
    assert.equal("lost", held:state())
    assert.is_true(two.guard:token() > held:token())
    support.advance(40)
    assert.is_true(two.guard:is_held())
    two.guard:release()
    held:release()
  end)

  it("may be asked for by two objects with different numbers", function()
    local session = connect()
    local some, none = mutex(session, 5), session:mutex(path)
    local guard = some:acquire(30)
    local one, two = wait_in(none), wait_in(some)
    kinds.wait_for_nodes(path, 2)
    nobody(0.02, one, two)
    guard:release()
    -- the strict one has a place of its own; either may be first
    support.step_until(session, function()
      for _, waiter in ipairs { one, two } do
        if waiter.guard then waiter.guard:release() end
      end
      return one.guard and two.guard
    end)
  end)
end)

-- local_turns = N: the waiters of one session take turns on one node. The Lua
-- thread does it by itself: what waits there, what is told to whom, and what
-- goes through the I/O thread all the same.
local made = require "zklock.guard"
local kinds = require "integration.family.kinds"
local new_chance = require "explore.chance".new
local new_scheduler = require "support.scheduler".new
local sessions = require "integration.sessions"
local socket = require "socket"
local support = require "support"
local exploration = require "virtual.exploration"
local connect = support.connect
local wait_in, await, nobody = kinds.wait_in, kinds.await, kinds.nobody
local refused = kinds.refused

local path
before_each(function() path = support.path() end)

local function mutex(session, n, options)
  options = options or {}
  options.local_turns = n or 10
  return (session or connect { session_timeout = 60 }):mutex(path, options)
end

describe("Local turns", function()
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
      support.advance(0.001) -- in which the I/O thread reads the list
      guard = pass(guard, waiters, 4, 13)
      assert.same({ 12, token }, { guard:turn(), guard:token() })
      assert.equal(lists + 1, session:stats().internal.lists)
      local stranger = kinds.queue_in(mutex(nil, 0), path)
      support.until_state(session, nil, { lists = lists + 2, in_flight = 0 })
      support.advance(0.001)
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

  it("of a thousand coroutines use one node at a time (T52)", function()
    local session, scheduler = sessions.in_loop { session_timeout = 60 }
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
    refused("timeout", await(waiters[2]))
    refused("cancelled", await(waiters[4]))
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

  it("are not taken by a waiter with lose_on_suspend: a lost connection ends "
    .. "its hold", function()
    local session, proxy = sessions.behind_proxy()
    local lock = mutex(session)
    local guard = lock:acquire(30)
    local losing = wait_in(mutex(session, 10, { lose_on_suspend = true }))
    guard:release()
    assert.equal(0, await(losing):turn())
    sessions.cut_off(session, proxy)
    assert.equal("connection_lost", losing.guard:reason())
    proxy:heal()
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

describe("Turns on the Lua thread", function()
  -- A lock that a first guard holds by its root, and the guard of a turn.
  local function second_turn(lock)
    local first, waiter = lock:acquire(30), wait_in(lock)
    first:release()
    local guard = await(waiter)
    assert.equal(1, guard:turn())
    return guard, first
  end

  it("wake the next task in the very release", function()
    local session, scheduler = sessions.in_loop()
    local lock, guards, tasks = mutex(session), {}, {}
    local guard = lock:acquire(30)
    for i = 1, 3 do
      tasks[i] = scheduler:spawn(function() guards[i] = lock:acquire(30) end)
    end
    scheduler:run(0.05)
    for i = 1, 3 do
      guard:release()
      assert.same({ tasks[i] }, scheduler.ready)
      scheduler:turn()
      guard = guards[i]
      assert.is_true(guard:is_held())
    end
    guard:release()
  end)

  it("tell a loss to who has the node then; a waiter gets a new node",
    function()
      local lock, lost = mutex(connect { session_timeout = 4 }), {}
      local guard, first = second_turn(lock)
      first:on_lost(function() lost[#lost + 1] = "first" end)
      guard:on_lost(function(_, reason) lost[#lost + 1] = reason end)
      local third = wait_in(lock)
      support.zk():delete(guard.node)
      support.step_until(lock._session, function() return lost[1] end)
      assert.same({ "node_deleted" }, lost)
      assert.is_false(guard:is_held())
      refused("lost", guard:release())
      assert.is_true(await(third):token() > guard:token())
      assert.equal(0, third.guard:turn())
      assert.is_true(third.guard:verify())
      third.guard:release()
    end)

  it("tell who has the node that somebody wants it, and stop then", function()
    local lock, asked = mutex(), 0
    local function ask() asked = asked + 1 end
    local guard = second_turn(lock)
    local third = wait_in(lock)
    guard:on_revoke(ask)
    assert.equal(1, connect():revoke(path))
    support.step_until(lock._session, function() return asked == 1 end)
    guard:release()
    assert.equal(0, await(third):turn())
    assert.is_true(third.guard:token() > guard:token())
    third.guard:on_revoke(ask)
    support.advance(1)
    lock._session:step()
    assert.equal(1, asked)
    third.guard:release()
  end)

  it("come after whoever has asked before, however it waits", function()
    local session = connect { session_timeout = 60 }
    local lock, timed = mutex(session), mutex(session, 10, { max_hold = 60 })
    local guard, order = lock:acquire(30), {}
    for i = 1, 9 do
      local which = i % 3 == 0 and timed or lock
      which:acquire_async({ timeout = 30, owner = {} }, function(own)
        order[#order + 1] = i
        own:release()
      end)
    end
    guard:release()
    support.step_until(session, function() return #order == 9 end)
    assert.same({ 1, 2, 3, 4, 5, 6, 7, 8, 9 }, order)
  end)

  it("of callbacks follow each other without end, and step() returns",
    function()
      local lock = mutex(nil, 1000000)
      local session, turns, on = lock._session, 0, true
      local function again(guard)
        turns = turns + 1
        guard:release()
        if on then lock:acquire_async({ owner = {} }, again) end
      end
      for _ = 1, 3 do lock:acquire_async({ owner = {} }, again) end
      support.step_until(session, function() return turns > 0 end)
      for _ = 1, 50 do
        local before = turns
        support.step_until(session, function() return turns > before end)
        assert.is_true(turns - before <= 200)
      end
      assert.is_true(turns > 1000, turns)
      on = false
      support.until_state(session, nil, { holding = 0 })
    end)

  it("of callbacks go on in a loop that follows the descriptor alone",
    function()
      local lock = mutex(nil, 1000)
      local session, turns = lock._session, 0
      for _ = 1, 300 do
        lock:acquire_async({ owner = {} }, function(guard)
          turns = turns + 1
          guard:release()
        end)
      end
      local source = { getfd = function() return session:fd() end }
      while turns < 300 and socket.select({ source }, nil, 600)[1] do
        session:step()
      end
      assert.equal(300, turns)
    end)

  it("end at each deadline, though nobody releases", function()
    local lock = mutex()
    local guard = second_turn(lock)
    local begun, waiters = support.now(), {}
    for i = 1, 30 do waiters[i] = wait_in(lock, 0.1 * (31 - i)) end
    local last = wait_in(lock)
    -- An alarm can be requested just before the I/O thread goes to sleep.
    exploration.during({ switches = 2 }, function()
      await((table.unpack or unpack)(waiters))
    end)
    for i = 1, 30 do
      assert.equal("timeout", waiters[i].code)
      local late = waiters[i].at - begun - 0.1 * (31 - i)
      -- (await() sleeps before it hears of the deadline, and of the refusal.)
      assert.is_true(late >= 0 and late < 0.03, late)
    end
    assert.is_true(guard:is_held())
    guard:release()
    await(last):release()
  end)

  -- Three tasks that wait behind a guard, which is released: `lose` takes the
  -- second task away before.  The turns of the others.
  local function lose_a_waiter(lose)
    local session, scheduler = sessions.in_loop()
    local lock, turns, tasks = mutex(session), {}, {}
    local guard = lock:acquire(30)
    for i = 1, 3 do
      tasks[i] = scheduler:spawn(function()
        local own = assert(lock:acquire(30))
        turns[i] = own:turn()
        own:release()
      end)
    end
    scheduler:turn()
    lose(scheduler, tasks, session)
    guard:release()
    scheduler:run_until(function()
      collectgarbage()
      return turns[3]
    end)
    assert.equal(0, session:stats().waiting)
    kinds.wait_for_nodes(path, 0)
    return turns
  end

  if support.is_54 then
    it("pass over a task that is closed where it waits", function()
      local turns = lose_a_waiter(function(scheduler, tasks, session)
        assert.is_true(scheduler:kill(tasks[2]))
        assert.equal(2, session:stats().waiting)
      end)
      assert.same({ [1] = 1, [3] = 2 }, turns)
    end)
  end

  it("end with a task that is collected; the next one gets a new node",
    function()
      local turns = lose_a_waiter(function(scheduler, tasks)
        scheduler:forget(tasks[2])
        tasks[2] = nil
      end)
      assert.same({ [1] = 1, [3] = 0 }, turns)
    end)

  -- The core of this session, of which the next acquire() calls `first` before.
  local function before_next_acquire(session, first)
    local engine = session._engine
    local core = engine.core
    engine.core = setmetatable({
      acquire = function(_, ...)
        engine.core = core
        first()
        return core:acquire(...)
      end,
    }, { __index = function(_, name)
      return function(_, ...) return core[name](core, ...) end
    end })
  end

  local function fail() error("not enough memory", 0) end

  it("go on after an acquire that fails between its grant and its guard",
    function()
      local session, scheduler = sessions.in_loop()
      local lock, held = mutex(session), support.hold(path)
      local new, failed, granted = made.new, nil, nil
      scheduler:spawn(function()
        failed = not pcall(lock.acquire, lock, 30)
      end)
      scheduler:spawn(function() granted = lock:acquire(30) end)
      scheduler:turn()
      made.new = function()
        made.new = new
        fail()
      end
      held:release()
      scheduler:run_until(function() return granted end)
      assert.is_true(failed)
      granted:release()
    end)

  it("go on when the release is called again that could not send the next one",
    function()
      local session = connect()
      local lock, timed = mutex(session), mutex(session, 10, { max_hold = 60 })
      local guard, waiter = lock:acquire(30), wait_in(timed)
      before_next_acquire(session, fail)
      assert.is_false((pcall(guard.release, guard)))
      assert.is_true(guard:release())
      await(waiter):release()
    end)

  it("go on in the step after one that could not send the next one", function()
    local session = connect()
    local lock = mutex(session)
    local guard, waiter = lock:acquire(30), wait_in(lock)
    before_next_acquire(session, fail)
    support.zk():delete(guard.node)
    support.wait_until(function() return not pcall(session.step, session) end)
    await(waiter):release()
    refused("lost", guard:release())
  end)

  it("end at a deadline that passes while others are ended", function()
    local session = connect()
    local lock = mutex(session)
    local guard = lock:acquire(30)
    local late, soon = wait_in(lock, 1.5), wait_in(lock, 1)
    before_next_acquire(session, function() support.advance(1) end)
    await(soon, late)
    assert.equal("timeout", soon.code)
    assert.equal("timeout", late.code)
    guard:release()
  end)

  it("reach a callback that waits for an event of its own batch",
    function()
      local scheduler = new_scheduler(new_chance(1)) -- whose callbacks may wait
      local rival, guard, took = support.hold(path .. "/other"), nil, nil
      scheduler:spawn(function()
        local session = connect { loop = scheduler.adapter }
        local lock = mutex(session)
        assert(lock:acquire { timeout = 30, max_hold = 1 })
        session:mutex(path .. "/other"):acquire_async(nil, function(other)
          took = support.timed(function()
            guard = lock:acquire { timeout = 30, owner = {} }
          end)
          other:release()
        end)
        rival:release()
        support.advance(2) -- the grant and the first hold's loss are one batch
      end)
      scheduler:run_until(function() return took end)
      assert.is_true(took < 1, took)
      guard:release()
    end)

  if support.is_54 then
    it("let a multi be cancelled of which a task was closed in the line",
      function()
        local session, scheduler = sessions.in_loop()
        local lock = mutex(session)
        local guard = lock:acquire(30)
        local multi = session:multi { lock, session:mutex(path .. "/other") }
        local task = scheduler:spawn(function() multi:acquire(30) end)
        scheduler:turn()
        assert.is_true(scheduler:kill(task))
        multi:cancel()
        guard:release()
      end)
  end
end)

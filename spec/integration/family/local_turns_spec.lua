-- Local turns that the Lua thread takes by itself: what waits there, what is
-- told to whom, and what goes through the I/O thread all the same.
local Hold = require "zklock.hold"
local kinds = require "integration.family.kinds"
local new_scheduler = require "support.scheduler".new
local socket = require "socket"
local support = require "support"
local connect = support.connect
local wait_in, await, refused = kinds.wait_in, kinds.await, kinds.refused

describe("Turns on the Lua thread", function()
  local path
  before_each(function() path = support.path() end)

  local function mutex(session, n, options)
    return kinds.with_local_turns(path, n or 10, session, options)
  end

  -- A lock that a first guard holds by its root, and the guard of a turn.
  local function second_turn(lock)
    local first, waiter = lock:acquire(30), wait_in(lock)
    first:release()
    local guard = await(waiter)
    assert.equal(1, guard:turn())
    return guard, first
  end

  it("wake the next task in the very release", function()
    local scheduler, guards, tasks = new_scheduler(), {}, {}
    local lock = mutex(connect { loop = scheduler.adapter })
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
    await((table.unpack or unpack)(waiters))
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
    local scheduler, turns, tasks = new_scheduler(), {}, {}
    local lock = mutex(connect { loop = scheduler.adapter })
    local session, guard = lock._session, lock:acquire(30)
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
      local scheduler, held = new_scheduler(), support.hold(path)
      local lock = mutex(connect { loop = scheduler.adapter })
      local new, failed, granted = Hold.new, nil, nil
      scheduler:spawn(function()
        failed = not pcall(lock.acquire, lock, 30)
      end)
      scheduler:spawn(function() granted = lock:acquire(30) end)
      scheduler:turn()
      Hold.new = function()
        Hold.new = new
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
    before_next_acquire(session, function() socket.sleep(1) end)
    await(soon, late)
    assert.equal("timeout", soon.code)
    assert.equal("timeout", late.code)
    guard:release()
  end)

  if support.is_54 then
    it("let a multi be cancelled of which a task was closed in the line",
      function()
        local scheduler = new_scheduler()
        local session = connect { loop = scheduler.adapter }
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

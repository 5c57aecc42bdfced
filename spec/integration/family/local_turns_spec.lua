-- Local turns that the Lua thread takes by itself: what waits there, what is
-- told to whom, and what goes through the I/O thread all the same.
local kinds = require "integration.family.kinds"
local new_scheduler = require "support.scheduler".new
local socket = require "socket"
local start_proxy = require "support.proxy".start
local start_server = require "support.server".start
local support = require "support"
local connect = support.connect
local wait_in, await, refused = kinds.wait_in, kinds.await, kinds.refused

before_each(function() kinds.start() end)
after_each(support.finish)

describe("Turns on the Lua thread", function()
  local path
  before_each(function() path = support.path() end)

  local function mutex(session, n, options)
    return kinds.with_handoffs(path, n or 10, session, options)
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

  -- (The library lets no session use two layouts at one path; the core does.)
  it("are of one layout", function()
    local core = require "zklock.core"
    local handle = assert(core.open { hosts = support.hosts,
      session_timeout = 10 })
    support.closing(handle, handle.leave)
    local function take(layout)
      return (handle:acquire(path, 60, true, "", nil,
        { kind = "mutex", layout = layout, handoffs = 3 }))
    end
    local function until_held(share)
      support.wait_until(function()
        handle:wait(0.01)
        while handle:next() do handle:noted() end
        return share:state() == "held"
      end, 30, "a grant")
    end
    local first, second = take "curator", take "kazoo"
    until_held(first)
    first:release()
    until_held(second)
    assert.matches("__lock__%d+$", second:node())
    second:release()
  end)

  it("are counted like any others", function()
    local lock = mutex()
    local session = lock._session
    local guard, waiters = lock:acquire(30), {}
    for i = 1, 5 do waiters[i] = wait_in(lock) end
    assert.equal(5, session:stats().waiting)
    for i = 1, 5 do
      guard:release()
      guard = await(waiters[i])
    end
    local stats, waits = session:stats(), 0
    for _, n in ipairs(stats.wait_histogram) do waits = waits + n end
    assert.same({ 6, 6, 5, 0, 1 }, { waits, stats.grants, stats.local_turns,
      stats.waiting, stats.holding })
    guard:release()
  end)

  it("tell a loss to who has the node then; a waiter gets a new node",
    function()
      local lock, lost = mutex(connect { session_timeout = 4 }), {}
      local guard, first = second_turn(lock)
      first:on_lost(function() lost[#lost + 1] = "first" end)
      guard:on_lost(function(_, code, reason)
        lost[#lost + 1] = code .. " " .. reason
      end)
      local third = wait_in(lock)
      support.zk():delete(guard.node)
      support.step_until(lock._session, function() return lost[1] end)
      assert.same({ "lost deleted" }, lost)
      assert.is_false(guard:is_held())
      refused("lost", guard:release())
      assert.is_true(await(third):token() > guard:token())
      assert.equal(0, third.guard:turn())
      assert.is_true(third.guard:verify())
      third.guard:release()
    end)

  it("let a lease end that of whoever has the node", function()
    local proxy = start_proxy()
    local lock = mutex(connect { hosts = proxy.hosts, session_timeout = 4 })
    local guard = second_turn(lock)
    local third = wait_in(lock)
    proxy:freeze()
    support.wait_until(function() return not guard:is_held() end)
    refused("lost", guard:release())
    assert.equal("silence", guard:reason())
    proxy:heal()
    assert.equal(0, await(third):turn())
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

  it("are confirmed where that is asked for", function()
    local lock = mutex()
    local guard = second_turn(lock)
    local third = wait_in(lock)
    assert.is_true(guard:release { wait = true })
    assert.is_false(guard:is_held())
    assert.equal(2, await(third):turn())
    assert.is_true(guard:release())
    assert.is_true(third.guard:is_held())
    assert.is_true(third.guard:release { wait = true })
    assert.same({}, kinds.nodes(path))
  end)

  it("count for the node, whichever thread took them", function()
    local lock = mutex(nil, 4)
    local guard, waiters, turns = lock:acquire(30), {}, {}
    for i = 1, 9 do waiters[i] = wait_in(lock) end
    for i = 1, 9 do
      guard:release(i % 2 == 0 and { wait = true } or nil)
      guard = await(waiters[i])
      turns[i] = guard:turn()
    end
    assert.same({ 1, 2, 3, 4, 0, 1, 2, 3, 4 }, turns)
    guard:release()
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

  it("keep who only tries out", function()
    local lock = mutex()
    local guard = second_turn(lock)
    local third = wait_in(lock)
    refused("busy", lock:try_acquire { owner = {} })
    guard:release()
    await(third):release()
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

  it("pass on what a dead task was granted", function()
    local scheduler, guard, third = new_scheduler(), nil, nil
    local session = connect { loop = scheduler.adapter, session_timeout = 60 }
    local lock = mutex(session)
    scheduler:spawn(function() guard = lock:acquire(30) end)
    assert.is_true(scheduler:run(30))
    do
      local dead = coroutine.create(function() lock:acquire(30) end)
      coroutine.resume(dead) -- and nobody will ever resume it
    end
    scheduler:spawn(function() third = lock:acquire(30) end)
    scheduler:run(0.05)
    guard:release()
    assert.equal(1, #scheduler.ready) -- it was woken, and is forgotten
    scheduler.ready = {}
    support.wait_until(function()
      collectgarbage()
      scheduler:run(0.02)
      return third
    end)
    assert.is_true(third:is_held())
    third:release()
  end)

  it("are told though a hook interrupts the release", function()
    local scheduler = new_scheduler()
    local session = connect { loop = scheduler.adapter, session_timeout = 60 }
    local lock, struck = mutex(session, 1000000), 0
    for n = 1, 240, 3 do
      local guard, got = lock:acquire { timeout = 30, owner = {} }, nil
      scheduler:spawn(function()
        got = lock:acquire { timeout = 30, owner = {} }
      end)
      scheduler:run(0)
      pcall(function()
        debug.sethook(function()
          debug.sethook()
          struck = struck + 1
          error("struck", 0)
        end, "", n)
        guard:release()
        debug.sethook()
      end)
      if guard:state() ~= "released" then guard:release() end
      support.wait_until(function()
        scheduler:run(0.001)
        return got
      end)
      got:release()
    end
    if not jit then assert.is_true(struck > 10, struck) end -- (compiled: none)
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
      assert.is_true(late >= 0 and late < 0.02, late) -- await() sleeps
    end
    assert.is_true(guard:is_held())
    guard:release()
    await(last):release()
  end)
end)

-- (More of them, by chance: make explore.)
describe("A storm of local turns", function()
  local TASKS = 64
  local path, session, lock, scheduler, inside, count, over

  local function believers()
    local n = 0
    for guard in pairs(inside) do n = n + (guard:is_held() and 1 or 0) end
    return n
  end

  -- Every fifth gives up soon, every eighth works for a while.
  local function take_turn(i)
    local guard, _, code = lock:acquire(i % 5 == 0 and 0.05 or nil)
    if not guard then
      count[code] = (count[code] or 0) + 1
      return
    end
    count.granted = count.granted + 1
    inside[guard] = true
    assert.is_true(believers() <= 1)
    if i % 16 == 0 then guard:on_revoke(function() end) end
    if i % 8 == 0 then scheduler:pause(0.002) end
    assert.is_true(believers() <= 1)
    inside[guard] = nil
    local kept = guard:release(i % 32 == 0 and { wait = true } or nil)
    if not kept then count.lost = count.lost + 1 end
  end

  local function begin(hosts)
    path, scheduler, inside, over = support.path(), new_scheduler(), {}, false
    count = { granted = 0, lost = 0, ended = 0 }
    session = connect { hosts = hosts, loop = scheduler.adapter,
      session_timeout = 4 }
    lock = session:mutex(path, { handoffs = 16 })
    for i = 1, TASKS do
      scheduler:spawn(function()
        while not over do take_turn(i) end
        count.ended = count.ended + 1
      end)
    end
  end

  local function goes_on_until(condition)
    support.wait_until(function()
      scheduler:run(0.02)
      return condition()
    end, 60)
  end

  local function goes_on(turns)
    local least = count.granted + (turns or 10 * TASKS)
    goes_on_until(function() return count.granted > least end)
  end

  -- Nobody is passed the lock while there is no server.
  local function stands_still()
    goes_on_until(function() return session:state() == "suspended" end)
    local before = count.granted
    scheduler:run(0.5)
    assert.equal(0, believers())
    assert.equal(before, count.granted)
  end

  it("outlives whatever befalls its node and its server", function()
    local server = start_server(1, "--config maxSessionTimeout=60000")
    support.closing(server, server.stop)
    begin(server.hosts)
    local operator = support.zk(server.hosts)
    local other = connect { hosts = server.hosts }
    for round = 1, 60 do
      goes_on(round % 7)
      if round % 3 == 1 then
        other:revoke(path)
      elseif round % 3 == 0 then
        for _, node in ipairs(kinds.nodes(path, server.hosts)) do
          operator:delete(node)
        end
      end
    end
    assert.is_true(count.lost > 3, count.lost)
    goes_on()
    count.lost = 0
    server:kill()
    goes_on_until(function() return session:state() ~= "connected" end)
    local before = count.granted
    scheduler:run(0.2)
    -- (What was sent may have been granted; nobody is passed anything.)
    assert.is_true(count.granted <= before + 1)
    server:restart()
    goes_on()
    assert.equal(0, count.lost)
    server:pause()
    stands_still()
    server:resume()
    goes_on()
    assert.is_true(count.lost <= 1, count.lost)
    assert.is_true(session:stats().local_turns > 20 * TASKS)
    over = true
    goes_on_until(function() return count.ended == TASKS end)
    assert.equal(0, believers())
    assert.equal(0, session:stats().waiting)
    assert.is_nil(count.closed)
    kinds.wait_for_nodes(path, 0, 30, server.hosts)
  end)

  it("is over when its session is closed, by a task or from outside", function()
    for round = 1, 12 do
      begin()
      if round % 2 == 0 then
        scheduler:spawn(function()
          scheduler:pause(0.003 * round)
          over = true -- (who acquires from now on is told by an error)
          session:close()
        end)
      else
        goes_on(40 * round)
        over = true
        session:close()
        assert.equal(0, believers())
      end
      goes_on_until(function() return count.ended == TASKS end)
      assert.is_true(count.closed >= 1)
      kinds.wait_for_nodes(path, 0)
    end
  end)
end)

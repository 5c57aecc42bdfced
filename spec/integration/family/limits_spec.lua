-- Holds that end by themselves: max_hold, and on_suspend = "lose".
local kinds = require "integration.family.kinds"
local spawn = require "support.child".spawn
local start_proxy = require "support.proxy".start
local support = require "support"
local connect, misuse = support.connect, support.misuse
local wait_in, await = kinds.wait_in, kinds.await

before_each(function() kinds.start() end)
after_each(support.finish)

describe("max_hold", function()
  local path
  before_each(function() path = support.path() end)

  -- A child takes the lock, then runs `stuck`; others get the lock in time.
  local function is_enforced_while(name, stuck)
    it("is enforced while Lua " .. name, function()
      local child = spawn([[
        local session = assert(zklock.connect(hosts, { session_timeout = 30 }))
        local mutex = session:mutex((...), { max_hold = 1 })
        local taken = zklock.now()
        local guard = assert(mutex:acquire(30))
        local lost = 0
        guard:on_lost(function() lost = lost + 1 end)
        say("held", taken)
        local begun = zklock.now()
        local function stop() return zklock.now() - begun > 2.2 end
        ]] .. stuck .. [[
        say(guard:is_held(), guard:lease(), guard:state(), lost)
        for _ = 1, 10 do session:step() end
        say(lost, (select(3, guard:release())))
        session:close()
      ]], path)
      local taken = tonumber(child:hear():match "^held\t(.+)")
      local begun = support.now()
      local waiter = wait_in(connect():mutex(path))
      local guard = await(waiter)
      assert.is_true(waiter.at - taken >= 1, waiter.at - taken)
      assert.is_true(waiter.at - begun < 1.65 + support.slack,
        waiter.at - begun)
      assert.is_true(guard:verify())
      child:expect "false\t0\tlost\t0"
      child:expect "1\tlost"
      assert.is_true(guard:verify())
      guard:release()
      assert.equal(0, child:wait())
    end)
  end

  is_enforced_while("spins", "while not stop() do end")
  is_enforced_while("sleeps in C", "os.execute 'sleep 2.4'")
  is_enforced_while("sleeps in its own process",
    "socket.sleep(2.4)")
  is_enforced_while("collects garbage", [[
    local all = {}
    while not stop() do
      for i = 1, 1000 do all[i] = { tostring(i) } end
      collectgarbage()
    end
  ]])

  it("ends is_held() by this process's clock, before anybody is told",
    function()
      local guard = connect():mutex(path):acquire { max_hold = 0.2,
        timeout = 5 }
      local begun = support.now()
      local last = begun
      repeat
        local now = support.now()
        local held = guard:is_held()
        if held then last = now end
      until not held
      assert.is_true(last - begun <= 0.2)
      assert.equal(0, guard:lease())
      guard:release()
    end)

  it("counts from the grant, not from the call", function()
    local holder = support.hold(path)
    local waiter = wait_in(connect():mutex(path, { max_hold = 0.3 }))
    support.sleep(0.4)
    local begun = support.now()
    holder:release()
    local guard = await(waiter)
    support.wait_until(function() return not guard:is_held() end, 1)
    assert.is_true(support.now() - begun >= 0.3)
    guard:release()
  end)

  it("of acquire goes before that of the lock", function()
    local mutex = connect():mutex(path, { max_hold = 0.1 })
    local guard = mutex:acquire { max_hold = 30, timeout = 5 }
    support.sleep(0.2)
    assert.is_true(guard:is_held())
    assert.is_true(guard:lease() > 1)
    guard:release { wait = true }
    guard = mutex:acquire { max_hold = math.huge, timeout = 5 }
    support.sleep(0.15)
    assert.is_true(guard:is_held())
    guard:release()
  end)

  it("is not begun anew by reentry", function()
    local mutex = connect():mutex(path, { max_hold = 4 })
    local begun = support.now()
    local guard = mutex:acquire(30)
    support.sleep(0.3)
    local again = mutex:acquire(30)
    support.wait_until(function() return not again:is_held() end, 2)
    assert.is_true(support.now() - begun < 4.2 + support.slack)
    assert.equal("lost", select(3, mutex:acquire(30)))
    again:release()
    guard:release()
    mutex:acquire(30):release()
  end)

  it("does not outlive the hold", function()
    local mutex = connect():mutex(path, { max_hold = 0.15 })
    mutex:acquire(30):release()
    local guard = mutex:acquire { max_hold = 10, timeout = 5 }
    support.sleep(0.25)
    assert.is_true(guard:is_held())
    assert.is_true(guard:verify())
    guard:release()
  end)

  it("holds while no server is in reach; then the node goes", function()
    local proxy = start_proxy()
    local session = connect { hosts = proxy.hosts, session_timeout = 10 }
    local guard = session:mutex(path):acquire { max_hold = 2, timeout = 5 }
    local lost
    guard:on_lost(function() lost = true end)
    proxy:refuse()
    support.step_until(session, function() return lost end, 3)
    assert.is_false(guard:is_held())
    assert.equal(1, #kinds.nodes(path))
    proxy:heal()
    kinds.wait_for_nodes(path, 0)
    guard:release()
  end)

  it("may be nothing at all", function()
    local guard = connect():mutex(path):acquire { max_hold = 0, timeout = 5 }
    assert.is_false(guard:is_held())
    guard:release()
    kinds.wait_for_nodes(path, 0)
  end)
end)

describe("on_suspend", function()
  local path, proxy, session
  before_each(function()
    path, proxy = support.path(), start_proxy()
    session = connect { hosts = proxy.hosts, session_timeout = 4 }
  end)

  it("= \"keep\" keeps the hold until its lease is over", function()
    local guard = session:mutex(path, { on_suspend = "keep" }):acquire(30)
    local lost
    guard:on_lost(function() lost = support.now() end)
    local begun = support.now()
    proxy:refuse()
    support.until_state(session, "suspended")
    assert.equal("suspended", guard:state())
    assert.is_true(guard:is_held())
    support.step_until(session, function() return lost end, 6)
    assert.is_true(lost - begun > 0.3
      and lost - begun < 4 + support.slack, lost - begun)
    assert.is_false(guard:is_held())
    proxy:heal()
    guard:release()
  end)

  it("= \"keep\" keeps it over a short break", function()
    local guard = session:mutex(path):acquire(30)
    for _ = 1, 3 do
      proxy:cut()
      support.sleep(0.05)
    end
    support.step_until(session, function() return guard:verify() end)
    assert.is_true(guard:is_held())
    assert.equal("held", guard:state())
    guard:release()
  end)

  it("= \"lose\" loses it with the connection, for good", function()
    local mutex = session:mutex(path, { on_suspend = "lose" })
    local guard = mutex:acquire(30)
    local calls = 0
    guard:on_lost(function(_, code)
      calls = calls + 1
      assert.equal("lost", code)
    end)
    proxy:cut()
    support.step_until(session, function() return calls > 0 end, 1)
    assert.is_false(guard:is_held())
    support.until_state(session, "connected")
    assert.is_false(guard:is_held())
    assert.equal("lost", select(3, mutex:acquire(30)))
    assert.equal("lost", select(3, guard:release()))
    assert.equal(1, calls)
    local fresh = assert(mutex:acquire(30))
    assert.is_true(fresh:token() > guard:token())
    fresh:release()
  end)

  it("= \"lose\" leaves waiters in their place", function()
    local holder = support.hold(path)
    local waiter = wait_in(session:mutex(path, { on_suspend = "lose" }))
    local queue = support.wait_for_queue(path, 2)
    proxy:cut()
    support.sleep(0.1)
    assert.same(queue, support.zk():queue(path))
    holder:release()
    assert.is_true(await(waiter):verify())
    waiter.guard:release()
  end)

  it("is each lock object's own", function()
    local lose = session:mutex(path .. "/a", { on_suspend = "lose" })
    local keep = session:mutex(path .. "/b")
    local one, two = lose:acquire(30), keep:acquire(30)
    proxy:cut()
    support.step_until(session, function() return not one:is_held() end, 1)
    assert.is_true(two:is_held())
    one:release()
    two:release()
  end)

  it("is \"keep\" or \"lose\"", function()
    for _, bad in ipairs { "LOSE", "", 1, true, {} } do
      assert.matches("^option 'on_suspend' must be \"keep\" or \"lose\", got ",
        misuse(function() session:mutex(path, { on_suspend = bad }) end))
    end
  end)
end)

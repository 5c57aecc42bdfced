-- Up to so many holders.
local kinds = require "integration.family.kinds"
local spawn = require "support.child".spawn
local start_proxy = require "support.proxy".start
local support = require "support"
local connect, misuse = support.connect, support.misuse
local wait_in, await, nobody = kinds.wait_in, kinds.await, kinds.nobody

local function leases(path) return #kinds.nodes(path .. "/leases") end

describe("A semaphore", function()
  before_each(function() kinds.start() end)
  after_each(support.finish)

  it("is held by as many as it has permits, and no more", function()
    local path = support.path()
    local guards = {}
    for i = 1, 3 do
      guards[i] = assert(connect():semaphore(path, 3):acquire(30))
    end
    for _, guard in ipairs(guards) do assert.is_true(guard:verify()) end
    local semaphore = connect():semaphore(path, 3)
    assert.equal("busy", select(3, semaphore:try_acquire()))
    assert.equal("timeout", select(3, semaphore:acquire(0.05)))
    local first, second = wait_in(semaphore), wait_in(semaphore)
    nobody(0.05, first, second)
    guards[2]:release()
    await(first)
    nobody(0.05, second)
    guards[1]:release()
    await(second)
    assert.equal(3, leases(path))
    for _, guard in ipairs { guards[3], first.guard, second.guard } do
      assert.is_true(guard:release { wait = true })
    end
    assert.same({}, kinds.nodes(path))
  end)

  it("is spelled as Curator's InterProcessSemaphoreV2", function()
    local path = support.path()
    local guard = connect():semaphore(path, 1):acquire(30)
    assert.matches("^/leases/%w+%-lease%-%d+$",
      guard.node:sub(#path + 1))
    assert.equal(path, guard.path)
    local waiter = wait_in(connect():semaphore(path, 1))
    local inner
    support.wait_until(function()
      inner = support.zk():queue(path .. "/locks")
      return #inner == 1
    end)
    assert.matches("^%w+%-lock%-%d+$", inner[1])
    assert.same({ "leases", "locks" }, support.zk():children(path))
    guard:release()
    await(waiter):release()
  end)

  it("gives one owner a permit for each acquisition", function()
    local path = support.path()
    local session = connect()
    local semaphore = session:semaphore(path, 2)
    local one = assert(semaphore:acquire(30))
    local two = assert(semaphore:acquire(30))
    assert.are_not.equal(one.node, two.node)
    assert.are_not.equal(one:token(), two:token())
    assert.equal("busy", select(3, semaphore:try_acquire()))
    assert.is_true(semaphore:release()) -- the innermost
    assert.is_true(one:is_held())
    assert.is_false(two:is_held())
    assert.is_true(assert(semaphore:acquire(30)):release())
    assert.is_true(semaphore:release())
    assert.is_false(one:is_held())
    assert.is_false(pcall(semaphore.release, semaphore))
    semaphore:with_lock(function()
      semaphore:with_lock(function()
        assert.equal("busy", select(3, semaphore:try_acquire()))
      end)
    end)
  end)

  it("lets waiters in in the order of their arrival", function()
    local path = support.path()
    local holder = connect():semaphore(path, 1):acquire(30)
    local waiters, order = {}, {}
    for i = 1, 4 do
      waiters[i] = kinds.queue_in(connect():semaphore(path, 1), path)
    end
    local guard = holder
    for i = 1, 4 do
      guard:release()
      guard = await(waiters[i])
      order[i] = #order + 1
      for k = i + 1, 4 do nobody(0, waiters[k]) end
    end
    guard:release()
    assert.same({ 1, 2, 3, 4 }, order)
  end)

  it("never gives fifty at once more than it has (T11)", function()
    local path = support.path()
    local sessions, waiters = {}, {}
    for i = 1, 10 do sessions[i] = connect() end
    for i = 1, 50 do
      waiters[i] = wait_in(sessions[i % 10 + 1]:semaphore(path, 3), 0)
    end
    await((unpack or table.unpack)(waiters))
    local granted = {}
    for _, waiter in ipairs(waiters) do
      if waiter.guard then
        granted[#granted + 1] = waiter.guard
      else
        assert.equal("timeout", waiter.code)
      end
    end
    assert.is_true(#granted >= 1 and #granted <= 3, #granted)
    kinds.wait_for_nodes(path, #granted)
    assert.equal(#granted, leases(path))
    for _, guard in ipairs(granted) do
      assert.is_true(guard:verify())
      guard:release()
    end
    -- one after the other all three are to be had
    local semaphore = sessions[1]:semaphore(path, 3)
    kinds.wait_for_nodes(path, 0)
    for i = 1, 50 do
      local guard, _, code = semaphore:try_acquire()
      if i <= 3 then assert.is_table(guard) else assert.equal("busy", code) end
      granted[i] = guard
    end
  end)

  it("is obeyed by each with its own number of permits", function()
    local path = support.path()
    local narrow, wide = connect(), connect()
    local one = assert(narrow:semaphore(path, 1):acquire(30))
    local two = assert(wide:semaphore(path, 3):acquire(30))
    local three = assert(wide:semaphore(path, 3):acquire(30))
    assert.equal("busy", select(3, wide:semaphore(path, 3):try_acquire()))
    one:release()
    two:release { wait = true }
    assert.equal("busy", select(3, narrow:semaphore(path, 1):try_acquire()))
    assert.is_true(assert(wide:semaphore(path, 3):acquire(30)):release())
    three:release { wait = true }
    assert(narrow:semaphore(path, 1):acquire(30)):release()
  end)

  it("is used with one number of permits by one session", function()
    local session, path = connect(), support.path()
    local semaphore = session:semaphore(path, 2)
    assert.equal(path .. " is used as a semaphore of 2 permits by this "
      .. "session, not as a semaphore of 3 permits",
      misuse(function() session:semaphore(path, 3) end))
    assert.is_table(session:semaphore(path, 2))
    assert(semaphore:acquire(30)):release()
  end)

  it("takes whole numbers of permits from 1 on", function()
    local session, path = connect(), support.path()
    local wrong = { 0, -1, 1.5, 0 / 0, math.huge, -math.huge, 1e7 }
    for _, bad in ipairs(wrong) do
      assert.matches("^permits must be a whole number from 1 to 1000000, got ",
        misuse(function() session:semaphore(path, bad) end))
    end
    for _, bad in ipairs { "3", {}, true } do
      assert.equal("permits must be a number, got a " .. type(bad),
        misuse(function() session:semaphore(path, bad) end))
    end
    assert.equal("permits must be a number, got nil",
      misuse(function() session:semaphore(path) end))
    assert.is_table(session:semaphore(path, 1000000))
    assert.is_table(session:semaphore(support.path(), 3.0))
  end)

  it("gives a lease back when its wait ends (T23)", function()
    local path = support.path()
    local holder = connect():semaphore(path, 1):acquire(30)
    -- the one inside the inner mutex has made its lease already
    local function one_waits(options)
      local session = connect()
      local waiter = wait_in(session:semaphore(path, 1), options)
      support.wait_until(function() return leases(path) == 2 end)
      return waiter, session
    end
    local waiter = one_waits()
    waiter.ticket:cancel()
    kinds.wait_for_nodes(path, 1)
    one_waits(2)
    kinds.wait_for_nodes(path, 1)
    local _, session = one_waits()
    session:close()
    kinds.wait_for_nodes(path, 1)
    local child = spawn([[
      local session = assert(zklock.connect(hosts, { session_timeout = 1 }))
      session:semaphore((...), 1):acquire()
    ]], path)
    support.wait_until(function() return leases(path) == 2 end)
    child:signal "KILL"
    kinds.wait_for_nodes(path, 1)
    assert.is_true(holder:is_held())
    assert.is_true(holder:verify())
    holder:release()
  end)

  it("gives a lease back whatever reply is lost (T23)", function()
    local path, proxy = support.path(), start_proxy()
    local session = connect { hosts = proxy.hosts, session_timeout = 10 }
    local semaphore = session:semaphore(path, 1)
    semaphore:acquire(30):release { wait = true }
    -- somebody else is inside; the request that is spoilt is the one for the
    -- lease, the list of leases, the end of the inner node
    for _, request in ipairs { "create", "list", "delete" } do
      for _, gives_up in ipairs { false, true } do
        local zk = support.zk()
        local inside
        repeat -- an empty container may go at any moment
          zk:make(path .. "/locks", { container = true })
          inside = zk:create(path .. "/locks/x-lock-",
            { ephemeral = true, sequential = true })
        until inside
        local waiter = wait_in(semaphore, 10)
        kinds.wait_for_nodes(path, 2)
        nobody(0.05, waiter)
        proxy:lose_reply(request)
        support.zk():delete(inside)
        proxy:await_loss()
        if gives_up then
          waiter.ticket:cancel()
          support.sleep(0.02)
        end
        proxy:heal()
        await(waiter)
        if waiter.guard then
          support.wait_until(function()
            return waiter.guard:verify()
          end, 5, "a hold that can be verified")
          waiter.guard:release()
        else
          assert.equal("cancelled", waiter.code)
          assert.is_true(gives_up)
        end
        kinds.wait_for_nodes(path, 0)
      end
    end
  end)

  it("begins again when its place inside is lost", function()
    local path = support.path()
    local holder = connect():semaphore(path, 1):acquire(30)
    local first = wait_in(connect():semaphore(path, 1))
    support.wait_until(function() return leases(path) == 2 end)
    local second = kinds.queue_in(connect():semaphore(path, 1), path)
    local inner = support.zk():queue(path .. "/locks")
    support.zk():delete(path .. "/locks/" .. inner[1])
    nobody(0.1, first, second)
    holder:release()
    support.wait_until(function()
      first.session:step()
      second.session:step()
      return first.guard or second.guard
    end)
    local winner = first.guard and first or second
    local other = first.guard and second or first
    nobody(0.05, other)
    winner.guard:release()
    await(other):release()
  end)

  it("begins again when its lease is deleted while it waits", function()
    local path = support.path()
    local holder = connect():semaphore(path, 1):acquire(30)
    local waiter = wait_in(connect():semaphore(path, 1))
    support.wait_until(function() return leases(path) == 2 end)
    for _ = 1, 3 do
      for _, node in ipairs(kinds.nodes(path .. "/leases")) do
        if node ~= holder.node then support.zk():delete(node) end
      end
      nobody(0.03, waiter)
    end
    holder:release()
    assert.is_true(await(waiter):verify())
    waiter.guard:release()
  end)

  it("survives the deletion of its directories", function()
    local path = support.path()
    local session = connect()
    local holder = session:semaphore(path, 1):acquire(30)
    local one, two = wait_in(connect():semaphore(path, 1)),
      wait_in(connect():semaphore(path, 1))
    support.wait_until(function() return #kinds.nodes(path) == 4 end)
    support.zk():delete_all(path)
    -- a lease may be granted just before it is deleted, so both may be
    for _ = 1, 2 do
      support.wait_until(function()
        one.session:step()
        two.session:step()
        return one.guard or two.guard
      end)
      local winner = one.guard and one or two
      winner.guard:release()
      one, two = winner == one and two or one, winner == one and two or one
    end
    support.wait_until(function() return not holder:is_held() end, 5)
  end)

  it("counts a lease that somebody else has made", function()
    local path, zk = support.path(), support.zk()
    local semaphore = connect():semaphore(path, 2)
    zk:make(path .. "/leases")
    local node = zk:create(path .. "/leases/x-lease-", { sequential = true })
    zk:create(path .. "/leases/no lease of anybody")
    zk:create(path .. "/leases/x-lock-", { sequential = true })
    local guard = assert(semaphore:acquire(30))
    assert.equal("busy", select(3, semaphore:try_acquire()))
    zk:delete(node)
    assert(semaphore:acquire(30)):release()
    guard:release { wait = true }
    zk:delete_all(path)
  end)

  it("is its own lock beside another one's directories", function()
    local path = support.path()
    local session = connect()
    local guard = assert(session:semaphore(path, 1):acquire(30))
    local inner = assert(connect():semaphore(path .. "/a", 1):acquire(0))
    inner:release()
    guard:release()
  end)
end)

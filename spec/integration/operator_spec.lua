-- What an operator, or a program that knows nothing of us, does to the nodes.
-- (To those of each kind of lock: family/contract_spec.lua.)
local kinds = require "integration.family.kinds"
local support = require "support"
local connect, await = support.connect, kinds.await

local path, zk

-- Waits in a session of its own, and stands in the queue.
local function wait_in(options)
  return kinds.queue_in(connect():mutex(path), path, options)
end

before_each(function()
  support.start()
  path, zk = support.path(), support.zk()
end)
after_each(support.finish)

describe("A waiter whose node is deleted", function()
  it("goes to the end of the queue with a new one, of no longer name (T28)",
    function()
      local holder = support.hold(path)
      local first, second = wait_in(), wait_in()
      local node, length = first.node, #first.node
      for _ = 1, 5 do
        zk:delete(node)
        support.wait_until(function() return #zk:queue(path) == 3 end)
        node = path .. "/" .. zk:queue(path)[3]
        assert.equal(length, #node)
      end
      holder:release()
      assert.equal(second.node, await(second).node)
      kinds.nobody(0.1, first)
      second.guard:release()
      assert.equal(node, await(first).node)
      assert.equal(zk:exists(node).czxid, first.guard:token())
    end)
end)

describe("A waiter", function()
  it("is granted when the holder's node is deleted (T30)", function()
    local holder = support.hold(path, { session_timeout = 3 })
    local waiter = wait_in()
    zk:delete(holder.node)
    assert.near(0, support.timed(function() await(waiter) end), 0.02)
    -- the contract gives the old holder a heartbeat's time to learn of it
    support.advance(0.51)
    assert.is_false(holder:is_held())
  end)

  it("goes on when the one just ahead is deleted (T30)", function()
    local holder = support.hold(path)
    local middle, last = wait_in(), wait_in()
    for _ = 1, 3 do
      zk:delete(path .. "/" .. zk:queue(path)[2])
      support.wait_for_queue(path, 3)
    end
    local second = zk:queue(path)[2]
    holder:release()
    support.wait_until(function()
      middle.session:step()
      last.session:step()
      return middle.guard or last.guard
    end)
    local one = middle.guard and middle or last
    local other = one == middle and last or middle
    assert.equal(path .. "/" .. second, one.guard.node)
    assert.is_nil(other.guard)
    one.guard:release()
    await(other)
  end)

  it("is not disturbed when its node or the holder's is written to",
    function()
      local holder = support.hold(path)
      local waiter = wait_in()
      local queue = zk:queue(path)
      for _ = 1, 5 do
        for _, name in ipairs(queue) do zk:set(path .. "/" .. name, "") end
        kinds.nobody(0.05, waiter)
      end
      assert.same(queue, zk:queue(path))
      assert.is_true(holder:is_held() and holder:verify())
      holder:release()
      assert.equal(waiter.node, await(waiter).node)
    end)

  -- Deletes everything, and steps three waiters until all were granted once:
  -- how many requests they have made, heartbeats apart.
  local function disturb(times)
    local holder = support.hold(path, { session_timeout = 1 })
    local waiters, requests = {}, 0
    for i = 1, 3 do waiters[i] = wait_in() end
    for _ = 1, times do
      zk:delete_all(path)
      support.advance(0.02)
    end
    support.wait_until(function()
      local all = true
      for _, waiter in ipairs(waiters) do
        waiter.session:step()
        if waiter.guard then waiter.guard:release() end
        all = all and waiter.guard
      end
      return all
    end)
    for _, waiter in ipairs(waiters) do
      requests = requests + support.requests(waiter.session)
    end
    support.wait_until(function() return not holder:is_held() end)
    support.wait_for_queue(path, 0)
    return requests
  end

  it("survives the deletion of the whole directory (T36)", function()
    disturb(1)
  end)

  it("survives it again and again, without a storm (T37)", function()
    local requests = disturb(10)
    assert.is_true(requests < 3 * 10 * 10, requests)
  end)

  it("meets no error while its directory comes and goes (T54)", function()
    local mutex = connect():mutex(path)
    for _ = 1, 150 do
      local guard = assert(mutex:acquire(30))
      assert.is_true(guard:is_held())
      guard:release()
      zk:delete(path) -- or it is not empty, and no matter
    end
  end)
end)

describe("A holder", function()
  it("loses the lock with the directory, and may acquire again", function()
    local mutex = connect { session_timeout = 1 }:mutex(path)
    local guard = mutex:acquire()
    zk:delete_all(path)
    support.advance(1 / 6 + 0.01)
    assert.is_false(guard:is_held())
    guard:release()
    local fresh = assert(mutex:acquire(30))
    assert.is_true(fresh:token() > guard:token())
  end)

  it("releases its own node and no newer one (T8)", function()
    zk:make(path) -- what is above it does not vanish
    local guard = connect { session_timeout = 60 }:mutex(path):acquire()
    zk:delete_all(path)
    zk:make(path)
    local node = zk:create(path .. "/other-lock-",
      { sequential = true, ephemeral = true })
    assert.equal(guard.node:sub(-10), node:sub(-10))
    guard:release { wait = true }
    assert.is_table(zk:exists(node))
    zk:delete(node)
  end)
end)

describe("Foreign children", function()
  local names = {
    "a", "-", "--", "_c_", "_c_-", "lock", "lock-", "-lock-", "-lock-1",
    "-lock-000000000", "-lock-00000000001", "x-lock-0000000001x",
    "x-lock-000000000a", "x-lock- 000000001", "x-lock-+000000001",
    "x-lock-99999999999", "x-lock-9999999999", "x-lock--0000000001",
    "0000000001", "%d%s%n", "a b", "größe", "鎖-lock-",
    "_c_00000000-0000-4000-8000-000000000000-lock-",
    "_c_00000000-0000-4000-8000-000000000000-lock-00000", "member_0000000001",
    "0b5c__lock__0000000001", "x-lease-0000000001", "x__READ__0000000001",
    "x-__READ__0000000001", "x-__WRIT__0000000001", "read-0000000001",
    ("x"):rep(200) .. "0000000001", ("9"):rep(200), ".hidden", "..x",
  }

  it("of every spelling are ignored, with what they have (T59, T60)",
    function()
      zk:make(path .. "/x/y/z")
      zk:set(path .. "/x", ("d"):rep(100000))
      for _, name in ipairs(names) do
        assert.is_truthy(zk:create(path .. "/" .. name), name)
      end
      local guard = assert(connect():mutex(path):acquire(30))
      assert.is_true(guard:verify())
      local waiter = wait_in()
      assert.equal("busy", (select(3, connect():mutex(path):try_acquire())))
      guard:release()
      await(waiter):release { wait = true }
      assert.equal(#names + 1, #zk:children(path))
      zk:delete_all(path)
    end)

  it("in great number do no harm", function()
    zk:make(path)
    for i = 1, 1000 do zk:create(path .. "/foreign-" .. i) end
    local mutex = connect():mutex(path)
    for _ = 1, 10 do assert(mutex:acquire(30)):release() end
    zk:delete_all(path)
  end)
end)

describe("A path", function()
  it("may be the child of another lock's", function()
    local session = connect()
    local outer = session:mutex(path):acquire(30)
    local inner = session:mutex(path .. "/inner"):acquire(30)
    assert.is_true(outer:is_held() and inner:is_held())
    assert.is_true(inner:release { wait = true })
    assert.is_true(outer:release { wait = true })
  end)

  it("that is an ephemeral node, or below one, is invalid", function()
    zk:make(path)
    local node = zk:create(path .. "/ephemeral", { ephemeral = true })
    for _, at in ipairs { node, node .. "/x" } do
      local guard, message, code = connect():mutex(at):acquire(30)
      assert.is_nil(guard)
      assert.equal("invalid", code)
      assert.matches("^zklock: ZooKeeper cannot make a lock at ", message)
    end
    zk:delete(node)
  end)
end)

-- What an operator, or a program that knows nothing of us, does to the nodes.
local support = require "support"
local connect = support.connect

-- Begins to wait: `{ guard =, code = }`, filled in by the callback.
local function wait_in(session, path, options)
  local result = { session = session }
  local before = #support.zk():queue(path)
  session:mutex(path):acquire_async(options, function(guard, _, code)
    result.guard, result.code = guard, code
  end)
  support.wait_for_queue(path, before + 1)
  return result
end

local function await(result, seconds)
  return support.step_until(result.session, function()
    return result.guard or result.code
  end, seconds, "an outcome")
end

before_each(support.start)
after_each(support.finish)

describe("A waiter whose node somebody deletes", function()
  it("is never granted the lock without a node (T6)", function()
    local path = support.path()
    local holder = support.hold(path)
    local waiter = wait_in(connect(), path)
    local node = path .. "/" .. support.zk():queue(path)[2]
    support.zk():delete(node)
    holder:release()
    await(waiter)
    assert.are_not.equal(node, waiter.guard.node)
    assert.is_table(support.zk():exists(waiter.guard.node))
    assert.equal(support.zk():exists(waiter.guard.node).czxid,
      waiter.guard:token())
  end)

  it("goes to the end of the queue with a new one", function()
    local path = support.path()
    local holder = support.hold(path)
    local first, second = wait_in(connect(), path), wait_in(connect(), path)
    local queue = support.zk():queue(path)
    support.zk():delete(path .. "/" .. queue[2])
    support.wait_until(function()
      local now = support.zk():queue(path)
      return #now == 3 and now[2] == queue[3]
    end)
    holder:release()
    await(second)
    assert.is_nil(first.guard)
    second.guard:release()
    await(first)
    assert.is_true(first.guard:is_held())
  end)

  it("keeps its deadline", function()
    local path = support.path()
    support.hold(path)
    local waiter = wait_in(connect(), path, 1.5)
    local begun = support.now()
    for _ = 1, 3 do
      support.sleep(0.45)
      local queue = support.zk():queue(path)
      if queue[2] then support.zk():delete(path .. "/" .. queue[2]) end
    end
    await(waiter)
    assert.equal("timeout", waiter.code)
    assert.is_true(support.now() - begun < 1.5 + support.slack)
  end)

  it("keeps the length of its names (T28)", function()
    local path = support.path()
    support.hold(path)
    wait_in(connect(), path)
    local length = #support.zk():queue(path)[2]
    for _ = 1, 5 do
      local name = support.zk():queue(path)[2]
      support.zk():delete(path .. "/" .. name)
      support.wait_until(function()
        local now = support.zk():queue(path)[2]
        return now and now ~= name
      end)
      assert.equal(length, #support.zk():queue(path)[2])
    end
  end)
end)

describe("A waiter", function()
  it("is granted when the holder's node is deleted (T30)", function()
    local path = support.path()
    local holder = support.hold(path, { session_timeout = 3 })
    local waiter = wait_in(connect(), path)
    support.zk():delete(holder.node)
    await(waiter)
    assert.is_true(waiter.guard:is_held())
    -- the contract gives the old holder a heartbeat's time to learn of it
    support.wait_until(function() return not holder:is_held() end,
      0.5 + support.slack)
  end)

  it("goes on when the one just ahead is deleted (T30)", function()
    local path = support.path()
    local holder = support.hold(path)
    local middle, last = wait_in(connect(), path), wait_in(connect(), path)
    for _ = 1, 3 do
      local queue = support.zk():queue(path)
      support.zk():delete(path .. "/" .. queue[2])
      support.wait_until(function() return #support.zk():queue(path) == 3 end)
    end
    holder:release()
    support.wait_until(function()
      middle.session:step()
      last.session:step()
      return middle.guard or last.guard
    end)
    local one = middle.guard and middle or last
    local other = one == middle and last or middle
    assert.is_nil(other.guard)
    one.guard:release()
    await(other)
  end)

  it("is not granted when somebody writes to the holder's node", function()
    local path = support.path()
    local holder = support.hold(path)
    local waiter = wait_in(connect(), path)
    for i = 1, 5 do
      support.zk():set(holder.node, "data " .. i)
      support.sleep(0.02)
      waiter.session:step()
    end
    assert.is_nil(waiter.guard)
    assert.is_true(holder:is_held())
    holder:release()
    await(waiter)
  end)

  it("is not disturbed when somebody writes to its own node", function()
    local path = support.path()
    local holder = support.hold(path)
    local waiter = wait_in(connect(), path)
    local queue = support.zk():queue(path)
    for i = 1, 5 do support.zk():set(path .. "/" .. queue[2], "data " .. i) end
    support.sleep(0.05)
    assert.same(queue, support.zk():queue(path))
    holder:release()
    await(waiter)
    assert.equal(path .. "/" .. queue[2], waiter.guard.node)
  end)

  -- Deletes everything, and steps the waiters until all were granted once.
  local function disturb(path, waiters, times)
    for _ = 1, times do
      support.zk():delete_all(path)
      support.sleep(0.02)
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
  end

  it("survives the deletion of the whole directory (T36)", function()
    local path = support.path()
    local holder = support.hold(path, { session_timeout = 1 })
    local waiters = {}
    for i = 1, 3 do waiters[i] = wait_in(connect(), path) end
    disturb(path, waiters, 1)
    support.wait_until(function() return not holder:is_held() end)
    support.wait_for_queue(path, 0)
  end)

  it("survives it again and again, without a storm (T37)", function()
    local path = support.path()
    support.hold(path)
    local waiters, requests = {}, 0
    for i = 1, 3 do waiters[i] = wait_in(connect(), path) end
    disturb(path, waiters, 10)
    for _, waiter in ipairs(waiters) do
      requests = requests + waiter.session:stats().requests
    end
    assert.is_true(requests < 3 * 10 * 10, requests)
  end)

  it("meets no error while its directory comes and goes (T54)", function()
    local path = support.path()
    local mutex = connect():mutex(path)
    local zk = support.zk()
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
    local path = support.path()
    local mutex = connect { session_timeout = 1 }:mutex(path)
    local guard = mutex:acquire()
    support.zk():delete_all(path)
    support.wait_until(function() return not guard:is_held() end,
      0.17 + support.slack)
    guard:release()
    local fresh = assert(mutex:acquire(30))
    assert.is_true(fresh:token() > guard:token())
  end)

  it("keeps the lock when somebody writes to its node", function()
    local session = connect { session_timeout = 4 }
    local guard = session:mutex(support.path()):acquire()
    for i = 1, 20 do
      support.zk():set(guard.node, "x" .. i)
      support.sleep(0.05)
    end
    assert.is_true(guard:is_held())
    assert.is_true(guard:verify())
  end)

  it("releases its own node and no newer one (T8)", function()
    local path = support.path()
    local zk = support.zk()
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

  it("of every spelling are ignored (T59, T60)", function()
    local path, zk = support.path(), support.zk()
    zk:make(path)
    for _, name in ipairs(names) do
      assert.is_truthy(zk:create(path .. "/" .. name), name)
    end
    local mutex = connect():mutex(path)
    local guard = assert(mutex:acquire(30))
    assert.is_true(guard:verify())
    local waiter = wait_in(connect(), path)
    assert.equal("busy", (select(3, connect():mutex(path):try_acquire())))
    guard:release()
    await(waiter)
    waiter.guard:release { wait = true }
    assert.equal(#names, #zk:children(path))
    zk:delete_all(path)
  end)

  it("may have children of their own, and data", function()
    local path, zk = support.path(), support.zk()
    zk:make(path .. "/x/y/z")
    zk:set(path .. "/x", ("d"):rep(100000))
    assert.is_true(connect():mutex(path):acquire(30):release())
  end)

  it("that are locks of others by their name are waited for", function()
    local path, zk = support.path(), support.zk()
    zk:make(path)
    local nodes = {}
    for i, prefix in ipairs { "-lock-", "x-lock-", "_c_short-lock-" } do
      nodes[i] = zk:create(path .. "/" .. prefix,
        { sequential = true, ephemeral = true })
    end
    local waiter = wait_in(connect(), path)
    for _, node in ipairs(nodes) do
      support.sleep(0.02)
      waiter.session:step()
      assert.is_nil(waiter.guard)
      zk:delete(node)
    end
    await(waiter)
  end)

  it("in great number do no harm", function()
    local path, zk = support.path(), support.zk()
    zk:make(path)
    for i = 1, 1000 do zk:create(path .. "/foreign-" .. i) end
    local mutex = connect():mutex(path)
    for _ = 1, 10 do assert(mutex:acquire(30)):release() end
    zk:delete_all(path)
  end)
end)

describe("A path", function()
  it("may be the child of another lock's", function()
    local session, path = connect(), support.path()
    local outer = session:mutex(path):acquire(30)
    local inner = session:mutex(path .. "/inner"):acquire(30)
    assert.is_true(outer:is_held() and inner:is_held())
    assert.is_true(inner:release { wait = true })
    assert.is_true(outer:release { wait = true })
  end)

  it("below somebody's ephemeral node is invalid", function()
    local path, zk = support.path(), support.zk()
    zk:make(path)
    local node = zk:create(path .. "/ephemeral", { ephemeral = true })
    local begun = support.now()
    local guard, message, code = connect():mutex(node .. "/x"):acquire(30)
    assert.is_nil(guard)
    assert.equal("invalid", code)
    assert.matches("^zklock: ZooKeeper cannot make a lock at ", message)
    assert.is_true(support.now() - begun < support.slack)
    zk:delete(node)
  end)

  it("that has an ephemeral node itself is invalid", function()
    local path, zk = support.path(), support.zk()
    zk:make(path)
    local node = zk:create(path .. "/ephemeral", { ephemeral = true })
    local _, _, code = connect():mutex(node):acquire(30)
    assert.equal("invalid", code)
    zk:delete(node)
  end)
end)

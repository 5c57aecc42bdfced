local kinds = require "integration.family.kinds"
local support = require "support"
local connect, misuse = support.connect, support.misuse
local queue_in, await = kinds.queue_in, kinds.await

before_each(support.start)
after_each(support.finish)

describe("acquire", function()
  it("makes one node in ZooKeeper and takes it away again", function()
    local session, path = connect(), support.path()
    local mutex = session:mutex(path)
    assert.is_false(support.zk():exists(path))
    local guard = mutex:acquire()
    local queue = support.zk():queue(path)
    assert.same({ guard.node }, { path .. "/" .. queue[1], queue[2] })
    guard:release { wait = true }
    -- (An empty directory may have vanished already.)
    assert.same({}, support.zk():children(path) or {})
  end)

  it("names its node briefly, and never twice the same", function()
    local session, path = connect(), support.path()
    local seen = {}
    for _ = 1, 5 do
      local guard = session:mutex(path):acquire()
      local mark, number = guard.node:match("/(%w+)%-lock%-(%d+)$")
      assert.same({ 6, 10 }, { #mark, #number })
      assert.is_nil(seen[mark])
      seen[mark] = true
      guard:release { wait = true }
    end
  end)

  it("makes missing parents, which are containers", function()
    local top = support.path()
    local guard = connect():mutex(top .. "/a/b"):acquire(30)
    guard:release { wait = true }
    -- The server removes empty containers, here at once.
    support.wait_until(function()
      return not support.zk():exists(top .. "/a")
    end)
  end)

  it("works under a parent that somebody made persistent (T55)", function()
    local session, path = connect(), support.path()
    support.zk():make(path)
    session:mutex(path):acquire(30):release { wait = true }
    support.advance(0.5) -- a container would be removed
    assert.is_table(support.zk():exists(path))
  end)

  it("keeps one deadline however often those ahead change (T43)", function()
    local path = support.path()
    support.hold(path)
    local leavers, waiter = {}, connect():mutex(path)
    for i = 1, 4 do leavers[i] = queue_in(connect():mutex(path), path) end
    local begun = support.now()
    local waiting = kinds.wait_in(waiter, 1.5)
    for i = 4, 1, -1 do
      support.advance(0.35)
      leavers[i].ticket:cancel()
      await(leavers[i])
    end
    assert.equal("timeout", select(3, await(waiting)))
    assert.near(begun + 1.5, waiting.at, 0.02)
  end)

  it("keeps its place when one in the middle leaves (T45)", function()
    local path = support.path()
    local guard = support.hold(path)
    local waiters = {}
    for i = 1, 4 do waiters[i] = queue_in(connect():mutex(path), path) end
    waiters[2].ticket:cancel()
    support.wait_for_queue(path, 4)
    for _, i in ipairs { 1, 3, 4 } do
      guard:release()
      guard = await(waiters[i])
      assert.equal(waiters[i].node, guard.node)
    end
    assert.equal("cancelled", select(3, await(waiters[2])))
  end)

  it("does not take data that are too long, nor NaN for an owner", function()
    local path = support.path()
    local mutex = connect():mutex(path)
    local long = ("x"):rep(1048577)
    assert.matches("^option 'data' must be at most %d+ bytes, got 1048577$",
      misuse(function() mutex:acquire { data = long } end))
    assert.matches("^option 'owner' must not be NaN",
      misuse(function() mutex:acquire { owner = 0 / 0 } end))
    for _ = 1, 50 do
      pcall(mutex.acquire, mutex, -1)
      pcall(mutex.acquire, mutex, { data = 1 })
      pcall(mutex.try_acquire, mutex, { timeout = 1 })
    end
    assert.is_false(support.zk():exists(path))
    assert.is_true(mutex:acquire { owner = false }:release())
  end)
end)

describe("try_acquire", function()
  it("says busy when others only wait for it", function()
    local path, zk = support.path(), support.zk()
    zk:make(path)
    local node = zk:create(path .. "/somebody-lock-",
      { ephemeral = true, sequential = true })
    assert.equal("busy", select(3, connect():mutex(path):try_acquire()))
    zk:delete(node)
  end)

  it("takes options, but no timeout", function()
    local mutex = connect():mutex(support.path())
    local guard = mutex:try_acquire { data = "hello", max_hold = 5, owner = 1 }
    assert.equal("hello", (support.zk():get(guard.node)))
    assert.equal("try_acquire takes no timeout",
      misuse(function() mutex:try_acquire { timeout = 1 } end))
    assert.matches("must be a table",
      misuse(function() mutex:try_acquire(30) end))
  end)
end)

describe("What a contender's node carries", function()
  local function data_of(guard) return (support.zk():get(guard.node)) end

  it("is host:pid, or option data of the lock, or of acquire", function()
    local session = connect()
    assert.matches("^[^:]+:" .. support.pid() .. "$",
      data_of(session:mutex(support.path()):acquire()))
    local mutex = session:mutex(support.path(), { data = "of the lock" })
    local guard = mutex:acquire()
    assert.equal("of the lock", data_of(guard))
    guard:release { wait = true }
    assert.equal("of the call",
      data_of(mutex:acquire { data = "of the call" }))
  end)

  it("may be empty, binary, and as big as ZooKeeper takes", function()
    local mutex = connect():mutex(support.path())
    for _, data in ipairs { "", "\0\1\255\0", ("x"):rep(1000000) } do
      local guard = assert(mutex:acquire { data = data, timeout = 5 })
      assert.is_true(data == data_of(guard))
      guard:release { wait = true }
    end
  end)
end)

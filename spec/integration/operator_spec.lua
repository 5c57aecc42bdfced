-- What an operator, or a program that knows nothing of us, does to the nodes.
-- (To those of each kind of lock: family/contract_spec.lua.)
local kinds = require "integration.family.kinds"
local sessions = require "integration.sessions"
local support = require "support"
local virtual = require "zklock.virtual"
local connect, await = support.connect, kinds.await

local path, zk

-- Waits in a session of its own, and stands in the queue.
local function wait_in() return kinds.queue_in(connect():mutex(path), path) end

before_each(function() path, zk = support.path(), support.zk() end)

it("A waiter whose node is deleted creates one at the tail, of no longer name "
  .. "(T28)", function()
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

describe("A waiter", function()
  it("acquires the lock when the holder's node is deleted (T30)", function()
    local holder = support.hold(path, { session_timeout = 3 })
    local waiter = wait_in()
    zk:delete(holder.node)
    assert.near(0, support.timed(function() await(waiter) end), 0.02)
    -- the contract gives the old holder a heartbeat's time to learn of it
    support.advance(0.51)
    assert.is_false(holder:is_held())
  end)

  it("survives repeated deletions of the directory, without a storm of "
    .. "requests "
    .. "(T36, T37)", function()
    local holder = support.hold(path, { session_timeout = 1 })
    local waiters, requests = {}, 0
    for i = 1, 3 do waiters[i] = wait_in() end
    for _ = 1, 10 do
      zk:delete_all(path)
      support.advance(0.02)
    end
    kinds.pass_on(waiters)
    for _, waiter in ipairs(waiters) do
      requests = requests + support.requests(waiter.session)
    end
    assert.is_true(requests < 3 * 10 * 10, requests)
    support.wait_until(function() return not holder:is_held() end)
    support.wait_for_queue(path, 0)
  end)

  it("gets no error while its directory is deleted again and again "
    .. "(T54)", function()
    local mutex = connect():mutex(path)
    for _ = 1, 150 do
      local guard = assert(mutex:acquire(30))
      assert.is_true(guard:is_held())
      guard:release()
      zk:delete(path) -- or it is not empty, and no matter
    end
  end)
end)

it("A holder deletes its own node, and no newer node (T8)", function()
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

describe("A watch", function()
  it("that fires for data and at reconnections stays one watch "
    .. "(T48)", function()
    local session, proxy = sessions.behind_proxy()
    local holder = support.hold(path)
    local waiter = kinds.queue_in(session:mutex(path), path)
    for i = 1, 30 do
      zk:set(holder.node, "round " .. i)
      zk:set(waiter.node, "round " .. i)
      if i % 10 == 0 then
        proxy:cut()
        support.until_state(session, nil, { reconnects = i / 10 })
      end
    end
    support.until_state(session, nil, { in_flight = 0 })
    kinds.nobody(0.1, waiter)
    -- The waiter's: one on the node before it, one on its own.
    assert.equal(2, support.count_watches(path))
    holder:release()
    assert.is_true(await(waiter):is_held())
    waiter.guard:release { wait = true }
    support.wait_until(function() return support.count_watches(path) == 0 end)
  end)

  it("of a node that no waiter needs changes nothing (T56)",
    function()
      local session = connect()
      zk:make(path) -- it does not vanish when it is empty
      local holder = support.hold(path)
      local waiter = kinds.queue_in(session:mutex(path), path)
      local gone = holder.node
      holder:release { wait = true }
      local guard = await(waiter)
      -- The predecessor's name again, and its end again.
      local function repeat_the_end()
        zk:create(gone)
        zk:set(gone, "again")
        zk:delete(gone)
        support.advance(1)
        session:step()
      end
      repeat_the_end()
      assert.is_true(guard:is_held())
      assert.is_true(guard:verify())
      guard:release { wait = true }
      repeat_the_end()
      assert.equal("released", guard:state())
      assert.equal(0, session:stats().holding)
      assert.equal(1, session:stats().grants)
    end)
end)

-- (The counter is an int32 that the server lets stick at its largest value:
-- nodes share numbers then, and creates in one batch get negative ones:
-- ZOOKEEPER-3249.)
describe("The end of a directory's counter", function()
  local END = 2 ^ 31 - 1

  -- Whose next number is so many before the end.
  local function set_left(directory, left)
    zk:make(directory)
    assert(virtual.find(support.hosts):set_counter(directory, END - left))
    return directory
  end

  it("never allows two holders, and restarts the counter at 0 (T10)", function()
    for _, left in ipairs { 70000, 65540, 2, 0 } do
      local here, users, numbers = set_left(support.path(), left), {}, {}
      local held, last = nil, ""
      for s = 1, 4 do
        users[s] = connect()
        for _ = 1, 5 do -- in one batch, and one by one
          local mutex = users[s]:mutex(here, { reentrant = false })
          local function again(turns)
            mutex:acquire_async({ timeout = 30, owner = {} },
              function(guard, message)
                assert(guard, message)
                assert.is_true(guard:token() > last)
                assert.is_falsy(held and held:is_held())
                held, last = guard, guard:token()
                numbers[#numbers + 1] = tonumber(guard.node:match
                  "%-(%-?%d+)$")
                guard:release()
                if turns > 1 then again(turns - 1) end
              end)
          end
          again(4)
        end
      end
      support.wait_until(function()
        for _, session in ipairs(users) do session:step() end
        return #numbers == 80
      end)
      for _, number in ipairs(numbers) do
        assert.is_true(number >= 0 and number < END - 65534, number)
      end
      if left < 65535 then assert.is_true(numbers[80] < 1000) end
    end
  end)

  it("is looked for again, where the directory cannot be replaced", function()
    set_left(path, 10)
    zk:create(path .. "/kept")
    local waiter = kinds.wait_in(connect { session_timeout = 4 }:mutex(path))
    kinds.nobody(10, waiter)
    assert(virtual.find(support.hosts):set_counter(path, 8))
    kinds.await(waiter):release()
  end)

  it("is invalid in a directory that carries somebody's data", function()
    set_left(path, 10)
    zk:set(path, "mine")
    assert.matches("counter",
      kinds.refused("invalid", connect():mutex(path):acquire(30)))
  end)

  kinds.each(it, "is not met by a user", function(kind)
    local below = kind.name == "semaphore" and { "/locks", "/leases" }
      or kind.multi and { "/a" } or { "" }
    for _, name in ipairs(below) do set_left(path .. name, 0) end
    local lock = kind.make(connect(), path)
    for _ = 1, 3 do
      local guard = assert(lock:acquire(10))
      assert.is_true(guard:verify())
      assert.is_true(guard:release { wait = true })
    end
  end)
end)

-- Several locks at once: all or nothing.
local kinds = require "integration.family.kinds"
local new_scheduler = require "support.scheduler".new
local support = require "support"
local connect, misuse = support.connect, support.misuse
local wait_in, await, nobody = kinds.wait_in, kinds.await, kinds.nobody

describe("A multi", function()
  local path, session
  before_each(function()
    path = support.path()
    session = connect()
  end)

  -- A multi of mutexes with these names, in a session.
  local function multi(names, in_session)
    local locks = {}
    in_session = in_session or session
    for name in names:gmatch "%S+" do
      locks[#locks + 1] = in_session:mutex(path .. "/" .. name)
    end
    return in_session:multi(locks)
  end

  -- Another session holds the mutex of this name.
  local function holds(name)
    return support.hold(path .. "/" .. name)
  end

  local function queue_of(name)
    return #support.zk():queue(path .. "/" .. name)
  end

  -- A stale multi passed a fence by the largest token of its parts: that was
  -- larger than the token of the next holder of one part.
  it("has no token for all of its parts", function()
    local guard = multi("a b"):acquire(30)
    for _, name in ipairs { "token", "token_number", "turn" } do
      assert.is_nil(guard[name], name)
    end
    local tokens = guard:tokens()
    assert.is_true(tokens[path .. "/b"].token > tokens[path .. "/a"].token)
    guard:release()
  end)

  it("takes once what is given twice", function()
    local guard = multi "b c b a":acquire(30)
    assert.equal(table.concat(kinds.nodes(path), ","), guard.node)
    guard:release()
  end)

  it("has one deadline for all its parts (T42)", function()
    local first, last = holds "a", holds "c"
    local begun = support.now()
    local waiter = wait_in(multi "a b c", 0.5)
    support.advance(0.25)
    first:release()
    await(waiter)
    assert.equal("timeout", waiter.code)
    local took = support.now() - begun
    assert.is_true(took >= 0.5 and took < 0.51, took)
    assert.is_true(last:verify())
  end)

  it("stops at the first part that fails (T42)", function()
    local holder = holds "c"
    local zk = support.zk()
    zk:make(path .. "/b")
    zk:delete(path .. "/b")
    zk:create(path .. "/b", { acl = support.everybody(1) })
    assert.matches(path .. "/b",
      kinds.refused("denied", multi "c b a":acquire(20)), 1, true)
    support.wait_for_queue(path .. "/a", 0)
    assert.equal(1, queue_of "c")
    assert.is_true(holder:is_held())
  end)

  -- Tasks that take the parts in different orders, so many times each.
  local function cross(scheduler, sessions, rounds)
    local inside, all = 0, 0
    for i, one in ipairs(sessions) do
      local lock = multi(i % 2 == 0 and "a b c" or "c b a", one)
      scheduler:spawn(function()
        for _ = 1, rounds do
          local guard = assert(lock:acquire(60))
          inside, all = inside + 1, all + 1
          assert.equal(1, inside)
          scheduler:pause(0)
          inside = inside - 1
          guard:release()
        end
      end)
    end
    assert.is_true(scheduler:run(60))
    assert.equal(#sessions * rounds, all)
  end

  it("never deadlocks with a multi in another order (T41)", function()
    local scheduler, sessions = new_scheduler(), {}
    for i = 1, 3 do sessions[i] = connect { loop = scheduler.adapter } end
    cross(scheduler, sessions, 40)
  end)

  it("never deadlocks with another task's multi in its session "
    .. "(T41)", function()
    local scheduler = new_scheduler()
    local one = connect { loop = scheduler.adapter }
    cross(scheduler, { one, one, one, one, one, one }, 10)
  end)

  it("may be made of every kind", function()
    local function mixed(in_session)
      local side = in_session:rwlock(path .. "/rw")
      local read = in_session:rwlock(path .. "/r").read
      return in_session:multi {
        in_session:semaphore(path .. "/s", 2),
        side.write,
        read,
        in_session:mutex(path .. "/m"),
        in_session:mutex(path .. "/u", { fair = false }),
        in_session:mutex(path .. "/h", { local_turns = 2 }),
        in_session:mutex(path .. "/k", { layout = "kazoo" }),
        in_session:mutex(path .. "/p", { wait = "parent" }),
      }
    end
    local lock, other = mixed(session), connect()
    local guard = assert(lock:acquire(30))
    assert.is_true(guard:verify())
    assert.equal(9, #kinds.nodes(path)) -- (two of the unfair mutex)
    assert.equal("busy", select(3, mixed(other):try_acquire()))
    -- what it shares others may share
    assert(other:rwlock(path .. "/r").read:acquire(0)):release()
    assert(other:semaphore(path .. "/s", 2):acquire(0)):release()
    guard:release { wait = true }
    assert(mixed(other):acquire(30)):release()
  end)

  it("of both sides of one rwlock writes and reads", function()
    local side = session:rwlock(path .. "/rw")
    local guard = assert(session:multi { side.read, side.write }:acquire(30))
    assert.equal(2, #kinds.nodes(path))
    local other = connect():rwlock(path .. "/rw")
    assert.equal("busy", select(3, other.read:try_acquire()))
    guard:release { wait = true }
    assert(other.write:acquire(30)):release()
  end)

  it("is reentrant, also where it meets a hold of a part", function()
    local lock = multi "a b"
    local single = session:mutex(path .. "/b")
    local part = assert(single:acquire(30))
    local one, two = assert(lock:acquire(30)), assert(lock:acquire(0))
    assert.same(one:tokens(), two:tokens())
    assert.equal(part.node, one.node:match(",(.*)$"))
    one:release()
    assert.is_true(two:is_held())
    part:release()
    assert.is_true(two:is_held())
    two:release { wait = true }
    assert.same({}, kinds.nodes(path))
  end)

  it("is a deadlock where a part would be", function()
    local lock = session:multi {
      session:mutex(path .. "/a"),
      session:mutex(path .. "/b", { reentrant = false }),
    }
    local held = assert(session:mutex(path .. "/b"):acquire(30))
    kinds.refused("deadlock", lock:acquire(30))
    support.wait_for_queue(path .. "/a", 0)
    held:release()
    local side = session:rwlock(path .. "/rw")
    local reading = side.read:acquire(30)
    assert.equal("deadlock", select(3, session:multi {
      session:mutex(path .. "/a"), side.write,
    }:acquire(30)))
    reading:release()
  end)

  it("does not cancel the waits of others for a part", function()
    local holder = holds "b"
    local part = session:mutex(path .. "/b")
    local lock = session:multi { session:mutex(path .. "/a"), part }
    local single, whole = wait_in(part), wait_in(lock)
    support.step_until(session, function() return queue_of "b" == 3 end)
    lock:cancel()
    await(whole)
    assert.equal("cancelled", whole.code)
    nobody(0.03, single)
    holder:release()
    await(single):release()
  end)

  it("counts and traces the loss of a part that its release finds", function()
    local told = {}
    session:on_trace(function(event)
      if event.what == "loss" then told[#told + 1] = event.path end
    end)
    local lock = session:multi { session:mutex(path .. "/a"),
      session:mutex(path .. "/b", { max_hold = 0.1 }) }
    local ok, _, code = lock:with_lock(function(guard)
      support.wait_until(function() return not guard:is_held() end)
    end)
    assert.same({ nil, "lost" }, { ok, code })
    assert.same({ path .. "/b" }, told)
    assert.matches('losses_total{reason="max_hold_reached"} 1\n',
      session:metrics(), 1, true)
  end)

  it("hands its options to each part", function()
    local guard = multi "a b":acquire { timeout = 5, data = "mine" }
    for _, node in ipairs(kinds.nodes(path)) do
      assert.equal("mine", (support.zk():get(node)))
    end
    guard:release()
    guard = multi "a b":acquire { timeout = 5, max_hold = 0.5, owner = "o" }
    assert.is_true(guard:lease() <= 0.5)
    support.wait_until(function() return not guard:is_held() end)
    guard:release()
  end)

  it("is misuse of anything but locks of one session", function()
    local mutex = session:mutex(path)
    local foreign = connect():mutex(path)
    support.misuses {
      { "argument 1 of multi must be a list of locks, without gaps and other "
        .. "keys", function() session:multi {} end },
      { "argument 1 of multi must be a list of locks",
        function() session:multi { mutex, timeout = 5 } end },
      { "argument 1 of multi must be a list of locks",
        function() session:multi { mutex, nil, mutex } end },
      { "argument 1 of multi must be a table", function() session:multi() end },
      { "element 2 of multi belongs to another session",
        function() session:multi { mutex, foreign } end },
    }
    assert.matches("options",
      misuse(function() session:multi({ mutex }, { fair = false }) end))
    local multi_lock = session:multi { mutex }
    for _, bad in ipairs { "/a", 1, true, {}, multi_lock,
      session:rwlock(path .. "/rw"), session:election(path .. "/e"),
      session:double_barrier(path .. "/d", 2) } do
      assert.matches("^element 2 of multi must be a mutex, a side of a rwlock "
        .. "or a semaphore, got ",
        misuse(function() session:multi { mutex, bad } end))
    end
    assert.same({}, kinds.nodes(path))
  end)
end)

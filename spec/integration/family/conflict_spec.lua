-- Locks of different kinds on one path: the later one is refused.
local kinds = require "integration.family.kinds"
local raw = require "support.raw"
local support = require "support"
local zklock = require "zklock"
local connect, wait_in, await = support.connect, kinds.wait_in, kinds.await

-- Each kind: how it is taken, and what others are told that it is.
local KINDS = {
  { name = "mutex", word = "a mutex",
    make = function(session, path, options)
      return session:mutex(path, options)
    end },
  { name = "read", word = "a readers-writer lock",
    make = function(session, path, options)
      return session:rwlock(path, options).read
    end },
  { name = "write", word = "a readers-writer lock",
    make = function(session, path, options)
      return session:rwlock(path, options).write
    end },
  { name = "semaphore", word = "a semaphore",
    make = function(session, path, options)
      return session:semaphore(path, 2, options)
    end },
  { name = "unfair", word = "an unfair mutex", options = { fair = false },
    make = function(session, path, options)
      return session:mutex(path, options)
    end },
  { name = "latch", word = "an election in the layout of latches",
    options = { layout = "latch" },
    make = function(session, path, options)
      local election = session:election(path, options)
      return {
        acquire = function(_, how) return election:campaign(how) end,
        acquire_async = function(_, how, fn)
          return election:campaign_async(how, fn)
        end,
        _session = session,
      }
    end },
  { name = "kazoo mutex", word = "a lock in kazoo's layout",
    options = { layout = "kazoo" },
    make = function(session, path, options)
      return session:mutex(path, options)
    end },
  { name = "kazoo read", word = "a readers-writer lock in kazoo's layout",
    options = { layout = "kazoo" },
    make = function(session, path, options)
      return session:rwlock(path, options).read
    end },
}

-- What waits for each other, as doc/paths.md says: in either order, or only if
-- the second comes later.
local function exclude(first, second)
  local names = first.name .. ", " .. second.name
  return first.name == second.name or names == "read, write"
    or names == "write, read" or names == "kazoo mutex, kazoo read"
end

local function make(kind, path, options)
  local all = { data = "of " .. kind.name }
  for _, list in ipairs { kind.options or {}, options or {} } do
    for key, value in pairs(list) do all[key] = value end
  end
  return kind.make(connect(), path, all)
end

local function conflict(lock)
  local guard, message, code = lock:acquire(20)
  assert.is_nil(guard)
  assert.equal(zklock.errors.conflict, code, message)
  return message
end

before_each(function() kinds.start() end)
after_each(support.finish)

describe("Beside a lock of another kind on its path,", function()
  for _, first in ipairs(KINDS) do
    for _, second in ipairs(KINDS) do
      if not exclude(first, second) then
        it(("a lock is refused: %s, then %s"):format(first.name, second.name),
          function()
            local path = support.path()
            local lock = make(first, path)
            local guard = assert(lock:acquire(20))
            assert.equal(("zklock: %s is in use as %s (by %q, session %s): "
              .. "locks of different kinds do not exclude each other")
              :format(path, first.word, "of " .. first.name,
              lock._session:id()), conflict(make(second, path)))
            assert.is_true(guard:is_held())
            kinds.wait_for_nodes(path, first.name == "unfair" and 2 or 1)
            guard:release { wait = true }
            local other = assert(make(second, path):acquire(20))
            other:release { wait = true }
          end)
      end
    end
  end

  it("a waiter of another kind refuses as a holder does", function()
    local path = support.path()
    local guard = connect():mutex(path):acquire(20)
    local waiter = kinds.queue_in(connect():mutex(path), path)
    conflict(connect():rwlock(path).read)
    guard:release { wait = true }
    conflict(connect():rwlock(path).read)
    await(waiter)
    waiter.guard:release { wait = true }
    connect():rwlock(path).read:acquire(20):release { wait = true }
  end)

  it("try_acquire and a timeout of 0 say so as well", function()
    local path = support.path()
    local guard = connect():rwlock(path).write:acquire(20)
    local mutex = connect():mutex(path)
    assert.equal("conflict", select(3, mutex:try_acquire()))
    assert.equal("conflict", select(3, mutex:acquire(0)))
    assert.equal("conflict", select(3, mutex:with_lock(error)))
    guard:release { wait = true }
    assert(mutex:try_acquire()):release { wait = true }
  end)

  it("a part refuses its multi, which keeps nothing", function()
    local path = support.path()
    local guard = connect():rwlock(path .. "/b").write:acquire(20)
    local session = connect()
    local multi = session:multi {
      session:mutex(path .. "/a"), session:mutex(path .. "/b"),
    }
    assert.equal("conflict", select(3, multi:acquire(20)))
    kinds.wait_for_nodes(path .. "/a", 0)
    guard:release { wait = true }
    assert(multi:acquire(20)):release { wait = true }
  end)

  it("each waiter in line for local turns is refused", function()
    local path = support.path()
    local guard = connect():rwlock(path).write:acquire(20)
    local mutex, waits = connect():mutex(path, { handoffs = 4 }), {}
    for i = 1, 5 do waits[i] = wait_in(mutex, { owner = {} }) end
    for i = 1, 5 do
      await(waits[i])
      assert.equal("conflict", waits[i].code)
    end
    guard:release { wait = true }
    kinds.wait_for_nodes(path, 0)
  end)

  it("a double barrier's member is refused, and refuses", function()
    local path = support.path()
    local guard = connect():mutex(path):acquire(20)
    local barrier = connect():double_barrier(path, 2)
    assert.equal("conflict", select(3, barrier:enter(20)))
    guard:release { wait = true }
    local code
    local ticket = barrier:enter_async(20, function(_, _, why) code = why end)
    kinds.wait_for_nodes(path, 1)
    conflict(connect():mutex(path))
    ticket:cancel()
    support.step_until(barrier._terms.engine.session, function()
      return code == "cancelled"
    end)
  end)

  it("neither a hold nor a wait ends that has begun", function()
    local path = support.path()
    local guard = connect():mutex(path):acquire(20)
    local waiter = kinds.queue_in(connect():mutex(path), path)
    for _, kind in ipairs(KINDS) do
      if kind.name ~= "mutex" then conflict(make(kind, path)) end
    end
    assert.is_true(guard:is_held())
    guard:release()
    assert.is_true(await(waiter):is_held())
    waiter.guard:release { wait = true }
  end)

  it("a lock that shares the path on purpose is granted", function()
    for _, first in ipairs(KINDS) do
      for _, second in ipairs(KINDS) do
        if not exclude(first, second) then
          local path = support.path()
          local one = assert(make(first, path):acquire(20))
          local other = assert(make(second, path, { share_path = true })
            :acquire(20), first.name .. ", " .. second.name)
          assert.is_true(one:is_held() and other:is_held())
          other:release { wait = true }
          one:release { wait = true }
        end
      end
    end
  end)

  it("two sessions of one kind are not: elections and mutexes, both sides, "
    .. "every way to wait", function()
    for _, pair in ipairs {
      { { "mutex", {} }, { "election", {} } },
      { { "mutex", { handoffs = 3 } }, { "mutex", { wait = "poll" } } },
      { { "mutex", { layout = "kazoo" } },
        { "election", { layout = "kazoo" } } },
      { { "mutex", { wait = "parent" } }, { "mutex", {} } },
      { { "mutex", { fair = false } }, { "mutex", { fair = false } } },
    } do
      local path = support.path()
      local function take(way, how)
        local session = connect()
        local lock = session[way[1]](session, path, way[2])
        if way[1] == "election" then return lock:campaign(how) end
        return lock:acquire(how)
      end
      for i = 1, 2 do
        local guard = assert(take(pair[i], 20))
        assert.equal("timeout", select(3, take(pair[3 - i], 0.1)))
        guard:release { wait = true }
      end
    end
  end)
end)

describe("What is left over, or no lock's,", function()
  it("refuses no lock: nodes of no session, empty directories, files",
    function()
      for _, kind in ipairs(KINDS) do
        local path = support.path()
        local zk = support.zk()
        zk:make(path .. "/leases")
        zk:make(path .. "/locks")
        zk:make(path .. "/x-lock-0000000000")
        zk:make(path .. "/x-__WRIT__0000000000")
        zk:make(path .. "/x-latch-0000000000")
        zk:make(path .. "/x__rlock__0000000000")
        zk:make(path .. "/x-member-0000000000")
        zk:make(path .. "/orders")
        local file = zk:create(path .. "/config", { ephemeral = true })
        if kind.name ~= "unfair" then zk:make(path .. "/holder") end
        local mine = kind.name == "mutex" and "/x-lock-0000000000"
          or kind.name == "latch" and "/x-latch-0000000000"
        if mine then zk:delete(path .. mine) end
        local guard, message = make(kind, path):acquire(20)
        assert(guard, kind.name .. ": " .. tostring(message))
          :release { wait = true }
        zk:delete(file)
        zk:delete_all(path)
      end
    end)

  it("costs a request each, and nothing where there is nothing", function()
    local path, zk = support.path(), support.zk()
    zk:make(path .. "/kept")
    local session = connect { session_timeout = 60 }
    local mutex = session:mutex(path)
    mutex:acquire(20):release { wait = true }
    local function cost()
      local before = session:stats()
      assert(mutex:acquire(20)):release { wait = true }
      local after = session:stats()
      return after.requests - before.requests
        - (after.heartbeats - before.heartbeats)
        - (after.nudges - before.nudges)
    end
    assert.equal(3, cost())
    zk:make(path .. "/leases")
    assert.equal(5, cost()) -- its children, and a list that is newer
    zk:make(path .. "/x-__READ__0000000000")
    assert.equal(6, cost())
    zk:delete(path .. "/leases")
    assert.equal(5, cost())
    zk:delete(path .. "/x-__READ__0000000000")
    assert.equal(3, cost())
  end)

  it("is a lock of another kind again while a session owns a node", function()
    local path = support.path()
    local zk = raw.connect(support.hosts)
    zk:make(path .. "/leases")
    local permit = zk:create(path .. "/leases/x-lease-",
      { ephemeral = true, sequential = true })
    assert.matches("in use as a semaphore", conflict(connect():mutex(path)))
    zk:delete(permit)
    connect():mutex(path):acquire(20):release { wait = true }
    zk:close()
  end)
end)

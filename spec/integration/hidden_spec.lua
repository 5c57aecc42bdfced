-- Nodes that a session may not read, in a directory that is open: of two users
-- with acl = "creator".  On this machine's server, and on a ZooKeeper 3.9:
-- there `exists` is refused, too, and no event is sent (ZOOKEEPER-2590,
-- CVE-2024-23944).
local server = require "support.server"
local support = require "support"

-- (A session timeout that is long enough to tell a handover by a watch from one
-- by a poll, each T/6.)
local TIMEOUT = 40
local POLL = TIMEOUT / 6

local FLAGS = "--jvm -Dznode.container.checkIntervalMs=20 "
  .. "-Dznode.container.maxPerMinute=1000000 --config maxSessionTimeout=60000"

local alice = { scheme = "digest", credential = "alice:secret" }
local bob = { scheme = "digest", credential = "bob:secret" }

-- What `zklock ls` makes of them.
local function as_people_see_them(rows)
  require "zklock.cli.rows".number("/path", rows)
  return require "zklock.cli.table"(rows, os.time())
end

local function tests(hosts_of)
  local hosts, path, first, second, zk

  local function user(auth, timeout)
    return support.connect { hosts = hosts, auth = auth, acl = "creator",
      session_timeout = timeout or TIMEOUT }
  end

  before_each(function()
    support.start()
    hosts = hosts_of()
    zk = support.zk(hosts)
    path = support.path()
    zk:make(path)
    first, second = user(alice), user(bob)
  end)

  after_each(function()
    support.close_all()
    support.wait_until(function()
      return support.count_contenders(path, zk) == 0
        and support.count_watches(path, hosts) == 0
    end, 10, "no contender and no watch")
    for _, auth in ipairs { "alice:secret", "bob:secret" } do zk:auth(auth) end
    zk:delete_all(path)
    support.finish()
  end)

  local function stands(n)
    support.wait_until(function() return #zk:children(path) == n end, 30,
      n .. " contenders")
  end

  -- What an acquisition comes to that stands behind another session's node.
  local function begin(lock, options)
    local got = {}
    options = options or {}
    options.timeout = 60
    lock:acquire_async(options, function(...) got.outcome = { ... } end)
    return got
  end

  local function granted(got, seconds, session)
    support.step_until(session or second, function() return got.outcome end,
      seconds or 30, "the lock")
    return assert(got.outcome[1], got.outcome[2])
  end

  -- At once: no poll need be waited for.
  local function granted_soon(got, session)
    local begun = support.now()
    local guard = granted(got, nil, session)
    assert.is_true(support.now() - begun < POLL / 2 + support.slack)
    return guard
  end

  local function watches_children()
    support.wait_until(function()
      second:step()
      local stats = second:stats()
      return stats.in_flight == 0 and stats.lists >= 2
    end, 30, "the list of one that is near")
  end

  it("pass on a lock, at once", function()
    local mutex = second:mutex(path)
    for _ = 1, 3 do
      local guard = assert(first:mutex(path):acquire(30))
      local got = begin(mutex)
      stands(2)
      watches_children()
      assert.is_true(guard:release())
      assert.is_true(granted_soon(got):release { wait = true })
    end
  end)

  it("pass on the lock of a session that ends", function()
    assert(first:mutex(path):acquire(30))
    local got = begin(second:mutex(path))
    stands(2)
    watches_children()
    first:close()
    assert.is_true(granted_soon(got):release { wait = true })
  end)

  it("pass on a lock through a queue of many users", function()
    local guard = assert(first:mutex(path):acquire(30))
    local others, got = {}, {}
    for i = 1, 6 do
      others[i] = user({ scheme = "digest", credential = "user" .. i .. ":x" },
        6)
      got[i] = begin(others[i]:mutex(path))
      stands(i + 1)
    end
    assert.is_true(guard:release())
    for i = 1, 6 do
      guard = granted(got[i], 30, others[i])
      assert.is_true(guard:release())
    end
  end)

  it("pass on what is written, and read behind that", function()
    local write = assert(first:rwlock(path).write:acquire(30))
    local readers = { begin(second:rwlock(path).read),
      begin(second:rwlock(path).read, { owner = "another" }) }
    stands(3)
    watches_children()
    assert.is_true(write:release())
    local guards = { granted_soon(readers[1]), granted_soon(readers[2]) }
    local got = begin(first:rwlock(path).write)
    stands(3)
    for _, guard in ipairs(guards) do assert.is_true(guard:release()) end
    assert.is_true(granted(got, 30, first):release())
  end)

  it("pass on local turns", function()
    local guard = assert(first:mutex(path):acquire(30))
    local mutex = second:mutex(path, { handoffs = 10 })
    local got = {}
    for i = 1, 3 do got[i] = begin(mutex, { owner = i }) end
    stands(2)
    watches_children()
    assert.is_true(guard:release())
    for i = 1, 3 do
      assert.is_true(granted_soon(got[i]):release())
    end
  end)

  it("pass on an unfair lock, by the next poll", function()
    second = user(bob, 4)
    local guard = assert(first:mutex(path, { fair = false }):acquire(30))
    local mutex = second:mutex(path, { fair = false })
    assert.equal("busy", select(3, mutex:try_acquire()))
    local got = begin(mutex)
    support.step_until(second, function()
      return second:stats().in_flight == 0
    end, 30, "that it waits")
    assert.is_true(guard:release { wait = true })
    assert.is_true(granted(got):release { wait = true })
  end)

  it("pass on a semaphore's permit", function()
    zk:make(path .. "/locks")
    zk:make(path .. "/leases")
    local guard = assert(first:semaphore(path, 1):acquire(30))
    local got = begin(second:semaphore(path, 1))
    support.wait_until(function()
      return #(zk:children(path .. "/leases") or {}) == 2
    end, 30, "two that ask for a permit")
    assert.is_true(guard:release())
    assert.is_true(granted(got):release { wait = true })
    zk:delete_all(path .. "/leases")
    zk:delete_all(path .. "/locks")
  end)

  it("refuse one that does not wait", function()
    local guard = assert(first:mutex(path):acquire(30))
    for _ = 1, 2 do
      local nothing, _, code = second:mutex(path):try_acquire()
      assert.is_nil(nothing)
      assert.equal("busy", code)
    end
    assert.is_true(guard:release())
  end)

  it("hold a barrier up until it is lifted", function()
    second = user(bob, 4)
    local name, passed = path .. "/barrier", nil
    local mine, theirs = first:barrier(name), second:barrier(name)
    assert.same({ true, true }, { mine:set() })
    assert.is_true(theirs:is_set())
    assert.same({ true, false }, { theirs:set() })
    assert.equal("timeout", select(3, theirs:wait(0)))
    theirs:wait_async(60, function(...) passed = { ... } end)
    support.step_until(second, function()
      return second:stats().watches == 1 and second:stats().in_flight == 0
    end, 30, "that it waits")
    assert.is_true(mine:lift())
    support.step_until(second, function() return passed end, 30, "the lift")
    assert.same({ true }, passed)
    assert.is_false(theirs:is_set())
  end)

  it("are the members of a double barrier", function()
    local barriers, inside = {}, {}
    for i, session in ipairs { first, second } do
      barriers[i] = session:double_barrier(path, 2)
      barriers[i]:enter_async(60, function(...) inside[i] = { ... } end)
    end
    support.wait_until(function()
      first:step()
      second:step()
      return inside[1] and inside[2]
    end, 30, "both are inside")
    local outside = {}
    for i = 1, 2 do
      local guard = assert(inside[i][1], inside[i][2])
      barriers[i]:leave_async({ timeout = 60, guard = guard },
        function(...) outside[i] = { ... } end)
    end
    support.wait_until(function()
      first:step()
      second:step()
      return outside[1] and outside[2]
    end, 60, "both are out")
    assert.same({ { true }, { true } }, outside)
  end)

  it("tell who leads of each change", function()
    second = user(bob, 4)
    local seen = {}
    local function lead()
      return assert(first:election(path):campaign(30))
    end
    local function heard(n, what)
      support.step_until(second, function() return #seen == n end, 30, what)
    end
    local guard = lead()
    local observer = second:election(path):leader(function(leader)
      table.insert(seen, leader and "somebody" or "nobody")
    end)
    heard(1, "the leader")
    assert.is_true(guard:release { wait = true })
    heard(2, "nobody")
    guard = lead()
    heard(3, "the leader")
    assert.same({ "somebody", "nobody", "somebody" }, seen)
    assert.is_table((second:election(path):leader()))
    observer:cancel()
    assert.is_true(guard:release())
  end)

  it("are rows, of which no more is known than their names say", function()
    local guard = assert(first:mutex(path):acquire(30))
    local got = begin(second:mutex(path))
    stands(2)
    local rows = assert(second:contenders(path))
    assert.equal(2, #rows)
    local hidden, own = rows[1], rows[2]
    assert.same({ "mutex", true, guard.node:match "[^/]*$" },
      { hidden.mode, hidden.holds, hidden.node })
    assert.is_nil(hidden.data)
    assert.same({ false, second:id() }, { own.holds, own.session })
    local list = table.concat(as_people_see_them(rows), "\n")
    assert.matches("\n1 +mutex +holds +", list)
    assert.matches("\n2 +mutex +waits +", list)
    local holders = assert(second:mutex(path):holders())
    assert.same({ hidden.node }, { holders[1].node, holders[2] })
    local asked, message, code = second:revoke(path)
    assert.is_nil(asked)
    assert.is_string(code)
    assert.matches("an ACL forbids it$", message)
    assert.is_true(guard:release())
    assert.is_true(granted(got):release { wait = true })
  end)
end

describe("The row of a node that may not be read", function()
  it("has question marks where nothing is known", function()
    local rows = require "zklock.cli.rows"
    local row = { node = "a-lock-0000000001", mode = "mutex", sequence = 1,
      holds = true }
    local lines = as_people_see_them { row }
    assert.equal("1      mutex  holds  ?    ?        ?      "
      .. "a-lock-0000000001  ?", lines[2])
    assert.equal('{"path":"/path","place":1,"node":"a-lock-0000000001",'
      .. '"mode":"mutex","sequence":1,"holds":true}', rows.json(row))
    assert.equal(17, rows.servers_time({ row }, 17))
  end)
end)

describe("Nodes that may not be read, on this machine's server,", function()
  tests(function() return support.hosts end)
end)

local current = "Nodes that may not be read, on ZooKeeper 3.9, #once"

if server.has "3.9" then
  describe(current, function()
    local there

    teardown(function()
      if there then there:stop() end
    end)

    tests(function()
      there = there or server.start(1, "--version 3.9 " .. FLAGS)
      return there.hosts
    end)
  end)
else
  pending(current)
end

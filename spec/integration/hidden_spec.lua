-- Nodes that a session may not read, in a directory that is open: of two users
-- with acl = "creator".  Servers send no event of such a node (ZOOKEEPER-2590),
-- and since 3.8.4 and 3.9.2 refuse `exists` of it, too (CVE-2024-23944).  (The
-- servers: conformance_spec.)
local answers = require "integration.answers"
local kinds = require "integration.family.kinds"
local of_members = require "support.members"
local start_proxy = require "support.proxy".start
local support = require "support"
require "luv" -- whose loop stays
local worlds = require "virtual.worlds"
local wait_in, await = kinds.wait_in, kinds.await

-- So long that a handover by a watch is told from one by a poll, each T/6.
local TIMEOUT = 40
local POLL, SOON = TIMEOUT / 6, 0.1
local ALICE = "alice:aYXlLOpEooaV1cRAvUL1fp9Qt7E="

local refusing = worlds.free_address()
worlds.start(refusing, { tick_ms = 500, max_timeout_ms = 60000,
  container_interval_ms = 20, hides_nodes = true })

-- What `zklock ls` makes of them.
local function as_people_see_them(rows)
  require "zklock.cli.rows".number("/path", rows)
  return require "zklock.cli.table"(rows)
end

it("The row of a node that may not be read has question marks where nothing is "
  .. "known", function()
  local rows = require "zklock.cli.rows"
  local row = { node = "a-lock-0000000001", mode = "mutex", sequence = 1,
    holds = true }
  local lines = as_people_see_them { row }
  assert.equal("1      mutex  holds  ?    ?        ?      "
    .. "a-lock-0000000001  ?", lines[2])
  assert.equal('{"path":"/path","place":1,"node":"a-lock-0000000001",'
    .. '"mode":"mutex","sequence":1,"holds":true}', rows.json(row))
end)

for title, hosts in pairs { ["whose events do not come"] = support.hosts,
    ["which servers refuse"] = refusing } do
describe("Nodes that may not be read, " .. title .. ",", function()
  local path, first, second, zk

  local function user(name, timeout, through)
    return support.connect { hosts = through or hosts, acl = "creator",
      auth = { scheme = "digest", credential = name .. ":secret" },
      session_timeout = timeout or TIMEOUT }
  end

  before_each(function()
    zk, path = support.zk(hosts), support.path()
    zk:make(path)
    first, second = user "alice", user "bob"
  end)

  after_each(function()
    support.close_all()
    support.wait_until(function()
      return support.count_contenders(path, zk) == 0
        and support.count_watches(path, hosts) == 0
    end, 10, "no contender and no watch")
    for _, name in ipairs { "alice", "bob" } do zk:auth(name .. ":secret") end
    zk:delete_all(path)
    support.finish()
  end)

  -- It has asked what there is to be asked, and waits.
  local function settle(session)
    support.advance(0.2)
    session:step()
    support.until_state(session, nil, { in_flight = 0 })
  end

  -- The node of `session` is hidden from now on.
  local function hide_own(session)
    for _, name in ipairs { "alice", "bob" } do zk:auth(name .. ":secret") end
    for _, name in ipairs(zk:children(path)) do
      local node = path .. "/" .. name
      if zk:exists(node).owner == session:id() then
        zk:set_acl(node, { { perms = 31, scheme = "digest", id = ALICE } })
      end
    end
  end

  -- What each lock's waiter waits behind, and how soon it is granted at most.
  local locks = { mutex = SOON, local_turns = SOON, write = SOON, unfair = POLL,
    semaphore = POLL }

  it("pass on every kind of lock, and refuse one that does not wait", function()
    for name, at_most in pairs(locks) do
      local at, make = path .. "/" .. name, kinds.of[name].make
      for _, below in ipairs(name == "semaphore" and { "/locks", "/leases" }
        or { "" }) do
        zk:make(at .. below)
      end
      for _, ends in ipairs { false, true } do
        local holder = ends and user "alice" or first
        local guard = assert(make(holder, at):acquire(30), name)
        assert.equal("busy", select(3, make(second, at):try_acquire()), name)
        local wait = wait_in(make(second, at))
        settle(second)
        if ends then holder:close() else guard:release() end
        local took = support.timed(function() await(wait) end)
        assert.is_true(took < at_most, name .. " " .. took)
        assert.is_true(wait.guard:release { wait = true }, name)
      end
    end
  end)

  it("are polled each sixth of the timeout, or a little earlier", function()
    local guard, early = assert(first:mutex(path):acquire(30)), false
    local wait = wait_in(second:mutex(path))
    settle(second)
    support.advance(2 * POLL) -- the first poll comes by chance
    local log = answers.log()
    support.advance(21 * POLL)
    local times = log:times("get", guard.node)
    assert.is_true(#times >= 20)
    for i = 2, #times do
      local pause = times[i] - times[i - 1]
      assert.is_true(pause > 0.74 * POLL and pause < POLL + 0.01, pause)
      early = early or pause < 0.96 * POLL
    end
    assert.is_true(early)
    guard:release()
    await(wait):release { wait = true }
  end)

  it("make none but the first waiters list at each change", function()
    local ahead = {}
    for i = 1, 4 do
      ahead[i] = wait_in(first:mutex(path), { owner = {} })
      settle(first)
    end
    local wait = wait_in(second:mutex(path))
    settle(second)
    local log = answers.log()
    zk:create(path .. "/one")
    support.advance(1)
    assert.equal(0, #log:times "children")
    for i = 1, 3 do await(ahead[i]):release { wait = true } end
    support.advance(POLL)
    log:clear()
    zk:create(path .. "/two")
    support.advance(1)
    assert.equal(1, #log:times "children")
    await(ahead[4]):release()
    assert.is_true(support.timed(function() await(wait) end) < SOON)
    wait.guard:release { wait = true }
  end)

  it("are of another kind if a server tells whose they are", function()
    local guard = assert(first:rwlock(path).write:acquire(30))
    local other, _, code = second:mutex(path):acquire(30)
    assert.equal(hosts ~= refusing and "conflict" or nil, code)
    if other then other:release { wait = true } end
    guard:release()
  end)

  it("are no place in the queue, even if they are the session's", function()
    local proxy = start_proxy(hosts)
    local session = user("bob", nil, proxy.hosts)
    local guard = assert(first:mutex(path):acquire(30))
    local wait = wait_in(session:mutex(path))
    settle(session)
    hide_own(session)
    proxy:cut()
    assert.matches("cannot read the node of this session",
      kinds.refused("denied", await(wait)))
    guard:release()
  end)

  for _, news in ipairs { "a new connection", "other data" } do
    it("let in no member that cannot know whether it has one: " .. news,
      function()
        local proxy = start_proxy(hosts)
        local session = user("bob", nil, proxy.hosts)
        local member = of_members.enter(session, path, 2)
        settle(session)
        if news == "other data" then
          proxy:delay(0.2) -- the node is hidden when it is read again
          zk:auth "bob:secret"
          zk:set(path .. "/" .. zk:children(path)[1], "other")
        end
        hide_own(session)
        if news == "a new connection" then proxy:cut() end
        support.advance(1)
        zk:create(path .. "/ready")
        kinds.refused("denied", await(member))
        zk:delete(path .. "/ready")
      end)
  end

  -- Servers throttle what would let it in; one of its session looks at its
  -- node, to leave; and it finds `ready` when it polls that.
  it("let in no member whose node was watched before", function()
    local proxy, partner = start_proxy(hosts), user "bob"
    local session = user("bob", nil, proxy.hosts)
    local low = of_members.enter(session, path, 2)
    settle(session)
    local high = of_members.enter(partner, path, 2)
    await(low, high)
    local gone = of_members.leave(high)
    support.wait_until(function() return #zk:children(path) == 2 end)
    proxy:mute_events()
    answers.log(function(reply, asked)
      if reply.op == "multi" and asked == path .. "/ready" then
        return { rc = -127 }
      end
    end)
    local member = of_members.enter(session, path, 2)
    support.wait_until(function() return #zk:children(path) == 3 end)
    support.advance(0.5)
    hide_own(session)
    local leaving = of_members.leave(low)
    assert.matches("cannot read the node of this session",
      kinds.refused("denied", await(member)))
    gone.ticket:cancel()
    await(leaving, gone)
    zk:delete(path .. "/ready")
  end)

  it("are no writer's that becomes a reader", function()
    local lock = second:rwlock(path)
    local writer = assert(lock.write:acquire(30))
    hide_own(second)
    kinds.refused("denied", lock.read:acquire(30))
    writer:release()
  end)

  it("hold a barrier up until it is lifted", function()
    second = user("bob", 4)
    local name, passed = path .. "/barrier", nil
    local mine, theirs = first:barrier(name), second:barrier(name)
    assert.same({ true, true }, { mine:set() })
    assert.is_true(theirs:is_set())
    assert.same({ true, false }, { theirs:set() })
    assert.equal("timeout", select(3, theirs:wait(0)))
    theirs:wait_async(60, function(...) passed = { ... } end)
    support.until_state(second, nil, { watches = 1, in_flight = 0 })
    assert.is_true(mine:lift())
    support.step_until(second, function() return passed end)
    assert.same({ true }, passed)
    assert.is_false(theirs:is_set())
  end)

  it("are not evicted with another token than theirs", function()
    local guard = assert(first:mutex(path):acquire(30))
    local node = guard.node:match "[^/]*$"
    assert.is_false(second:evict(path, node, "1"))
    assert.is_true(guard:verify())
    assert.is_true(second:evict(path, node))
    kinds.refused("lost", guard:verify())
    guard:release()
  end)

  it("are rows, of which no more is known than their names say", function()
    local guard = assert(first:mutex(path):acquire(30))
    local wait = wait_in(second:mutex(path))
    settle(second)
    local rows = assert(second:contenders(path))
    local hidden, own = rows[1], rows[2]
    assert.equal(2, #rows)
    assert.same({ "mutex", true, guard.node:match "[^/]*$" },
      { hidden.mode, hidden.holds, hidden.node })
    assert.is_nil(hidden.data)
    assert.same({ false, second:id() }, { own.holds, own.session })
    local list = table.concat(as_people_see_them(rows), "\n")
    assert.matches("\n1 +mutex +holds +", list)
    assert.matches("\n2 +mutex +waits +", list)
    local holders = assert(second:mutex(path):holders())
    assert.same({ hidden.node }, { holders[1].node, holders[2] })
    assert.matches("an ACL forbids it$",
      kinds.refused("denied", second:revoke(path)))
    assert.is_true(guard:release())
    assert.is_true(await(wait):release { wait = true })
  end)
end)
end

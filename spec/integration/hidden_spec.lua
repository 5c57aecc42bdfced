-- Nodes that a session may not read, in a directory that is open: of two users
-- with acl = "creator".  Servers send no event of such a node (ZOOKEEPER-2590),
-- and since 3.8.4 and 3.9.2 refuse `exists` of it, too (CVE-2024-23944).  (What
-- is asked when: spec/unit/story_hidden.c; the servers: conformance_spec.)
local kinds = require "integration.family.kinds"
local support = require "support"
require "luv" -- whose loop stays
local worlds = require "virtual.worlds"
local wait_in, await = kinds.wait_in, kinds.await

-- So long that a handover by a watch is told from one by a poll, each T/6.
local TIMEOUT = 40
local POLL, SOON = TIMEOUT / 6, 0.1

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

  local function user(name, timeout)
    return support.connect { hosts = hosts, acl = "creator",
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

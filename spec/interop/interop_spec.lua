-- Locks, and what is built on them, shared with other libraries: the real ones,
-- of Debian.
local contests = require "server.contests"
local kinds = require "integration.family.kinds"
local peers = require "interop.peers"
local spawn = require "support.child".spawn
local spellings = require "support.spellings"
local support = require "support"
local connect = support.connect
local await = kinds.await

-- Processes of other libraries, which live as long as the file's tests (a JVM
-- takes a second to start), and the path of the test.
local curator, kazoo, path

setup(function()
  peers.install()
  kazoo = peers.kazoo(3)
  curator = peers.curator(3)
end)

local function each_peer(fn)
  for _, list in ipairs { curator or {}, kazoo or {} } do
    for _, peer in ipairs(list) do fn(peer) end
  end
end

teardown(function()
  each_peer(function(peer) peer:close() end)
  peers.uninstall()
end)

before_each(function()
  path = support.path()
  support.zk():make(path) -- it does not vanish under kazoo
  -- Both libraries leave watches behind, until their sessions end.
  support.closing({}, function()
    each_peer(function(peer) peer:begin "renew" end)
    each_peer(function(peer)
      repeat until peer:hear() == "renewed" -- after a failure, more than that
    end)
  end)
end)

describe("A text of hosts", function()
  -- (kazoo writes names in lower case, which DNS does not tell apart.)
  it("means to Java and to kazoo what zklock takes it for", function()
    for _, row in ipairs(spellings.taken) do
      assert.equal(row[2], curator[1]:ask("reads", row[1]))
      assert.equal(row[2]:gsub("^[^/]*", string.lower),
        kazoo[1]:ask("reads", row[1]))
    end
  end)
end)

-- Locks.

-- Three processes of ours beside three of a peer's.
local function contend(titles, list, kind)
  local others = {}
  for i = 1, 3 do others[i] = { list[i], kind } end
  contests.run(titles, { count = 3, rounds = 60, peers = others })
end

describe("Three processes of ours beside three of Curator's", function()
  it("share each of its locks", function()
    contend({ "mutex", "local_turns", "parent" }, curator, "mutex")
    contend({ "semaphore" }, curator, "semaphore-mutex")
    contend({ "rwlock" }, curator, "rwlock") -- ours downgrade
    contend({ "permits" }, curator, "semaphore")
  end)
end)

describe("Three processes of ours beside three of kazoo's", function()
  it("share its locks, in its layout, with a ReadLock that is mended; and one "
    .. "that is spelled as Curator's", function()
    contend({ "kazoo" }, kazoo, "lock")
    contend({ "kazoo rwlock" }, kazoo, "rwlock")
    contend({ "mutex" }, kazoo, "curator-lock")
  end)
end)

describe("A holder of Curator's", function()
  it("keeps us waiting, and we it, in the order of arrival", function()
    local ours = connect():mutex(path, { data = "ours" })
    assert.equal("held", curator[1]:ask("acquire", path, 5000))
    assert.equal("busy", select(3, ours:try_acquire()))
    local waiter = kinds.queue_in(ours, path)
    curator[2]:begin("acquire", path, 20000)
    support.wait_for_queue(path, 3)
    support.sleep(0.05) -- in which a wrong grant would come
    waiter.session:step()
    assert.same({}, { waiter.guard, waiter.code })
    local list = connect():contenders(path)
    assert.equal(3, #list)
    assert.is_true(list[1].holds)
    assert.equal("ours", list[2].data)
    assert.is_false(list[2].holds or list[3].holds)
    local nodes = {}
    for node in curator[3]:ask("nodes", path):gmatch "%S+" do
      nodes[#nodes + 1] = node
    end
    for i = 1, 3 do assert.equal(path .. "/" .. list[i].node, nodes[i]) end
    assert.equal("released", curator[1]:ask "release")
    await(waiter)
    assert.equal("refused", curator[3]:ask("acquire", path, 100))
    waiter.guard:release()
    curator[2]:expect "held"
    assert.equal("busy", select(3, ours:try_acquire()))
    assert.equal("released", curator[2]:ask "release")
    assert(ours:acquire(30)):release { wait = true }
  end)

  it("refuses ours of another kind, and no mutex or election", function()
    assert.equal("held", curator[1]:ask("acquire", path, 5000))
    local function code_of(lock, timeout)
      return select(3, lock:acquire(timeout or 30))
    end
    assert.equal("conflict", code_of(connect():rwlock(path).read))
    assert.equal("conflict", code_of(connect():rwlock(path).write))
    assert.equal("conflict", code_of(connect():semaphore(path, 2)))
    assert.equal("conflict", code_of(connect():mutex(path, { fair = false })))
    assert.equal("conflict",
      code_of(connect():mutex(path, { layout = "kazoo" })))
    assert.equal("timeout", code_of(connect():mutex(path), 0.1))
    assert.equal("timeout", select(3, connect():election(path):campaign(0.1)))
    assert.equal("released", curator[1]:ask "release")
    assert(connect():rwlock(path).write:acquire(30)):release { wait = true }
  end)

  it("hears Curator's Revoker, and so do our holders, of every kind",
    function()
      for _, name in ipairs { "mutex", "local_turns", "read", "write",
        "semaphore" } do
        local session = connect()
        local guard = kinds.of[name].make(session, path):acquire(30)
        local asked = 0
        guard:on_revoke(function(mine)
          asked = asked + 1
          mine:release()
        end)
        support.sleep(0.05) -- its watch is set meanwhile, or the data say it
        assert.equal("revoked", curator[2]:ask("revoke", guard.node))
        support.step_until(session, function() return asked == 1 end)
        kinds.wait_for_nodes(path, 0)
      end
    end)
end)

describe("A holder of kazoo's", function()
  it("keeps us waiting, and we it, in its layout", function()
    local ours = connect():mutex(path, { layout = "kazoo", data = "ours" })
    assert.equal("held", kazoo[1]:ask("attempt", "lock", path))
    assert.equal("busy", select(3, ours:try_acquire()))
    local waiter = kinds.queue_in(ours, path)
    assert.equal("kazoo ours", kazoo[2]:ask("contenders", "lock", path))
    local list = connect():contenders(path)
    assert.equal("kazoo", list[1].data)
    assert.is_true(list[1].holds)
    assert.equal("released", kazoo[1]:ask "release")
    await(waiter)
    assert.equal("refused", kazoo[2]:ask("attempt", "lock", path))
    waiter.guard:release()
    kinds.wait_for_nodes(path, 0)
  end)

  it("refuses ours of another kind", function()
    for _, kind in ipairs { "lock", "write", "read" } do
      path = support.path()
      support.zk():make(path)
      assert.equal("held", kazoo[1]:ask("attempt", kind, path))
      for _, lock in ipairs { connect():mutex(path),
        connect():rwlock(path).read, connect():semaphore(path, 2) } do
        assert.equal("conflict", select(3, lock:acquire(30)), kind)
      end
      assert.equal("released", kazoo[1]:ask "release")
    end
  end)
end)

-- Elections.

local ELECTIONS = {
  { name = "Curator's LeaderSelector", kind = "selector", layout = "curator",
    peers = function() return curator end },
  { name = "Curator's LeaderLatch", kind = "latch", layout = "latch",
    peers = function() return curator end },
  { name = "kazoo's Election", kind = "election", layout = "kazoo",
    peers = function() return kazoo end },
}

local function wait_for_leader(peer)
  support.wait_until(function() return peer:ask "leads" == "true" end, 20,
    "the leadership of a peer")
end

describe("Our election", function()
  for _, other in ipairs(ELECTIONS) do
    it("shares the leadership with " .. other.name, function()
      contests.run({ other.layout .. " election" }, { count = 2, rounds = 40,
        peers = { { other.peers()[1], other.kind },
          { other.peers()[2], other.kind } } })
    end)

    it("sees who leads, and is seen, beside " .. other.name, function()
      local session, peer = connect(), other.peers()[1]
      local asks = other.peers()[2]
      local election = session:election(path,
        { layout = other.layout, data = "ours" })
      local heard = {}
      local ticket = election:observe(function(leader)
        heard[#heard + 1] = leader and leader.data or "nobody"
      end)
      -- We hear of the change, and all who are asked say so.
      local function expect(name, participants)
        support.step_until(session, function()
          return heard[#heard] == name
        end, 10, name .. " as the leader")
        assert.equal(name, asks:ask("leader", other.kind, path))
        assert.equal(participants, asks:ask("participants", other.kind, path))
        local leader = election:leader()
        assert.equal(name, leader and leader.data or "nobody")
        return leader
      end
      expect("nobody", "")
      peer:ask("campaign", other.kind, path, "theirs")
      wait_for_leader(peer)
      local leader = expect("theirs", "theirs")
      local own
      election:campaign_async(function(guard) own = guard end)
      kinds.wait_for_nodes(path, 2)
      expect("theirs", "theirs ours")
      assert.is_nil(own)

      assert.equal("resigned", peer:ask "resign")
      support.step_until(session, function() return own end)
      local successor = expect("ours", "ours")
      assert.equal(own:token(), successor.token)
      assert.is_true(successor.token > leader.token)
      assert.is_true(successor.since >= leader.since)

      peer:ask("campaign", other.kind, path, "theirs")
      kinds.wait_for_nodes(path, 2)
      assert.equal("false", peer:ask "leads")
      expect("ours", "ours theirs")
      assert.is_true(election:resign())
      wait_for_leader(peer)
      assert.equal("resigned", peer:ask "resign")
      expect("nobody", "")
      ticket:cancel()
    end)
  end
end)

-- Barriers.

local BARRIERS = {
  { name = "Curator's DistributedBarrier",
    peers = function() return curator end },
  { name = "kazoo's Barrier", peers = function() return kazoo end },
}

describe("Our barrier", function()
  for _, other in ipairs(BARRIERS) do
    it("keeps others waiting until it is lifted: " .. other.name, function()
      local place = path .. "/a/b"
      local peer, barrier = other.peers()[1], connect():barrier(place)
      assert.is_false(barrier:is_set())
      assert.equal("passed", peer:ask("wait", place, 60000))
      assert.same({ true, true }, { barrier:set() })
      assert.same({ true, false }, { barrier:set() })
      assert.equal("refused", peer:ask("wait", place, 100))
      peer:ask "renew" -- whose watch has gone, too
      peer:begin("wait", place, 60000)
      support.await_watches(place, 1)
      assert.same({ true, true }, { barrier:lift() })
      peer:expect "passed"
      assert.same({ true, false }, { barrier:lift() })
      assert.equal("passed", peer:ask("wait", place, 60000))
    end)

    it("waits for others to lift it: " .. other.name, function()
      local place, session = path .. "/a/b", connect()
      local setter, lifter = other.peers()[1], other.peers()[2]
      local barrier = session:barrier(place)
      assert.equal("set", setter:ask("set", place))
      assert.is_true(barrier:is_set())
      assert.same({ true, false }, { barrier:set() })
      assert.equal("timeout", select(3, barrier:wait(0.05)))
      local passed
      barrier:wait_async(function(ok) passed = ok end)
      support.await_watches(place, 1)
      session:step()
      assert.is_nil(passed)
      assert.equal("lifted", lifter:ask("lift", place))
      support.step_until(session, function() return passed end)
      assert.is_false(barrier:is_set())
      assert.is_true(barrier:wait())
      assert.same({ true, false }, { barrier:lift() })
      assert.equal("lifted", lifter:ask("lift", place)) -- nor does this fail
      assert.same({ true, true }, { barrier:set() })
      assert.equal("set", setter:ask("set", place))
      assert.same({ true, true }, { barrier:lift() })
    end)
  end
end)

-- Double barriers.

-- A process of ours that goes in and out as the lines say that it hears.
local MEMBER = [[
  local session = assert(zklock.connect(hosts, { session_timeout = 30 }))
  local gate
  local function note(ledger, what, name)
    local file = assert(io.open(ledger, "a"))
    file:write(what, " ", name, "\n")
    file:close()
  end
  local obey = {}
  function obey.enter(path, n, ledger, name, ms)
    if not gate or gate.path ~= path then
      gate = session:double_barrier(path, tonumber(n))
    end
    note(ledger, "come", name)
    local guard = assert(gate:enter(ms / 1000))
    assert(guard:is_held())
    note(ledger, "in", name)
    return "in"
  end
  function obey.leave(ledger, name, ms)
    note(ledger, "go", name)
    assert(gate:leave(ms / 1000))
    note(ledger, "out", name)
    return "out"
  end
  for line in hear do
    local command, words = line:match "^%S+", {}
    if command == "quit" then break end
    for word in line:gmatch "%S+" do words[#words + 1] = word end
    say(obey[command]((unpack or table.unpack)(words, 2)))
  end
  session:close()
]]

-- Such a process, with the face of a peer.
local function start_member()
  local child = spawn(MEMBER)
  support.closing(child, function()
    if child:status() then return end
    child:say "quit"
    child:wait(5)
  end)
  return {
    begin = function(_, ...) child:say(table.concat({ ... }, " ")) end,
    expect = function(_, ...) child:expect(...) end }
end

-- How many have come, and so on. Raises if one was in before `n` had come, or
-- out before `n` had begun to go.
local function count_in(ledger, n)
  local count = { come = 0, ["in"] = 0, go = 0, out = 0 }
  for line in io.lines(ledger) do
    local what = line:match "^(%l+) %S+$"
    count[what] = count[what] + 1
    if what == "in" and count.come < n or what == "out" and count.go < n then
      error(("%q: of %d, %d had come and %d gone"):format(line, n, count.come,
        count.go), 2)
    end
  end
  return count
end

-- All go in: one by one, or together.
local function enter_all(members, ledger, one_by_one)
  for i, member in ipairs(members) do
    member:begin("enter", path, #members, ledger, "m" .. i, 60000)
    if one_by_one and i < #members then
      support.wait_until(function()
        return #support.zk():children(path) == i
      end, 20)
    end
  end
  for _, member in ipairs(members) do member:expect("in", 60) end
end

local function leave_all(members, ledger, one_by_one)
  for i, member in ipairs(members) do
    member:begin("leave", ledger, "m" .. i, 60000)
    if one_by_one then
      support.wait_until(function() return count_in(ledger, 0).go >= i end)
      support.sleep(0.01) -- in which it may leave, if it waits for nobody
    end
  end
  for _, member in ipairs(members) do member:expect("out", 60) end
end

describe("Our double barrier", function()
  it("begins and ends together with DistributedDoubleBarrier, DoubleBarrier "
    .. "and both", function()
    for _, others in ipairs { { curator[1], curator[2] },
      { kazoo[1], kazoo[2] },
      { curator[1], kazoo[1], curator[2], kazoo[2] } } do
      local members = { start_member(), start_member(),
        (unpack or table.unpack)(others) }
      -- Rounds on one path; the first member is another one each time.
      for round = 1, 4 do
        -- All write to it: they come, are in, go, are out.
        local ledger = support.closing(os.tmpname(), os.remove)
        local n = #members
        table.insert(members, table.remove(members, 1))
        enter_all(members, ledger, round % 2 == 0)
        leave_all(members, ledger, round % 4 < 2)
        assert.same({ come = n, ["in"] = n, go = n, out = n },
          count_in(ledger, n))
        assert.same({}, support.zk():children(path))
      end
    end
  end)
end)

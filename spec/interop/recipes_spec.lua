-- What is built on locks, shared with other libraries: the real ones, of
-- Debian.
local kinds = require "integration.family.kinds"
local peers = require "interop.peers"
local processes = require "support.processes"
local raw = require "support.raw"
local spawn = require "support.child".spawn
local support = require "support"
local tally_of = require "server.tally"
local connect = support.connect

local TERMS = 40
local ROUNDS = 8

-- Processes of other libraries, and the path of the test.
local curator, kazoo, path

setup(function()
  peers.install()
  kazoo = peers.kazoo(2)
  curator = peers.curator(2)
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

local function begin()
  kinds.start()
  path = support.path()
  support.zk():make(path) -- it does not vanish under kazoo
end

local function stop(peer)
  peer.stopped = true
  processes.signal("STOP", peer.pid)
  processes.await_stop(peer.pid)
end

local function go_on(peer)
  peer.stopped = false
  processes.signal("CONT", peer.pid)
end

-- Both libraries leave watches behind, until their sessions end.
local function finish()
  each_peer(function(peer)
    if peer.stopped then go_on(peer) end
    peer:begin "renew"
  end)
  each_peer(function(peer)
    repeat until peer:answer() == "renewed" -- after a failure, more than that
  end)
  support.finish()
end

local SHORT_S = 3 -- the sessions of those that are killed

-- One more, that may be killed.
local function mortal(start)
  return support.closing(start(1, SHORT_S)[1])
end

local function kill(who) processes.signal("KILL", who.pid) end

-- Elections.

local ELECTIONS = {
  { name = "Curator's LeaderSelector", kind = "selector", layout = "curator",
    peers = function() return curator end, start = peers.curator },
  { name = "Curator's LeaderLatch", kind = "latch", layout = "latch",
    peers = function() return curator end, start = peers.curator },
  { name = "kazoo's Election", kind = "election", layout = "kazoo",
    peers = function() return kazoo end, start = peers.kazoo },
}

-- A process of ours that leads so many times.
local CANDIDATE = [[
  local path, tally_name, name, terms, layout = ...
  local tally = require "server.tally".open(tally_name)
  local session = assert(zklock.connect(hosts, { session_timeout = 30 }))
  local election = session:election(path, { layout = layout, data = name })
  local left = tonumber(terms)
  say "ready"
  hear()
  assert(election:run(function(guard)
    tally:enter("W", name)
    assert(guard:is_held())
    socket.sleep(0.001)
    tally:leave("W", name)
    left = left - 1
    if left == 0 then election:stop() end
  end))
  session:close()
  say "done"
]]

-- A process of ours that leads until it is killed.
local LEADER = [[
  local path, layout, session_s = ...
  local session = assert(zklock.connect(hosts,
    { session_timeout = tonumber(session_s) }))
  local election = session:election(path, { layout = layout, data = "ours" })
  assert(election:campaign(60))
  say "leads"
  hear()
]]

-- `{ session =, guard =, … }`, filled in when it leads.
local function campaign(election, session)
  local result = { session = session }
  result.ticket = election:campaign_async(function(guard, message, code)
    result.guard, result.message, result.code = guard, message, code
  end)
  return result
end

local function wait_for_leader(peer)
  support.wait_until(function() return peer:ask "leads" == "true" end, 20,
    "the leadership of a peer")
end

describe("Our election", function()
  before_each(begin)
  after_each(finish)

  for _, other in ipairs(ELECTIONS) do
    it("shares the leadership with " .. other.name, function()
      local tally = tally_of.create()
      support.closing(tally)
      local ours, theirs = {}, other.peers()
      for i = 1, 2 do
        ours[i] = spawn(CANDIDATE, path, tally.name, "lua" .. i, TERMS,
          other.layout)
      end
      for _, child in ipairs(ours) do child:expect "ready" end
      for i, peer in ipairs(theirs) do
        peer:begin("contend", other.kind, path, tally.name, "peer" .. i, TERMS)
      end
      for _, child in ipairs(ours) do child:say() end
      for _, peer in ipairs(theirs) do peer:expect("done", 60) end
      for _, child in ipairs(ours) do
        child:expect("done", 60)
        assert.equal(0, child:wait(), child:output())
      end
      local entered, _, names = tally:check()
      assert.equal(4 * TERMS, entered.W)
      for i = 1, 2 do
        assert.equal(TERMS, names["lua" .. i])
        assert.equal(TERMS, names["peer" .. i])
      end
    end)

    it("sees who leads, and is seen, beside " .. other.name, function()
      local session, peer = connect(), other.peers()[1]
      local asks = other.peers()[2]
      local election = session:election(path,
        { layout = other.layout, data = "ours" })
      local heard = {}
      local ticket = election:leader(function(leader)
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
      local own = campaign(election, session)
      kinds.wait_for_nodes(path, 2)
      expect("theirs", "theirs ours")
      assert.is_nil(own.guard)

      assert.equal("resigned", peer:ask "resign")
      support.step_until(session, function() return own.guard end)
      local successor = expect("ours", "ours")
      assert.equal(own.guard:token(), successor.token)
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

    it("follows a leader that is killed, and is followed: " .. other.name,
      function()
        local session = connect()
        local theirs = mortal(other.start)
        theirs:ask("campaign", other.kind, path, "theirs")
        wait_for_leader(theirs)
        local own = campaign(session:election(path,
          { layout = other.layout }), session)
        kinds.wait_for_nodes(path, 2)
        kill(theirs)
        support.step_until(session, function() return own.guard end, 20,
          "the leadership of a leader that was killed")

        local child = spawn(LEADER, path, other.layout, SHORT_S)
        kinds.wait_for_nodes(path, 2)
        own.guard:release()
        child:expect "leads"
        local peer = other.peers()[1]
        peer:ask("campaign", other.kind, path, "theirs")
        kinds.wait_for_nodes(path, 2)
        assert.equal("false", peer:ask "leads")
        kill(child)
        wait_for_leader(peer)
        assert.equal("resigned", peer:ask "resign")
      end)
  end

  it("does not see Curator's LeaderLatch where its layout is LeaderSelector's",
    function()
      local session, peer = connect(), curator[1]
      peer:ask("campaign", "latch", path, "theirs")
      wait_for_leader(peer)
      local election = session:election(path)
      assert.is_nil(election:leader())
      local _, message, code = election:campaign(30)
      assert.equal("conflict", code)
      assert.matches("in use as an election in the layout of latches %(by "
        .. '"theirs", session 0x%x+%)', message)
      election = connect():election(path, { share_path = true })
      local guard = assert(election:campaign(30)) -- two leaders
      assert.equal("true", peer:ask "leads")
      guard:release()
      assert.equal("resigned", peer:ask "resign")
      kinds.wait_for_nodes(path, 0)
    end)
end)

-- Barriers.

local BARRIERS = {
  { name = "Curator's DistributedBarrier",
    peers = function() return curator end },
  { name = "kazoo's Barrier", peers = function() return kazoo end },
}

-- Waits in `barrier`: `{ session =, passed =, code = }`.
local function wait_at(barrier, session)
  local result = { session = session }
  result.ticket = barrier:wait_async(function(ok, _, code)
    result.passed, result.code = ok, code
  end)
  return result
end

-- So many sessions have a watch on `path`.
local function count_watchers(at)
  local n, here = 0, false
  for line in raw.word(support.hosts, "wchp"):gmatch "[^\n]+" do
    if line:sub(1, 1) == "/" then
      here = line == at
    elseif here then
      n = n + 1
    end
  end
  return n
end

local function wait_for_watchers(at, n)
  support.wait_until(function() return count_watchers(at) == n end, 10,
    ("%d that watch %s"):format(n, at))
end

describe("Our barrier", function()
  before_each(begin)
  after_each(finish)

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
      wait_for_watchers(place, 1)
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
      local waiter = wait_at(barrier, session)
      kinds.nobody(0.05, waiter)
      assert.equal("lifted", lifter:ask("lift", place))
      support.step_until(session, function() return waiter.passed end)
      assert.is_false(barrier:is_set())
      assert.is_true(barrier:wait())
      assert.same({ true, false }, { barrier:lift() })
      assert.equal("lifted", lifter:ask("lift", place)) -- nor does this fail
      assert.same({ true, true }, { barrier:set() })
      assert.equal("set", setter:ask("set", place))
      assert.same({ true, true }, { barrier:lift() })
    end)
  end

  it("lets the waiters of all libraries pass at once", function()
    local session = connect()
    local barrier = session:barrier(path)
    barrier:set()
    each_peer(function(peer) peer:begin("wait", path, 60000) end)
    wait_for_watchers(path, 4)
    local waiters = {}
    for i = 1, 10 do waiters[i] = wait_at(barrier, session) end
    wait_for_watchers(path, 5)
    kinds.nobody(0.05, (unpack or table.unpack)(waiters))
    assert.is_true((barrier:lift()))
    each_peer(function(peer) peer:expect "passed" end)
    for _, waiter in ipairs(waiters) do
      support.step_until(session, function() return waiter.passed end)
    end
  end)

  it("cannot be lifted while it has children, as Curator's", function()
    local zk = support.zk()
    zk:make(path .. "/child")
    local barrier = connect():barrier(path)
    assert.truthy(curator[1]:ask("lift", path):find("NotEmpty", 1, true))
    assert.is_nil((barrier:lift()))
    assert.is_true(barrier:is_set())
    zk:delete(path .. "/child")
    assert.same({ true, true }, { barrier:lift() })
  end)
end)

-- Double barriers.

-- A process of ours that goes in and out as the lines say that it hears.
local MEMBER = [[
  local session_s = ...
  local session = assert(zklock.connect(hosts,
    { session_timeout = tonumber(session_s) }))
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
    local guard, _, code = gate:enter(ms / 1000)
    if not guard then return code end
    assert(guard:is_held())
    note(ledger, "in", name)
    return "in"
  end
  function obey.leave(ledger, name, ms)
    note(ledger, "go", name)
    local ok, _, code = gate:leave(ms / 1000)
    if not ok then return code end
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

-- With the face of a peer.
local Member = {}
Member.__index = Member

function Member:begin(...)
  self.child:say(table.concat({ ... }, " "))
end

function Member:expect(line, seconds) self.child:expect(line, seconds) end

local function start_member(session_s)
  local child = spawn(MEMBER, session_s or 30)
  support.closing(child, function()
    if child:status() then return end
    child:say "quit"
    child:wait(5)
  end)
  return setmetatable({ child = child, pid = child.pid }, Member)
end

-- What all members write to: they come, are in, go, are out.
local Ledger = {}
Ledger.__index = Ledger

local function new_ledger()
  return support.closing(setmetatable({ name = os.tmpname() }, Ledger))
end

function Ledger:close() os.remove(self.name) end

-- Raises if somebody was in before `n` had come, or out before `n` had begun to
-- go.
function Ledger:check(n)
  local count = { come = 0, ["in"] = 0, go = 0, out = 0 }
  for line in io.lines(self.name) do
    local what = line:match "^(%l+) %S+$"
    count[what] = count[what] + 1
    if what == "in" and count.come < n or what == "out" and count.go < n then
      error(("%q: of %d, %d had come and %d gone"):format(line, n, count.come,
        count.go), 2)
    end
  end
  assert.same({ come = n, ["in"] = n, go = n, out = n }, count)
end

function Ledger:count(what)
  local n = 0
  for line in io.lines(self.name) do
    if line:match "^%l+" == what then n = n + 1 end
  end
  return n
end

local PATIENCE_MS = 60000

local function begin_to_enter(member, at, n, ledger, name)
  member:begin("enter", at, n, ledger.name, name, PATIENCE_MS)
end

local function begin_to_leave(member, ledger, name)
  member:begin("leave", ledger.name, name, PATIENCE_MS)
end

-- Members' nodes in `path`.
local function names_in(at)
  local names = {}
  for _, name in ipairs(support.zk():children(at) or {}) do
    if name ~= "ready" then names[#names + 1] = name end
  end
  return names
end

local function wait_for_members(at, n)
  support.wait_until(function() return #names_in(at) == n end, 20,
    ("%d members in %s"):format(n, at))
end

-- All go in: one by one, or together.
local function enter_all(members, at, ledger, one_by_one)
  for i, member in ipairs(members) do
    begin_to_enter(member, at, #members, ledger, "m" .. i)
    if one_by_one and i < #members then wait_for_members(at, i) end
  end
  for _, member in ipairs(members) do member:expect("in", 60) end
end

local function leave_all(members, ledger, one_by_one)
  for i, member in ipairs(members) do
    begin_to_leave(member, ledger, "m" .. i)
    if one_by_one then
      support.wait_until(function() return ledger:count "go" >= i end)
      support.sleep(0.01)
    end
  end
  for _, member in ipairs(members) do member:expect("out", 60) end
end

-- Many rounds on one path; the first member is another one each time.
local function go_round(members)
  for round = 1, ROUNDS do
    local ledger = new_ledger()
    table.insert(members, table.remove(members, 1))
    enter_all(members, path, ledger, round % 2 == 0)
    leave_all(members, ledger, round % 4 < 2)
    ledger:check(#members)
    assert.same({}, support.zk():children(path))
  end
end

-- Two members of ours, and these.
local function beside(others)
  local members = { start_member(), start_member() }
  for _, list in ipairs(others) do
    for _, peer in ipairs(list) do table.insert(members, peer) end
  end
  return members
end

-- A member of ours in this process, which waits while the spec does something
-- else.
local Waiting = {}
Waiting.__index = Waiting

local function start_waiting(at, n)
  local session = connect()
  return setmetatable({ session = session,
    gate = session:double_barrier(at, n) }, Waiting)
end

local function hear(self)
  self.result = nil
  return function(ok, _, code)
    self.result, self.guard = ok and true or code, ok
  end
end

function Waiting:enter() self.gate:enter_async(hear(self)) end

function Waiting:leave(seconds)
  self.gate:leave_async({ guard = self.guard, timeout = seconds }, hear(self))
end

--- True, or a code.
function Waiting:outcome()
  support.step_until(self.session, function() return self.result end, 20)
  return self.result
end

-- Two of ours are inside with a peer, and the lowest is one of ours.  (A
-- session's nodes begin with the same letters: so it is another one each time.)
local function enter_below(peer, at, ledger)
  while true do
    local a, b = start_waiting(at, 3), start_waiting(at, 3)
    begin_to_enter(peer, at, 3, ledger, "peer")
    a:enter()
    b:enter()
    peer:expect "in"
    assert.is_true(a:outcome())
    assert.is_true(b:outcome())
    if names_in(at)[1]:find("-member-", 1, true) then return a, b end
    begin_to_leave(peer, ledger, "peer")
    a:leave()
    b:leave()
    peer:expect "out"
    assert.is_true(a:outcome())
    assert.is_true(b:outcome())
  end
end

describe("Our double barrier", function()
  before_each(begin)
  after_each(finish)

  it("begins and ends together with DistributedDoubleBarrier, DoubleBarrier "
    .. "and both", function()
    go_round(beside { curator })
    go_round(beside { kazoo })
    go_round(beside { curator, kazoo })
  end)

  local VICTIMS = {
    { name = "Curator's", start = function() return mortal(peers.curator) end,
      peers = function() return curator end },
    { name = "kazoo's", start = function() return mortal(peers.kazoo) end,
      peers = function() return kazoo end },
    { name = "ours", start = function() return start_member(SHORT_S) end,
      peers = function() return { curator[1], kazoo[1] } end },
  }

  for _, victim in ipairs(VICTIMS) do
    -- Two of ours, one of theirs, and at last the one that is to die.
    local function start_four()
      local members = beside { { victim.peers()[1] } }
      members[4] = victim.start()
      return members
    end

    for where, leaves in pairs { inside = false, ["while it leaves"] = true } do
      it(("hangs nobody if one dies %s: %s"):format(where, victim.name),
        function()
          local ledger, members = new_ledger(), start_four()
          enter_all(members, path, ledger)
          if leaves then
            begin_to_leave(members[4], ledger, "dying")
            support.wait_until(function() return ledger:count "go" == 1 end)
          end
          kill(table.remove(members))
          leave_all(members, ledger)
          assert.equal(4, ledger:count "in")
          assert.equal(3, ledger:count "out")
        end)
    end

    it("waits for another if one dies before it is in: " .. victim.name,
      function()
        local ledger = new_ledger()
        local members, dying = beside { victim.peers() }, victim.start()
        for i = 1, 2 do
          begin_to_enter(members[i], path, 4, ledger, "m" .. i)
        end
        begin_to_enter(dying, path, 4, ledger, "dying")
        wait_for_members(path, 3)
        kill(dying)
        wait_for_members(path, 2)
        for i = 3, 4 do
          assert.equal(0, ledger:count "in")
          begin_to_enter(members[i], path, 4, ledger, "m" .. i)
        end
        for _, member in ipairs(members) do member:expect("in", 60) end
        leave_all(members, ledger)
      end)
  end

  it("goes whether the others do or not, if its time is over", function()
    for i, peer in ipairs { curator[1], kazoo[1] } do
      local there, ledger = path .. i, new_ledger()
      local ours = start_waiting(there, 2)
      support.zk():make(there)
      begin_to_enter(peer, there, 2, ledger, "theirs")
      ours:enter()
      assert.is_true(ours:outcome())
      peer:expect "in"
      ours:leave(0.05)
      assert.equal("timeout", ours:outcome())
      wait_for_members(there, 1)
      begin_to_leave(peer, ledger, "theirs")
      peer:expect "out"
    end
  end)

  for _, name in ipairs { "Curator's", "kazoo's" } do
    it("lets in who is slow to see that the others are: " .. name, function()
      local ledger = new_ledger()
      local slow = start_member()
      local others = name == "kazoo's" and kazoo or curator
      begin_to_enter(slow, path, 3, ledger, "slow")
      wait_for_members(path, 1)
      wait_for_watchers(path .. "/ready", 1)
      slow.child:signal "STOP"
      for i, peer in ipairs(others) do
        begin_to_enter(peer, path, 3, ledger, "m" .. i)
      end
      for _, peer in ipairs(others) do peer:expect("in", 60) end
      for i, peer in ipairs(others) do
        begin_to_leave(peer, ledger, "m" .. i)
      end
      -- Who is not the lowest gives its node back at once.
      support.wait_until(function() return #names_in(path) < 3 end, 10)
      slow.child:signal "CONT"
      slow:expect("in", 20)
      begin_to_leave(slow, ledger, "slow")
      slow:expect("out", 60)
      for _, peer in ipairs(others) do peer:expect("out", 60) end
      ledger:check(3)
    end)
  end

  it("takes no old `ready` for a new one; the others' do", function()
    local zk = support.zk()
    local ledger = new_ledger()
    zk:make(path .. "/ready")
    local ours = { start_member(), start_member() }
    enter_all(ours, path, ledger, true)
    leave_all(ours, ledger, true)
    ledger:check(2)
    each_peer(function(peer)
      local there = support.path()
      zk:make(there .. "/ready")
      begin_to_enter(peer, there, 2, new_ledger(), "alone")
      peer:expect "in"
    end)
  end)

  -- Curator's waits for whoever is there when it looks: for the next run, too.
  it("is not begun anew on a path that Curator's have not left", function()
    local ledger, peer = new_ledger(), curator[1]
    local a, b = enter_below(peer, path, ledger)
    begin_to_leave(peer, ledger, "slow")
    wait_for_members(path, 2) -- it waits for the lowest, which is ours
    stop(peer)
    a:leave()
    b:leave()
    assert.is_true(a:outcome())
    assert.is_true(b:outcome())

    a:enter()
    b:enter()
    wait_for_members(path, 2)
    local lowest = path .. "/" .. names_in(path)[1]
    wait_for_watchers(lowest, 1) -- whose node it is
    go_on(peer)
    wait_for_watchers(lowest, 2) -- Curator's, too: and would for ever
    a.gate:cancel()
    b.gate:cancel()
    assert.equal("cancelled", a:outcome())
    assert.equal("cancelled", b:outcome())
    peer:expect "out"
  end)

  it("counts a member of Curator's whose time is over: its node stays",
    function()
      local ledger = new_ledger()
      local ours = start_member()
      curator[1]:begin("enter", path, 2, ledger.name, "late", 50)
      curator[1]:expect "late"
      begin_to_enter(ours, path, 2, ledger, "ours")
      ours:expect "in" -- beside nobody
      begin_to_leave(ours, ledger, "ours")
      begin_to_leave(curator[1], ledger, "late")
      ours:expect "out"
      curator[1]:expect "out"
    end)
end)

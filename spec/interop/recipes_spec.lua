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

-- Their libraries: the processes, and what starts another one of them.
local curator, kazoo, directory

local function with_pids(list)
  for _, peer in ipairs(list) do peer.pid = tonumber(peer:ask "pid") end
  return list
end

local function start_curator(count, session_s)
  return with_pids(peers.java(count, "Recipes", directory, session_s))
end

local function start_kazoo(count, session_s)
  return with_pids(peers.python(count, "recipes", session_s))
end

setup(function()
  peers.install()
  directory = os.tmpname()
  os.remove(directory)
  os.execute("mkdir '" .. directory .. "'")
  peers.compile("Recipes", directory)
  kazoo = start_kazoo(2)
  curator = start_curator(2)
end)

local function each_peer(fn)
  for _, list in ipairs { curator or {}, kazoo or {} } do
    for _, peer in ipairs(list) do fn(peer) end
  end
end

teardown(function()
  each_peer(function(peer) peer:close() end)
  if directory then os.execute("rm -rf '" .. directory .. "'") end
end)

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
    peers = function() return curator end, start = start_curator },
  { name = "Curator's LeaderLatch", kind = "latch", layout = "latch",
    peers = function() return curator end, start = start_curator },
  { name = "kazoo's Election", kind = "election", layout = "kazoo",
    peers = function() return kazoo end, start = start_kazoo },
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
  before_each(function() kinds.start() end)
  after_each(finish)

  for _, other in ipairs(ELECTIONS) do
    it("shares the leadership with " .. other.name, function()
      local path, tally = support.path(), tally_of.create()
      support.closing(tally)
      support.zk():make(path)
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
      kinds.wait_for_nodes(path, 0)
      support.zk():delete_all(path)
    end)

    it("sees who leads, and is seen, beside " .. other.name, function()
      local path, session, peer = support.path(), connect(), other.peers()[1]
      local asks = other.peers()[2]
      support.zk():make(path)
      local election = session:election(path,
        { layout = other.layout, data = "ours" })
      assert.is_nil(election:leader())
      assert.equal("nobody", asks:ask("leader", other.kind, path))

      peer:ask("campaign", other.kind, path, "theirs")
      wait_for_leader(peer)
      local leader = election:leader()
      assert.equal("theirs", leader.data)
      local own = campaign(election, session)
      kinds.wait_for_nodes(path, 2)
      assert.equal("theirs", asks:ask("leader", other.kind, path))
      assert.equal("theirs ours", asks:ask("participants", other.kind, path))
      assert.is_nil(own.guard)

      assert.equal("resigned", peer:ask "resign")
      support.step_until(session, function() return own.guard end)
      assert.equal("ours", asks:ask("leader", other.kind, path))
      local successor = election:leader()
      assert.equal("ours", successor.data)
      assert.equal(own.guard:token(), successor.token)
      assert.is_true(successor.token > leader.token)
      assert.is_true(successor.since >= leader.since)

      peer:ask("campaign", other.kind, path, "theirs")
      kinds.wait_for_nodes(path, 2)
      assert.equal("false", peer:ask "leads")
      assert.equal("ours theirs", asks:ask("participants", other.kind, path))
      assert.is_true(election:resign())
      wait_for_leader(peer)
      assert.equal("resigned", peer:ask "resign")
      kinds.wait_for_nodes(path, 0)
      support.zk():delete_all(path)
    end)

    it("hears of each change of who leads, beside " .. other.name, function()
      local path, session, peer = support.path(), connect(), other.peers()[1]
      support.zk():make(path)
      local election = session:election(path,
        { layout = other.layout, data = "ours" })
      local heard = {}
      local ticket = election:leader(function(leader)
        heard[#heard + 1] = leader and leader.data or "nobody"
      end)
      local function expect(name)
        support.step_until(session, function()
          return heard[#heard] == name
        end, 10, name .. " as the leader")
      end
      expect "nobody"
      peer:ask("campaign", other.kind, path, "theirs")
      expect "theirs"
      local own = campaign(election, session)
      kinds.wait_for_nodes(path, 2)
      peer:ask "resign"
      expect "ours"
      support.step_until(session, function() return own.guard end)
      assert.is_true(election:resign())
      expect "nobody"
      ticket:cancel()
      kinds.wait_for_nodes(path, 0)
      support.zk():delete_all(path)
    end)

    it("follows a leader that is killed, and is followed: " .. other.name,
      function()
        local path, session = support.path(), connect()
        support.zk():make(path)
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
        kinds.wait_for_nodes(path, 0)
        support.zk():delete_all(path)
      end)
  end

  it("does not see Curator's LeaderLatch where its layout is LeaderSelector's",
    function()
      local path, session, peer = support.path(), connect(), curator[1]
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
local function count_watchers(path)
  local n, here = 0, false
  for line in raw.word(support.hosts, "wchp"):gmatch "[^\n]+" do
    if line:sub(1, 1) == "/" then
      here = line == path
    elseif here then
      n = n + 1
    end
  end
  return n
end

local function wait_for_watchers(path, n)
  support.wait_until(function() return count_watchers(path) == n end, 10,
    ("%d that watch %s"):format(n, path))
end

describe("Our barrier", function()
  before_each(function() kinds.start() end)
  after_each(finish)

  for _, other in ipairs(BARRIERS) do
    it("keeps others waiting until it is lifted: " .. other.name, function()
      local path = support.path() .. "/a/b"
      local peer, barrier = other.peers()[1], connect():barrier(path)
      assert.is_false(barrier:is_set())
      assert.equal("passed", peer:ask("wait", path, 60000))
      assert.same({ true, true }, { barrier:set() })
      assert.same({ true, false }, { barrier:set() })
      assert.equal("refused", peer:ask("wait", path, 100))
      peer:ask "renew" -- whose watch has gone, too
      peer:begin("wait", path, 60000)
      wait_for_watchers(path, 1)
      assert.same({ true, true }, { barrier:lift() })
      peer:expect "passed"
      assert.same({ true, false }, { barrier:lift() })
      assert.equal("passed", peer:ask("wait", path, 60000))
    end)

    it("waits for others to lift it: " .. other.name, function()
      local path, session = support.path() .. "/a/b", connect()
      local setter, lifter = other.peers()[1], other.peers()[2]
      local barrier = session:barrier(path)
      assert.equal("set", setter:ask("set", path))
      assert.is_true(barrier:is_set())
      assert.same({ true, false }, { barrier:set() })
      assert.equal("timeout", select(3, barrier:wait(0.05)))
      local waiter = wait_at(barrier, session)
      kinds.nobody(0.05, waiter)
      assert.equal("lifted", lifter:ask("lift", path))
      support.step_until(session, function() return waiter.passed end)
      assert.is_false(barrier:is_set())
      assert.is_true(barrier:wait())
      assert.same({ true, false }, { barrier:lift() })
      assert.equal("lifted", lifter:ask("lift", path)) -- nor does this fail
      assert.same({ true, true }, { barrier:set() })
      assert.equal("set", setter:ask("set", path))
      assert.same({ true, true }, { barrier:lift() })
    end)
  end

  it("lets the waiters of all libraries pass at once", function()
    local path, session = support.path(), connect()
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
    local path, zk = support.path(), support.zk()
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

local function begin_to_enter(member, path, n, ledger, name)
  member:begin("enter", path, n, ledger.name, name, PATIENCE_MS)
end

local function begin_to_leave(member, ledger, name)
  member:begin("leave", ledger.name, name, PATIENCE_MS)
end

-- Members' nodes in `path`.
local function names_in(path)
  local names = {}
  for _, name in ipairs(support.zk():children(path) or {}) do
    if name ~= "ready" then names[#names + 1] = name end
  end
  return names
end

local function wait_for_members(path, n)
  support.wait_until(function() return #names_in(path) == n end, 20,
    ("%d members in %s"):format(n, path))
end

-- All go in: one by one, or together.
local function enter_all(members, path, ledger, one_by_one)
  for i, member in ipairs(members) do
    begin_to_enter(member, path, #members, ledger, "m" .. i)
    if one_by_one and i < #members then wait_for_members(path, i) end
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
  local path = support.path()
  support.zk():make(path) -- it does not vanish under kazoo
  for round = 1, ROUNDS do
    local ledger = new_ledger()
    table.insert(members, table.remove(members, 1))
    enter_all(members, path, ledger, round % 2 == 0)
    leave_all(members, ledger, round % 4 < 2)
    ledger:check(#members)
    assert.same({}, support.zk():children(path))
  end
  support.zk():delete_all(path)
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

local function start_waiting(path, n)
  local session = connect()
  return setmetatable({ session = session,
    gate = session:double_barrier(path, n) }, Waiting)
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
local function enter_below(peer, path, ledger)
  while true do
    local a, b = start_waiting(path, 3), start_waiting(path, 3)
    begin_to_enter(peer, path, 3, ledger, "peer")
    a:enter()
    b:enter()
    peer:expect "in"
    assert.is_true(a:outcome())
    assert.is_true(b:outcome())
    if names_in(path)[1]:find("-member-", 1, true) then return a, b end
    begin_to_leave(peer, ledger, "peer")
    a:leave()
    b:leave()
    peer:expect "out"
    assert.is_true(a:outcome())
    assert.is_true(b:outcome())
  end
end

describe("Our double barrier", function()
  before_each(function() kinds.start() end)
  after_each(finish)

  it("begins and ends together with Curator's DistributedDoubleBarrier",
    function() go_round(beside { curator }) end)

  it("begins and ends together with kazoo's DoubleBarrier",
    function() go_round(beside { kazoo }) end)

  it("begins and ends together with both", function()
    go_round(beside { curator, kazoo })
  end)

  local VICTIMS = {
    { name = "Curator's", start = function() return mortal(start_curator) end,
      peers = function() return curator end },
    { name = "kazoo's", start = function() return mortal(start_kazoo) end,
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

    it("hangs nobody if one dies inside: " .. victim.name, function()
      local path, ledger, members = support.path(), new_ledger(), start_four()
      support.zk():make(path)
      enter_all(members, path, ledger)
      kill(table.remove(members))
      leave_all(members, ledger)
      assert.equal(4, ledger:count "in")
      assert.equal(3, ledger:count "out")
      support.zk():delete_all(path)
    end)

    it("hangs nobody if one dies while it leaves: " .. victim.name, function()
      local path, ledger, members = support.path(), new_ledger(), start_four()
      support.zk():make(path)
      enter_all(members, path, ledger)
      begin_to_leave(members[4], ledger, "dying")
      support.wait_until(function() return ledger:count "go" == 1 end)
      kill(table.remove(members))
      leave_all(members, ledger)
      assert.equal(3, ledger:count "out")
      support.zk():delete_all(path)
    end)

    it("waits for another if one dies before it is in: " .. victim.name,
      function()
        local path, ledger = support.path(), new_ledger()
        local members, dying = beside { victim.peers() }, victim.start()
        support.zk():make(path)
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
        support.zk():delete_all(path)
      end)
  end

  it("goes whether the others do or not, if its time is over", function()
    for _, peer in ipairs { curator[1], kazoo[1] } do
      local path, ledger = support.path(), new_ledger()
      local ours = start_waiting(path, 2)
      support.zk():make(path)
      begin_to_enter(peer, path, 2, ledger, "theirs")
      ours:enter()
      assert.is_true(ours:outcome())
      peer:expect "in"
      ours:leave(0.05)
      assert.equal("timeout", ours:outcome())
      wait_for_members(path, 1)
      begin_to_leave(peer, ledger, "theirs")
      peer:expect "out"
      support.zk():delete_all(path)
    end
  end)

  for _, name in ipairs { "Curator's", "kazoo's" } do
    it("lets in who is slow to see that the others are: " .. name, function()
      local path, ledger = support.path(), new_ledger()
      local slow = start_member()
      local others = name == "kazoo's" and kazoo or curator
      support.zk():make(path)
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
      support.zk():delete_all(path)
    end)
  end

  it("takes no old `ready` for a new one; the others' do", function()
    local zk = support.zk()
    local path, ledger = support.path(), new_ledger()
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
    local path, ledger, peer = support.path(), new_ledger(), curator[1]
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
      local path, ledger = support.path(), new_ledger()
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

-- Locks that are shared with other libraries: the real ones, of Debian.
local kinds = require "integration.family.kinds"
local peers = require "interop.peers"
local spawn = require "support.child".spawn
local support = require "support"
local tally_of = require "server.tally"
local connect = support.connect
local await, nobody = kinds.await, kinds.nobody

local ROUNDS = 60

-- A process of ours: it waits for a line, contends, and says "done".
local LUA = [[
  local path, tally_name, name, rounds, permits = ...
  local tally = require "server.tally".open(tally_name)
  math.randomseed(name:byte(-1) * 7919)
  local session = assert(zklock.connect(hosts, { session_timeout = 30 }))
  local function stay(mode, guard)
    tally:enter(mode, name)
    assert(guard:is_held())
    socket.sleep(mode == "P" and 0.004 or 0.001)
    if mode ~= "W" then tally:wait_for_company(mode) end
    tally:leave(mode, name)
  end
  local function write(lock)
    for i = 1, rounds do
      local guard = assert(lock:acquire(30))
      stay("W", guard)
      assert(guard:release())
    end
  end
  local function read_and_write(side, downgrades)
    for i = 1, rounds do
      local dice = math.random(10)
      local mode = dice <= 5 and "read" or "write"
      local guard = assert(side[mode]:acquire(30))
      if mode == "read" then
        stay("R", guard)
      elseif dice <= 8 or not downgrades then
        stay("W", guard)
      else
        tally:enter("W", name)
        local read = assert(side.read:acquire(30))
        tally:leave("W", name)
        tally:enter("R", name)
        assert(guard:release())
        socket.sleep(0.001)
        assert(read:is_held())
        tally:leave("R", name)
        guard = read
      end
      assert(guard:release())
    end
  end
  say "ready"
  hear()
  ]]

local EPILOGUE = [[
  session:close()
  say "done"
]]

local jobs = {
  mutex = [[
    local ways = { {}, { handoffs = 2 }, { wait = "parent" } }
    write(session:mutex(path, ways[name:byte(-1) % 3 + 1]))
  ]],
  ["semaphore-mutex"] = [[ write(session:semaphore(path, 1)) ]],
  rwlock = [[ read_and_write(session:rwlock(path), true) ]],
  semaphore = [[
    local semaphore = session:semaphore(path, tonumber(permits))
    for i = 1, rounds do
      local guard = assert(semaphore:acquire(30))
      stay("P", guard)
      assert(guard:release())
    end
  ]],
  ["kazoo lock"] = [[ write(session:mutex(path, { layout = "kazoo" })) ]],
  ["kazoo rwlock"] = [[
    read_and_write(session:rwlock(path, { layout = "kazoo" }), true)
  ]],
}

-- Three processes of ours do `job`; `others` is a list of { peer, kind }.
-- Returns what the witness has seen.
local function contend(job, others, permits)
  local path, tally = support.path(), tally_of.create()
  support.closing(tally)
  support.zk():make(path)
  local ours = {}
  for i = 1, 3 do
    ours[i] = spawn(LUA .. jobs[job] .. EPILOGUE, path, tally.name, "lua" .. i,
      ROUNDS, permits)
  end
  -- Each has done it once before: a peer that is cold comes when we have gone.
  local warm = tally_of.create()
  support.closing(warm)
  for i, other in ipairs(others) do
    assert.equal("done", other[1]:ask("contend", other[2], support.path(),
      warm.name, "peer" .. i, 5 .. (permits and " " .. permits or "")))
  end
  for _, child in ipairs(ours) do child:expect "ready" end
  for i, other in ipairs(others) do
    other[1]:begin("contend", other[2], path, tally.name, "peer" .. i,
      ROUNDS .. (permits and " " .. permits or ""))
  end
  for _, child in ipairs(ours) do child:say() end
  for _, other in ipairs(others) do other[1]:expect("done", 60) end
  for _, child in ipairs(ours) do
    child:expect("done", 60)
    assert.equal(0, child:wait(), child:output())
  end
  local entered, most, names = tally:check(permits)
  for i = 1, 3 do assert.is_true(names["lua" .. i] >= ROUNDS) end
  for i = 1, #others do assert.is_true(names["peer" .. i] >= ROUNDS) end
  kinds.wait_for_nodes(path, 0)
  support.zk():delete_all(path)
  return entered, most
end

local function with(list, kind)
  local others = {}
  for i, peer in ipairs(list) do others[i] = { peer, kind } end
  return others
end

-- The peers live as long as the file's tests: a JVM takes a second to start.
local curator, kazoo

setup(function()
  peers.install()
  kazoo = peers.kazoo(3)
  curator = peers.curator(3)
end)

teardown(function()
  for _, list in ipairs { curator or {}, kazoo or {} } do
    for _, peer in ipairs(list) do peer:close() end
  end
  peers.uninstall()
end)

before_each(function() kinds.start() end)
after_each(support.finish)

describe("Three processes of ours beside three of Curator's", function()
  it("share an InterProcessMutex and an InterProcessSemaphoreMutex", function()
    for _, kind in ipairs { "mutex", "semaphore-mutex" } do
      local entered = contend(kind, with(curator, kind))
      assert.equal(6 * ROUNDS, entered.W)
    end
  end)

  it("share an InterProcessReadWriteLock; ours downgrade", function()
    local entered, most = contend("rwlock", with(curator, "rwlock"))
    assert.is_true(entered.R > 0 and entered.W > 0)
    assert.is_true(most.R > 1, "no two readers were ever together")
  end)

  it("share an InterProcessSemaphoreV2", function()
    local entered, most = contend("semaphore", with(curator, "semaphore"), 3)
    assert.equal(6 * ROUNDS, entered.P)
    assert.is_true(most.P > 1 and most.P <= 3, most.P .. " at once")
  end)
end)

describe("A holder of Curator's", function()
  it("keeps us waiting, and we it, in the order of arrival", function()
    local path = support.path()
    local ours = connect():mutex(path, { data = "ours" })
    assert.equal("held", curator[1]:ask("acquire", path, 5000))
    assert.equal("busy", select(3, ours:try_acquire()))
    local waiter = kinds.queue_in(ours, path)
    curator[2]:begin("acquire", path, 20000)
    support.wait_for_queue(path, 3)
    nobody(0.05, waiter)
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

  it("is not passed over beside a node that no session owns", function()
    local path = support.path()
    local zk, node = support.zk(), path .. "/x-lock-0000000000"
    support.closing({}, function() zk:delete(node) end)
    assert.equal("held", curator[1]:ask("acquire", path, 5000))
    zk:create(node)
    local waiter = kinds.queue_in(connect():mutex(path), path)
    nobody(0.1, waiter)
    assert.equal("released", curator[1]:ask "release")
    await(waiter)
    -- Curator waits for such a node, in vain; we for Curator.
    curator[2]:begin("acquire", path, 10000)
    support.wait_for_queue(path, 3)
    local behind = kinds.queue_in(connect():mutex(path), path)
    waiter.guard:release()
    nobody(0.2, behind)
    curator[2]:expect "refused"
    await(behind)
    zk:delete(node)
    curator[2]:begin("acquire", path, 10000)
    support.wait_for_queue(path, 2)
    assert.is_true((behind.guard:is_held()))
    behind.guard:release()
    curator[2]:expect "held"
    assert.equal("released", curator[2]:ask "release")
  end)

  it("refuses ours of another kind, and no mutex or election", function()
    local path = support.path()
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

  it("does not hear our revoke, and is not harmed by it", function()
    local path = support.path()
    assert.equal("held", curator[1]:ask("acquire", path, 5000))
    assert.equal("listening", curator[1]:ask "listen")
    local session = connect()
    local data = session:contenders(path)[1].data
    assert.equal(1, session:revoke(path))
    assert.equal(data, session:contenders(path)[1].data)
    support.sleep(0.1)
    assert.equal("asked 0", curator[1]:ask "asked")
    assert.equal("busy", select(3, session:mutex(path):try_acquire()))
    assert.equal("released", curator[1]:ask "release")
    assert(session:mutex(path):acquire(30)):release()
  end)

  it("hears Curator's Revoker, and so do our holders, of every kind",
    function()
      for _, name in ipairs { "mutex", "handoffs", "read", "write",
        "semaphore" } do
        local path, session = support.path(), connect()
        local guard = kinds.of[name].make(session, path):acquire(30)
        local asked = 0
        guard:on_revoke(function(mine)
          asked = asked + 1
          mine:release()
        end)
        support.sleep(0.05)
        assert.equal("revoked", curator[2]:ask("revoke", guard.node))
        support.step_until(session, function() return asked == 1 end)
        kinds.wait_for_nodes(path, 0)
      end
    end)
end)

describe("Three processes of ours beside three of kazoo's", function()
  it("share its Lock, in its layout, and one that is spelled as Curator's",
    function()
      for job, kind in pairs { ["kazoo lock"] = "lock",
        mutex = "curator-lock" } do
        local entered = contend(job, with(kazoo, kind))
        assert.equal(6 * ROUNDS, entered.W)
      end
    end)

  it("share its WriteLock and a ReadLock that is mended, in its layout",
    function()
      local entered, most = contend("kazoo rwlock", with(kazoo, "rwlock"))
      assert.is_true(entered.R > 0 and entered.W > 0)
      assert.is_true(most.R > 1, "no two readers were ever together")
    end)
end)

describe("A holder of kazoo's", function()
  it("keeps us waiting, and we it, in its layout", function()
    local path = support.path()
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

  it("refuses ours of another kind, and none in its layout that waits for it",
    function()
      -- (What is to time out is not waited for; all else has its time.)
      local function code_of(lock, expected)
        local guard, _, code = lock:acquire(expected == "timeout" and 0.1 or 30)
        if guard then guard:release { wait = true } end
        return guard and "granted" or code
      end
      local kazoo_layout = { layout = "kazoo" }
      for kind, expected in pairs {
        lock = { "timeout", "timeout", "timeout" },
        write = { "timeout", "timeout", "timeout" },
        read = { "conflict", "granted", "timeout" },
      } do
        local path = support.path()
        support.zk():make(path .. "/kept")
        assert.equal("held", kazoo[1]:ask("attempt", kind, path))
        assert.equal("conflict", code_of(connect():mutex(path)))
        assert.equal("conflict", code_of(connect():rwlock(path).read))
        assert.equal("conflict", code_of(connect():semaphore(path, 2)))
        local rwlock = connect():rwlock(path, kazoo_layout)
        local codes = {
          code_of(connect():mutex(path, kazoo_layout), expected[1]),
          code_of(rwlock.read, expected[2]), code_of(rwlock.write, expected[3]),
        }
        assert.same(expected, codes, kind)
        assert.equal("released", kazoo[1]:ask "release")
      end
    end)

  it("with kazoo's own Lock does not see us in the usual layout: "
    .. "doc/interoperation.md warns of it", function()
    local path = support.path()
    support.zk():make(path) -- it does not vanish under kazoo
    local guard = connect():mutex(path):acquire(30)
    assert.equal("held", kazoo[1]:ask("attempt", "lock", path))
    assert.is_true(guard:is_held()) -- beside it
    local _, message, code = connect():mutex(path):acquire(5)
    assert.equal("conflict", code) -- it is behind kazoo's as well
    assert.matches("in use as a lock in kazoo's layout", message, 1, true)
    assert.equal("released", kazoo[1]:ask "release")
    assert.equal("refused", kazoo[1]:ask("attempt", "curator-lock", path))
    guard:release { wait = true }
    assert.equal("held", kazoo[1]:ask("attempt", "curator-lock", path))
    assert.equal("busy", select(3, connect():mutex(path):try_acquire()))
    assert.equal("released", kazoo[1]:ask "release")
    kinds.wait_for_nodes(path, 0)
  end)
end)

describe("Three processes of each library", function()
  it("share one mutex", function()
    local others = with(curator, "mutex")
    for _, peer in ipairs(kazoo) do
      others[#others + 1] = { peer, "curator-lock" }
    end
    local entered = contend("mutex", others)
    assert.equal(9 * ROUNDS, entered.W)
  end)
end)

-- Locks between processes: a witness of their own looks whether anybody was
-- inside beside somebody else; one is killed, and one is stuck.
local contests = require "server.contests"
local kinds = require "integration.family.kinds"
local spawn = require "support.child".spawn
local support = require "support"
local tally_of = require "server.tally"
local wait_in, await = kinds.wait_in, kinds.await

local ROUNDS, PROCESSES = 100, 6

describe("Six processes on three servers", function()
  local hosts = support.ensemble
  before_each(function() kinds.start(hosts) end)
  after_each(support.finish)

  local function contend(contest)
    local path, tally, children = support.path(), tally_of.create(), {}
    support.closing(tally)
    for i = 1, PROCESSES do
      children[i] = spawn(contest.program, path, tally.name, "p" .. i, ROUNDS,
        hosts)
    end
    for _, child in ipairs(children) do child:expect "ready" end
    for _, child in ipairs(children) do child:say() end
    for _, child in ipairs(children) do child:expect("done\t1", 60) end
    for _, child in ipairs(children) do
      assert.equal(0, child:wait(), child:output())
    end
    local entered, most, names = tally:check(contest.permits)
    contest.check(entered, most, PROCESSES * ROUNDS)
    for i = 1, PROCESSES do
      assert.is_true(names["p" .. i] >= ROUNDS, "p" .. i)
    end
    kinds.wait_for_nodes(path, 0, nil, hosts)
  end

  -- (The other kinds: `make explore`, and the torture.)
  for _, contest in ipairs(contests) do
    if contest.title == "mutex" or contest.title == "rwlock"
        or contest.title == "semaphore" then
      it(("are never inside beside each other (%s)"):format(contest.title),
        function() contend(contest) end)
    end
  end
end)

describe("A process that", function()
  local path
  before_each(function()
    kinds.start()
    path = support.path()
  end)
  after_each(support.finish)

  it("is killed gives back every kind of hold and place in the queue (T45)",
    function()
      local child = spawn([[
        local kinds = require "integration.family.kinds"
        local path = ...
        local session = assert(zklock.connect(hosts, { session_timeout = 1 }))
        guards = {}
        for i, kind in ipairs(kinds.all) do
          guards[i] = assert(kind.make(session, path .. "/h" .. i):acquire(30))
        end
        say "held"
        hear()
        for i, kind in ipairs(kinds.all) do
          kind.make(session, path .. "/w" .. i):acquire_async(nil, print)
        end
        repeat session:step() until session:stats().in_flight == 0
        say "waiting"
        hear()
      ]], path)
      child:expect "held"
      local session, holders, after, next_ones = support.connect(), {}, {}, {}
      for i, kind in ipairs(kinds.all) do
        local lock = kind.rival(support.connect(), path .. "/w" .. i)
        holders[i] = assert(lock:acquire { timeout = 30, owner = {} })
        next_ones[i] = wait_in(kind.rival(session, path .. "/h" .. i))
      end
      child:say()
      child:expect "waiting"
      for i, kind in ipairs(kinds.all) do
        after[i] = wait_in(kind.make(session, path .. "/w" .. i))
      end
      child:signal "KILL"
      await((unpack or table.unpack)(next_ones))
      for i in ipairs(kinds.all) do
        holders[i]:release()
        await(after[i]):release()
        next_ones[i].guard:release()
      end
    end)

  it("is stuck, in Lua or in C, has its max_hold enforced all the same",
    function()
      local children, waiters = {}, {}
      for i, stuck in ipairs {
        "while not stop() do end",
        "os.execute 'sleep 4'",
        "socket.sleep(4)",
        "while not stop() do stop(); collectgarbage() end",
      } do
        children[i] = spawn([[
          local session = assert(zklock.connect(hosts,
            { session_timeout = 30 }))
          local mutex, lost = session:mutex((...), { max_hold = 1 }), 0
          local guard = assert(mutex:acquire(30))
          guard:on_lost(function() lost = lost + 1 end)
          say("held")
          hear()
          local begun = zklock.now()
          local function stop() return zklock.now() - begun > 4 end
          ]] .. stuck .. [[
          say(zklock.now())
          say(guard:is_held(), guard:lease(), guard:state(), lost)
          for _ = 1, 10 do session:step() end
          say(lost, (select(3, guard:release())))
          session:close()
        ]], path .. "/" .. i)
        children[i]:expect "held"
        waiters[i] = wait_in(support.connect():mutex(path .. "/" .. i))
      end
      for _, child in ipairs(children) do child:say() end
      await((unpack or table.unpack)(waiters))
      for i, child in ipairs(children) do
        assert.is_true(waiters[i].at < tonumber(child:hear())) -- it was stuck
        child:expect "false\t0\tlost\t0"
        child:expect "1\tlost"
        assert.equal(0, child:wait())
        assert.is_true(waiters[i].guard:verify())
        waiters[i].guard:release()
      end
    end)
end)

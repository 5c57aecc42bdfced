-- A rolling upgrade: processes of an earlier zklock and of this one share
-- each kind of lock, elections, barriers and `once`.
local command = require "support.command"
local contests = require "server.contests"
local json = require "dkjson"
local kinds = require "integration.family.kinds"
local old = require "support.old"
local read = require "support.files".read
local spawn_with = require "support.child".spawn_with
local start_actor = require "support.actor".start
local support = require "support"
local tally_of = require "server.tally"

local ROUNDS = 20
local MORTAL_S = 6 -- the session timeout of processes that are killed

-- What is shared.  `locks`, in turns: Lua of an actor's, which makes one at
-- `path`, and the witness's mode; each keeps its neighbours waiting.  `spot`:
-- where contenders() lists them, so many `rows` while one waits; waiters' nodes
-- are below `queue`; `unordered`: any waiter may be next.
local SHARED = {}

local function share(name, locks, options)
  options = options or {}
  SHARED[#SHARED + 1] = { name = name, locks = locks, spot = options.spot or "",
    queue = options.queue or options.spot or "", unordered = options.unordered,
    rows = options.rows or 2 }
end

local function share_mutex(name, options, kind)
  share(name, { { ("session:mutex(path, %s)"):format(options), "W" } }, kind)
end

local function share_sides(layout)
  local function side(name)
    return ("session:rwlock(path, { layout = '%s' }).%s"):format(layout, name)
  end
  local writer, reader = { side "write", "W" }, { side "read", "R" }
  share(layout .. " write and read", { writer, reader })
  share(layout .. " read and write", { reader, writer })
  share(layout .. " write", { writer })
end

share_mutex("mutex", "{}")
share_mutex("parent", "{ wait = 'parent' }")
share_mutex("poll", "{ wait = 'poll', poll_interval = 0.02 }")
share_mutex("handoffs", "{ handoffs = 3 }")
share_mutex("kazoo mutex", "{ layout = 'kazoo' }")
share_mutex("unfair", "{ fair = false }", { unordered = true, rows = 1 })
share_sides "curator"
share_sides "kazoo"
share("semaphore", { { "session:semaphore(path, 1)", "W" } },
  { queue = "/locks", rows = 3 })
share("multi", { { [[session:multi {
  session:mutex(path .. '/b'), session:mutex(path .. '/a') }]], "W" } },
  { spot = "/a" })
for _, layout in ipairs { "curator", "latch", "kazoo" } do
  share(layout .. " election", { { ("session:election(path, { layout = '%s' })")
    :format(layout), "W" } })
end

-- The n-th one's lock of this kind: Lua, and the witness's mode.
local function lock_of(kind, n)
  local lock = kind.locks[(n - 1) % #kind.locks + 1]
  return lock[1]:gsub("%f[%w]path%f[%W]", ("'%s'"):format(kind.path)), lock[2]
end

local VERSIONS = { "old", "new" }

local function words_of(version)
  return version == "old" and old.words() or ""
end

local function environment_of(version)
  return version == "old" and old.environment() or nil
end

-- What makes `support.command` run that version's.
local function options_of(version)
  return { env = environment_of(version),
    program = version == "old" and old.place .. "/bin/zklock" or nil }
end

-- (A source archive has no history.)
local function describe_upgrade(title, fn)
  describe(title .. " #stock", function()
    if not old.is_in_clone() then
      pending "needs a clone: an earlier zklock is built from its history"
      return
    end
    setup(old.install)
    before_each(function() kinds.start() end)
    after_each(support.finish)
    fn()
  end)
end

-- One test for both: the earlier version comes first, and then this one.
local function both(title, ...)
  local parts = { ... }
  it(title, function()
    for i, first in ipairs(VERSIONS) do
      for n, fn in ipairs(parts) do
        local ok, problem = pcall(fn, first, VERSIONS[3 - i])
        if not ok then
          error(("part %d, first: the %s one: %s"):format(n, first,
            tostring(problem)), 0)
        end
        support.close_all()
      end
    end
  end)
end

local function make_directory()
  local name = os.tmpname()
  os.remove(name)
  assert(require "lfs".mkdir(name))
  support.closing({}, function()
    os.execute("rm -rf '" .. name .. "'")
  end)
  return name
end

local function start_process(version, options)
  options = options or {}
  options.environment = words_of(version)
  local actor = start_actor(options)
  actor.version = version
  return actor
end

-- A process of each of these versions, with one witness.
local function start_processes(versions, session_timeout)
  local directory, actors = make_directory(), {}
  for i, version in ipairs(versions) do
    actors[i] = start_process(version, { directory = directory,
      session_timeout = session_timeout })
  end
  return actors
end

local function give_paths()
  for i, kind in ipairs(SHARED) do
    kind.path = support.path()
    kind.key = "k" .. i
    kinds.keep(kind.path)
  end
end

local function each_kind(fn)
  for _, kind in ipairs(SHARED) do
    local ok, problem = pcall(fn, kind)
    if not ok then
      error(("%s: %s"):format(kind.name, tostring(problem)), 0)
    end
  end
end

-- The actor waits for the kind's lock, as its n-th contender.
local function begin(actor, kind, n, data)
  local lock, mode = lock_of(kind, n)
  actor:ask("begin('%s', %s, '%s', { data = '%s' })", kind.key, lock, mode,
    data or actor.version)
end

local function await(actor, kind, outcome)
  actor:await(outcome, "outcome '%s'", kind.key)
end

-- The same, and has its node in the queue, or has looked at the unfair lock's.
local function queue(actor, kind, n)
  if not kind.unordered then
    local where = kind.path .. kind.queue
    local before = #kinds.nodes(where)
    begin(actor, kind, n)
    kinds.wait_for_nodes(where, before + 1)
    return
  end
  local requests = tonumber(actor:ask "session:stats().requests")
  begin(actor, kind, n)
  actor:await("true", "session:stats().requests > %d "
    .. "and session:stats().in_flight == 0", requests)
end

local function leave(actor, kind)
  assert.equal("true", actor:ask("leave '%s'", kind.key))
end

-- The fencing token of the actor's hold.  (A multi has one for each part.)
local function token_of(actor, kind)
  if kind.name == "multi" then return nil end
  return actor:ask("waits['%s'].guard:token()", kind.key)
end

-- Neither version's client that does not wait is granted it, or refused for
-- anything but that it is taken.
local function assert_taken(probes, kind, n)
  for _, probe in ipairs(probes) do
    assert.equal("timeout", probe:ask("try(%s)", (lock_of(kind, n))))
  end
end

describe_upgrade("An earlier process", function()
  it("runs the earlier library, and a process of this tree this one", function()
    for _, version in ipairs(VERSIONS) do
      local actor = start_process(version)
      local maps = read(("/proc/%d/maps"):format(actor.child.pid))
      local where = actor:ask
        "debug.getinfo(require 'zklock.cli'.main, 'S').source"
      local is_old = maps:find(old.place .. "/", 1, true) ~= nil
      assert.equal(version == "old", is_old)
      assert.equal(is_old, where:find(old.place .. "/", 1, true) ~= nil)
    end
  end)
end)

describe_upgrade("Processes of two versions, in turns,", function()
  it("are never inside beside each other", function()
    for _, contest in ipairs(contests) do
      local path, tally = support.path(), tally_of.create()
      support.closing(tally)
      local children = {}
      for i = 1, 4 do
        children[i] = spawn_with(words_of(VERSIONS[i % 2 + 1]), contest.program,
          path, tally.name, "p" .. i, ROUNDS, support.hosts)
      end
      for _, child in ipairs(children) do child:expect "ready" end
      for _, child in ipairs(children) do child:say() end
      for _, child in ipairs(children) do child:expect("done\t1", 60) end
      for _, child in ipairs(children) do
        assert.equal(0, child:wait(), contest.title .. child:output())
      end
      local entered, most = tally:check(contest.permits)
      contest.check(entered, most, 4 * ROUNDS)
      kinds.wait_for_nodes(path, 0)
    end
  end)

  -- Neighbours are of two versions.  The first and the fourth are killed while
  -- they hold; the second and the third release.
  both("are granted each kind in order, also by a process that is killed",
  function(first, second)
    local actors = start_processes(
      { first, second, first, second, first }, MORTAL_S)
    local probes = start_processes(VERSIONS)
    local tokens = {}
    give_paths()
    each_kind(function(kind)
      begin(actors[1], kind, 1)
      await(actors[1], kind, "held")
      tokens[kind] = token_of(actors[1], kind)
      for n = 2, kind.unordered and 1 or #actors do
        queue(actors[n], kind, n)
      end
    end)
    for n = 1, #actors - 1 do
      each_kind(function(kind)
        if kind.unordered then queue(actors[n + 1], kind, n + 1) end
        assert_taken(probes, kind, n + 1)
        for later = n + 1, kind.unordered and n + 1 or #actors do
          await(actors[later], kind, "waits")
        end
        if n == 2 or n == 3 then leave(actors[n], kind) end
      end)
      if n == 1 or n == 4 then actors[n]:kill() end
      each_kind(function(kind)
        await(actors[n + 1], kind, "held")
        local token = token_of(actors[n + 1], kind)
        if token then
          assert.is_true(token > tokens[kind])
          tokens[kind] = token
        end
      end)
    end
    each_kind(function(kind)
      leave(actors[#actors], kind)
      kinds.wait_for_nodes(kind.path, 0)
    end)
  end)

  both("pass each kind on in place of a waiter that is killed",
  function(first, second)
    local actors = start_processes({ first, second, first }, MORTAL_S)
    give_paths()
    each_kind(function(kind)
      begin(actors[1], kind, 1)
      await(actors[1], kind, "held")
      queue(actors[2], kind, 2)
      queue(actors[3], kind, 3)
    end)
    actors[2]:kill()
    each_kind(function(kind)
      leave(actors[1], kind)
      await(actors[3], kind, "held")
      leave(actors[3], kind)
      kinds.wait_for_nodes(kind.path, 0)
    end)
  end)
end)

describe_upgrade("A process that looks at the other version's locks", function()
  -- What both say of the same queue.
  local function assert_same_rows(probes, call, ...)
    local seen = {}
    for i, probe in ipairs(probes) do
      seen[i] = probe:ask("rows(" .. call .. ")", ...)
    end
    assert.equal(seen[1], seen[2])
    return seen[1]
  end

  -- `zklock ls` of each, but for how old a node is.
  local function assert_same_list(path)
    local seen = {}
    for i, version in ipairs(VERSIONS) do
      local said = command.run({ "ls", "--json", path },
        options_of(version))
      assert.equal(0, said.code, said.err)
      seen[i] = {}
      for line in said.out:gmatch "[^\n]+" do
        local row = json.decode(line)
        row.age = nil
        table.insert(seen[i], row)
      end
    end
    assert.same(seen[1], seen[2])
    return seen[1]
  end

  both("sees who holds and who waits, as the other does",
  function(first, second)
    local actors = start_processes { first, second }
    local probes = start_processes(VERSIONS)
    give_paths()
    each_kind(function(kind)
      begin(actors[1], kind, 1)
      await(actors[1], kind, "held")
      queue(actors[2], kind, 2)
      local path = kind.path .. kind.spot
      if kind.name == "semaphore" then kinds.wait_for_nodes(path, 3) end
      local rows = assert_same_rows(probes, "session:contenders '%s'", path)
      assert.matches("^%d rows: [^;]*data=" .. first .. " holds=true", rows)
      assert.equal(tostring(kind.rows), rows:match "^%d+")
      local list = assert_same_list(path)
      assert.equal(kind.rows, #list)
      assert.equal(first, list[1].data)
      assert.is_true(list[1].holds)
      local lock = lock_of(kind, 1)
      if lock:find "election" then
        assert_same_rows(probes, "{ %s:leader() }", lock)
      else
        rows = assert_same_rows(probes, "%s:holders()", lock)
        assert.matches("data=" .. first, rows)
        assert.is_nil(rows:find("data=" .. second, 1, true))
      end
      leave(actors[1], kind)
      await(actors[2], kind, "held")
      leave(actors[2], kind)
    end)
  end)

  both("asks for it, and takes it away", function(first, second)
    local actors = { start_process(first), start_process(second) }
    local operator = start_process(second)
    give_paths()
    each_kind(function(kind)
      local path = kind.path .. kind.spot
      begin(actors[1], kind, 1)
      await(actors[1], kind, "held")
      queue(actors[2], kind, 2)
      assert.equal("1", operator:ask("(session:revoke '%s')", path))
      actors[1]:await("true", "waits['%s'].revoked", kind.key)
      assert.equal("held", actors[1]:ask("outcome '%s'", kind.key))
      local node = operator:ask("session:contenders('%s')[1].node", path)
      assert.equal("true", operator:ask("session:evict('%s', '%s')", path,
        node))
      await(actors[1], kind, "lost: deleted")
      await(actors[2], kind, "held")
      assert.equal("nil", actors[1]:ask("(leave '%s')", kind.key))
      leave(actors[2], kind)
      kinds.wait_for_nodes(kind.path, 0)
    end)
  end, function(first, second) -- in the shell
    local holder = start_process(first)
    give_paths()
    each_kind(function(kind)
      local path = kind.path .. kind.spot
      local function operate(...)
        local said = command.run({ ... }, options_of(second))
        assert.equal(0, said.code, said.err)
        return said
      end
      begin(holder, kind, 1)
      await(holder, kind, "held")
      operate("revoke", path)
      holder:await("true", "waits['%s'].revoked", kind.key)
      local node = json.decode(operate("ls", "--json", path).out).node
      operate("evict", "--yes", path, node)
      await(holder, kind, "lost: deleted")
      holder:ask("(leave '%s')", kind.key)
      kinds.wait_for_nodes(kind.path, 0)
    end)
  end)
end)

describe_upgrade("A lock of two versions' processes", function()

  both("is shared by its rules", function(first, second)
    local actors = start_processes { first, second, second }
    for _, layout in ipairs { "curator", "kazoo" } do
      local path = support.path()
      local function side(name)
        return ("session:rwlock('%s', { layout = '%s' }).%s"):format(path,
          layout, name)
      end
      local function wait(actor, name, kind)
        local before = #kinds.nodes(path)
        actor:ask("begin('%s', %s, nil, { owner = 'me' })", kind .. layout,
          side(name))
        kinds.wait_for_nodes(path, before + 1)
      end
      local function outcome(actor, kind)
        return actor:ask("outcome '%s'", kind .. layout)
      end
      wait(actors[1], "write", "W")
      actors[1]:await("held", "outcome '%s'", "W" .. layout)
      wait(actors[2], "read", "R")
      wait(actors[3], "write", "W")
      actors[1]:ask("begin('%s', %s, nil, { owner = 'me' })", "R" .. layout,
        side "read")
      actors[1]:await("held", "outcome '%s'", "R" .. layout)
      assert.equal("waits", outcome(actors[2], "R"))
      actors[1]:ask("leave '%s'", "W" .. layout)
      actors[2]:await("held", "outcome '%s'", "R" .. layout)
      assert.equal("held", outcome(actors[1], "R"))
      assert.equal("waits", outcome(actors[3], "W"))
      actors[1]:ask("leave '%s'", "R" .. layout)
      assert.equal("waits", outcome(actors[3], "W"))
      actors[2]:ask("leave '%s'", "R" .. layout)
      actors[3]:await("held", "outcome '%s'", "W" .. layout)
      actors[3]:ask("leave '%s'", "W" .. layout)
    end
  end, function(first, second) -- two permits, and a third client waits
    local actors = start_processes { first, second, first, second }
    local path = support.path()
    for n, actor in ipairs(actors) do
      actor:ask("begin('a', session:semaphore('%s', 2))", path)
      if n <= 2 then actor:await("held", "outcome 'a'") end
    end
    kinds.wait_for_nodes(path, 5) -- a lease each, and the next one's lock
    for n = 3, 4 do assert.equal("waits", actors[n]:ask "outcome 'a'") end
    actors[2]:ask "leave 'a'"
    support.wait_until(function()
      return actors[3]:ask "outcome 'a'" ~= actors[4]:ask "outcome 'a'"
    end)
    actors[1]:ask "leave 'a'"
    for n = 3, 4 do
      actors[n]:await("held", "outcome 'a'")
      actors[n]:ask "leave 'a'"
    end
  end)
end)

describe_upgrade("An election's observer", function()
  both("is told each leader of either version", function(version)
    local observer = start_process(version)
    local leaders = start_processes { "old", "new" }
    for _, layout in ipairs { "curator", "latch", "kazoo" } do
      local path = support.path()
      local election = ("session:election('%s', { layout = '%s' })")
        :format(path, layout)
      observer:ask([[local list = {}
        told = list
        ticket = %s:leader(function(leader)
          list[#list + 1] = leader and leader.data .. leader.token or "none"
        end)
        return true]], election)
      local expected = { "none" }
      local function expect(what)
        expected[#expected + 1] = what
        observer:await(table.concat(expected, " "),
          "table.concat(told, ' ')")
      end
      observer:await("none", "table.concat(told, ' ')")
      for n, leader in ipairs(leaders) do
        local name = layout .. leader.version
        leader:ask("begin('%s', %s, nil, { data = '%s' })", layout, election,
          name)
        if n == 1 then leader:await("held", "outcome '%s'", layout) end
      end
      kinds.wait_for_nodes(path, 2)
      local function name_of(leader)
        return layout .. leader.version
          .. leader:ask("waits['%s'].guard:token()", layout)
      end
      expect(name_of(leaders[1]))
      leaders[1]:ask("leave '%s'", layout)
      leaders[2]:await("held", "outcome '%s'", layout)
      expect(name_of(leaders[2]))
      leaders[2]:ask("leave '%s'", layout)
      expect "none"
      observer:ask "ticket:cancel()"
    end
  end)
end)

describe_upgrade("A barrier", function()

  both("of one version is the other's, too", function(first, second)
    local actors = start_processes { first, second }
    local path = support.path()
    support.zk():make(path .. "/kept")
    local barrier = ("session:barrier('%s/barrier')"):format(path)
    assert.equal("true", actors[1]:ask("(%s:set())", barrier))
    assert.equal("true", actors[2]:ask("(%s:is_set())", barrier))
    assert.equal("false",
      actors[2]:ask("select(2, %s:set())", barrier))
    for _, actor in ipairs(actors) do
      actor:ask("begin('a', %s)", barrier)
      actor:await("1", "session:stats().watches")
    end
    for _, actor in ipairs(actors) do
      assert.equal("waits", actor:ask "outcome 'a'")
    end
    assert.equal("true", actors[1]:ask("select(2, %s:lift())", barrier))
    for _, actor in ipairs(actors) do
      actor:await("passed", "outcome 'a'")
    end
    -- and one lifts what the other has set
    assert.equal("true", actors[1]:ask("select(2, %s:set())", barrier))
    assert.equal("true", actors[2]:ask("select(2, %s:lift())", barrier))
    assert.equal("false", actors[1]:ask("(%s:is_set())", barrier))
  end, function(first, second) -- of two is entered and left together
    local actors = start_processes { first, second }
    local path = support.path()
    local barrier = ("session:double_barrier('%s', 2)"):format(path)
    for _ = 1, 2 do
      actors[1]:ask("begin('a', %s)", barrier)
      kinds.wait_for_nodes(path, 1)
      assert.equal("waits", actors[1]:ask "outcome 'a'")
      actors[2]:ask("begin('a', %s)", barrier)
      for _, actor in ipairs(actors) do
        actor:await("held", "outcome 'a'")
      end
      for n, actor in ipairs(actors) do
        actor:ask([[local wait = waits.a
          %s:leave_async({ guard = wait.guard }, function(ok, _, code)
            wait.outcome = ok and "left" or code
          end)
          return true]], barrier)
        if n == 1 then assert.equal("held", actor:ask "outcome 'a'") end
      end
      for _, actor in ipairs(actors) do
        actor:await("left", "outcome 'a'")
      end
      kinds.wait_for_nodes(path, 0)
    end
  end, function(first, second) -- and is left when the other is killed
    local actors = start_processes({ first, second }, MORTAL_S)
    local path = support.path()
    local barrier = ("session:double_barrier('%s', 2)"):format(path)
    for _, actor in ipairs(actors) do
      actor:ask("begin('a', %s)", barrier)
    end
    for _, actor in ipairs(actors) do actor:await("held", "outcome 'a'") end
    actors[2]:ask([[local wait = waits.a
      %s:leave_async({ guard = wait.guard }, function(ok, _, code)
        wait.outcome = ok and "left" or code
      end)
      return true]], barrier)
    actors[1]:kill()
    actors[2]:await("left", "outcome 'a'")
  end)
end)

describe_upgrade("once", function()
  -- Runs the job at `path`; says when it has begun, and what has come of it.
  local JOB = [[
    local path, session_timeout = ...
    local session = assert(zklock.connect(hosts,
      { session_timeout = tonumber(session_timeout) }))
    local function job()
      say "begun"
      return hear() == "well"
    end
    local ran, what = session:once(path, { per = 3600 }, job)
    say("ran", ran, ran == false and what < 3600)
    session:close()
  ]]

  local function start_job(version, path)
    return spawn_with(words_of(version), JOB, path, MORTAL_S)
  end

  local function run_in_shell(version, path)
    local said = command.run({ "run", "--once-per", "1h", path, "--", "echo",
      "ran" }, options_of(version))
    assert.equal(0, said.code, said.err)
    return said.out
  end


  both("is done by one version, and not by the other", function(first, second)
    local path = support.path() .. "/job"
    local runner = start_job(first, path)
    runner:expect "begun"
    local waiter = start_job(second, path)
    kinds.wait_for_nodes(path, 2)
    runner:say "well"
    runner:expect "ran\ttrue\tfalse"
    waiter:expect "ran\tfalse\ttrue"
    for _, version in ipairs(VERSIONS) do
      assert.equal("", run_in_shell(version, path))
    end
  end, function(first, second) -- in the shell
    local path = support.path() .. "/job"
    assert.equal("ran\n", run_in_shell(first, path))
    assert.equal("", run_in_shell(second, path))
    start_job(second, path):expect "ran\tfalse\ttrue"
    start_job(first, path):expect "ran\tfalse\ttrue"
  end, function(first, second) -- by the other if one fails, or is killed
    local path = support.path() .. "/job"
    local runner = start_job(first, path)
    runner:expect "begun"
    local waiter = start_job(second, path)
    kinds.wait_for_nodes(path, 2)
    runner:say "badly"
    waiter:expect "begun"
    local last = start_job(first, path)
    kinds.wait_for_nodes(path, 2)
    waiter:signal "KILL"
    last:expect "begun"
    last:say "well"
    last:expect "ran\ttrue\tfalse"
    assert.equal("", run_in_shell(second, path))
  end)
end)

describe_upgrade("zklock run", function()
  both("keeps the other version's out, and then lets it in",
  function(first, second)
    local mine = options_of(first)
    local its = options_of(second)
    local uses = { { {}, {} }, { { "-x" }, { "-x" } }, { { "-x" }, { "-s" } },
      { { "-s" }, { "-x" } }, { { "-p", "1" }, { "-p", "1" } } }
    for _, use in ipairs(uses) do
      local path = support.path()
      local function line(flags, ...)
        local words = { "run" }
        local function add(...)
          for _, word in ipairs { ... } do words[#words + 1] = word end
        end
        add((unpack or table.unpack)(flags))
        add(path, "--", ...)
        return words
      end
      local holder = command.start(
        line(use[1], "sh", "-c", "echo in; exec sleep 1000"), mine)
      holder:expect "in"
      local waiter = command.start(line(use[2], "echo", "in"), its)
      support.wait_until(function()
        return #kinds.nodes(path) > 1
      end, 10, "the waiter's node")
      assert.equal("", waiter:out())
      holder:signal "TERM"
      assert.equal(0, waiter:wait())
      assert.equal("in\n", waiter:out())
    end
  end)
end)

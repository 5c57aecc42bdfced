-- A rolling upgrade: processes of an earlier zklock and of this one share
-- each kind of lock, elections, barriers and `once`.
local command = require "support.command"
local each = require "support.each"
local kinds = require "integration.family.kinds"
local old = require "support.old"
local read = require "support.files".read
local spawn_with = require "support.child".spawn_with
local start_actor = require "support.actor".start
local support = require "support"

local MORTAL_S = 6 -- the session timeout of processes that are killed

-- What is shared.  `locks`, in turns: Lua of an actor's, which makes one at
-- `path`, and the witness's mode; each keeps its neighbours waiting.  `spot`:
-- where contenders() lists them, so many `rows` while one waits; waiters' nodes
-- are below `queue`; `unordered`: any waiter may be next.
local SHARED = {}

local function share(name, locks, options)
  local kind = { name, name = name, locks = locks, spot = "", rows = 2 }
  for key, value in pairs(options or {}) do kind[key] = value end
  kind.queue = kind.queue or kind.spot
  SHARED[#SHARED + 1] = kind
end

for name, options in pairs { mutex = "{}", parent = "{ wait = 'parent' }",
  poll = "{ wait = 'poll', poll_interval = 0.02 }",
  local_turns = "{ local_turns = 3 }", kazoo = "{ layout = 'kazoo' }",
  unfair = "{ fair = false }" } do
  share(name, { { ("session:mutex(path, %s)"):format(options), "W" } },
    name == "unfair" and { unordered = true, rows = 1 } or nil)
end
for _, layout in ipairs { "curator", "kazoo" } do
  local sides = ("session:rwlock(path, { layout = '%s' })"):format(layout)
  local writer, reader = { sides .. ".write", "W" }, { sides .. ".read", "R" }
  share(layout .. " write and read", { writer, reader })
  share(layout .. " read and write", { reader, writer })
  share(layout .. " write", { writer })
end
share("semaphore", { { "session:semaphore(path, 1)", "W" } },
  { queue = "/locks", rows = 3 })
share("multi", { { [[session:multi {
  session:mutex(path .. '/b'), session:mutex(path .. '/a') }]], "W" } },
  { spot = "/a" })
for _, layout in ipairs { "curator", "latch", "kazoo" } do
  share(layout .. " election", { { ("session:election(path, { layout = '%s' })")
    :format(layout), "W" } })
end

local VERSIONS = { "old", "new" }

-- What the earlier version calls what this one has renamed.
local OLD_NAMES = { local_turns = "handoffs" }

-- The n-th one's lock of this kind in this version: Lua, and the witness's
-- mode.
local function lock_of(kind, n, version)
  local lock = kind.locks[(n - 1) % #kind.locks + 1]
  local lua = lock[1]:gsub("%f[%w]path%f[%W]", ("'%s'"):format(kind.path))
  if version == "old" then lua = lua:gsub("[%w_]+", OLD_NAMES) end
  return lua, lock[2]
end

local function words_of(version)
  return version == "old" and old.words() or ""
end

-- (A source archive has no history.)
local function describe_upgrade(title, fn)
  describe(title .. " #stock", function()
    if not old.is_in_clone() then
      pending "needs a clone: an earlier zklock is built from its history"
      return
    end
    setup(old.install)
    fn()
  end)
end

-- One test for both: the earlier version comes first, and then this one.
local function both(title, ...)
  local rows = {}
  for n, fn in ipairs { ... } do
    rows[("part %d, first: old"):format(n)] = { fn = fn, "old", "new" }
    rows[("part %d, first: new"):format(n)] = { fn = fn, "new", "old" }
  end
  it(title, function()
    each(rows, function(row) row.fn(row[1], row[2]) end)
  end)
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
  local directory, actors = command.directory(), {}
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

-- The actor waits for the kind's lock, as its n-th contender.
local function begin(actor, kind, n, data)
  local lock, mode = lock_of(kind, n, actor.version)
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
    assert.equal("timeout", probe:ask("try(%s)",
      (lock_of(kind, n, probe.version))))
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

describe_upgrade("A process of the other version", function()
  -- What both say of the same queue.
  local function assert_same_rows(probes, call, subject)
    local seen = {}
    for i, probe in ipairs(probes) do
      seen[i] = probe:ask("rows(" .. call .. ")", subject(probe.version))
        :gsub("mode=lease", "mode=permit") -- as the earlier version calls it
    end
    assert.equal(seen[1], seen[2])
    return seen[1]
  end

  -- (Without a witness: who has lost its node may believe for a while.)
  both("sees who holds and who waits, asks for it, takes it away, and has it "
    .. "in its order", function(first, second)
    local actors = { start_process(first), start_process(second),
      start_process(first) }
    local probes = { start_process(second), start_process(first) }
    give_paths()
    each(SHARED, function(kind)
      begin(actors[1], kind, 1)
      await(actors[1], kind, "held")
      queue(actors[2], kind, 2)
      local path = kind.path .. kind.spot
      if kind.name == "semaphore" then kinds.wait_for_nodes(path, 3) end
      local rows = assert_same_rows(probes, "session:contenders '%s'",
        function() return path end)
      assert.matches("^%d rows: [^;]*data=" .. first .. " holds=true", rows)
      assert.equal(tostring(kind.rows), rows:match "^%d+")
      local function lock(version) return (lock_of(kind, 1, version)) end
      if kind.name:find "election" then
        assert_same_rows(probes, "{ %s:leader() }", lock)
      else
        rows = assert_same_rows(probes, "%s:holders()", lock)
        assert.matches("data=" .. first, rows)
        assert.is_nil(rows:find("data=" .. second, 1, true))
      end
      assert.equal("1", probes[1]:ask("(session:revoke '%s')", path))
      actors[1]:await("true", "waits['%s'].revoked", kind.key)
      assert.equal("held", actors[1]:ask("outcome '%s'", kind.key))
      local token = token_of(actors[1], kind)
      if not kind.unordered then queue(actors[3], kind, 3) end
      local node = probes[1]:ask("session:contenders('%s')[1].node", path)
      assert.equal("true", probes[1]:ask("session:evict('%s', '%s')", path,
        node))
      local reason = first == "old" and "deleted" or "node_deleted"
      await(actors[1], kind, "lost: " .. reason)
      await(actors[2], kind, "held")
      assert.equal("nil", actors[1]:ask("(leave '%s')", kind.key))
      if kind.unordered then queue(actors[3], kind, 3) end
      assert_taken(probes, kind, 3)
      await(actors[3], kind, "waits")
      assert.is_true(not token or token_of(actors[2], kind) > token)
      leave(actors[2], kind)
      await(actors[3], kind, "held")
      leave(actors[3], kind)
      kinds.wait_for_nodes(kind.path, 0)
    end, true)
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

  both("is done by one version, or by the other if that fails, or is killed",
  function(first, second)
    local path = support.path() .. "/job"
    local failing = start_job(first, path)
    failing:expect "begun"
    local killed = start_job(second, path)
    kinds.wait_for_nodes(path, 2)
    failing:say "badly"
    killed:expect "begun"
    local runner = start_job(first, path)
    kinds.wait_for_nodes(path, 2)
    killed:signal "KILL"
    runner:expect "begun"
    local waiter = start_job(second, path)
    kinds.wait_for_nodes(path, 2)
    runner:say "well"
    runner:expect "ran\ttrue\tfalse"
    waiter:expect "ran\tfalse\ttrue"
    start_job(first, path):expect "ran\tfalse\ttrue"
  end)
end)

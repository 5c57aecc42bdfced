-- What a session counts (session:metrics), and who hears of it at once
-- (session:on_trace).
local prometheus = require "support.prometheus"
local start_proxy = require "support.proxy".start
local seize = require "support.seizure".seize
local spawn = require "support.child".spawn
local support = require "support"

local has_posix, posix = pcall(require, "posix.unistd")

local function read(session, labels)
  local text = session:metrics(labels)
  local said = prometheus.ask_promtool(text)
  if said then assert.are.equal("0\n", said) end
  return prometheus.read(text)
end

-- Of one path and mode, all that is counted, in words.
local function counted(session, path, mode)
  local families = read(session)
  local labels = { path = path, mode = mode }
  local function sum(name, suffix)
    return prometheus.sum(families, "zklock_lock_" .. name, labels, suffix)
  end
  local parts = {}
  for _, part in ipairs {
    { "granted", sum "grants_total" },
    { "waits", sum("wait_seconds", "_count") },
    { "holds", sum("hold_seconds", "_count") },
    { "refused", sum "refusals_total" }, { "lost", sum "losses_total" },
    { "waiting", sum "waiting" }, { "holding", sum "holding" },
  } do
    parts[#parts + 1] = ("%s %s"):format(part[1], part[2] or "-")
  end
  return table.concat(parts, ", ")
end

local function value_of(session, name, labels)
  return prometheus.sum(read(session), name, labels)
end

-- What on_trace was told, each as one line.
local function listen(session, more)
  local told = {}
  session:on_trace(function(event)
    told[#told + 1] = ("%s %s %s"):format(event.what, event.mode,
      event.code or event.reason or "-")
    assert(#told == 1 or event.time >= told.time, "time goes back")
    told.time = event.time
    if more then more(event, told) end
  end)
  return told
end

local function words(told) return { (table.unpack or unpack)(told) } end

-- Each mode: a lock that is acquired and released.
local modes = {
  mutex = function(session, path) return session:mutex(path) end,
  read = function(session, path) return session:rwlock(path).read end,
  write = function(session, path) return session:rwlock(path).write end,
  lease = function(session, path) return session:semaphore(path, 1) end,
  unfair = function(session, path)
    return session:mutex(path, { fair = false })
  end,
}

-- What keeps such a lock's waiters waiting.
local function rival_of(mode, session, path)
  if mode == "read" then return session:rwlock(path).write end
  return modes[mode](session, path)
end

for mode, make in pairs(modes) do
  describe("metrics of a lock whose mode is " .. mode, function()
    before_each(support.start)
    after_each(support.finish)

    it("count a wait, a grant, a hold and its release", function()
      local session, path = support.connect(), support.path()
      local lock = make(session, path)
      local told = listen(session)
      local guard = assert(lock:acquire(20))
      assert.are.equal("granted 1, waits 1, holds 0, refused 0, lost 0, "
        .. "waiting 0, holding 1", counted(session, path, mode))
      guard:release { wait = true }
      assert.are.equal("granted 1, waits 1, holds 1, refused 0, lost 0, "
        .. "waiting 0, holding 0", counted(session, path, mode))
      assert(lock:with_lock(function() end, 20))
      assert.are.equal("granted 2, waits 2, holds 2, refused 0, lost 0, "
        .. "waiting 0, holding 0", counted(session, path, mode))
      assert.are.same({ "wait " .. mode .. " -", "grant " .. mode .. " -",
        "release " .. mode .. " -", "wait " .. mode .. " -",
        "grant " .. mode .. " -", "release " .. mode .. " -" }, words(told))
    end)

    it("count who is refused, by the code", function()
      local session, path = support.connect(), support.path()
      local lock, told = make(session, path), listen(session)
      local other = support.connect()
      local guard = assert(rival_of(mode, other, path):acquire(20))
      assert.are.equal("busy", (select(3, lock:try_acquire())))
      assert.are.equal("timeout", (select(3, lock:acquire(0.05))))
      lock:acquire_async(function() end)
      support.wait_until(function()
        return value_of(session, "zklock_lock_waiting", { path = path }) == 1
      end)
      lock:cancel()
      support.step_until(session, function()
        return value_of(session, "zklock_lock_refusals_total",
          { code = "cancelled", path = path, mode = mode }) == 1
      end)
      for _, code in ipairs { "busy", "timeout" } do
        assert.are.equal(1, value_of(session, "zklock_lock_refusals_total",
          { code = code, path = path, mode = mode }))
      end
      assert.are.same({ "wait " .. mode .. " -", "refuse " .. mode .. " busy",
        "wait " .. mode .. " -", "refuse " .. mode .. " timeout",
        "wait " .. mode .. " -", "refuse " .. mode .. " cancelled" },
        words(told))
      guard:release()
    end)

    it("count a loss once, whoever tells it", function()
      local session, path = support.connect(), support.path()
      local lock, told = make(session, path), listen(session)
      local guard = assert(lock:acquire(20))
      guard:on_revoke(function() end) -- it watches its node from now on
      support.zk():delete(guard.node)
      support.wait_until(function() return not guard:is_held() end)
      assert.are.equal("lost", (select(3, guard:release())))
      guard:release()
      session:step()
      assert.are.equal("granted 1, waits 1, holds 1, refused 0, lost 1, "
        .. "waiting 0, holding 0", counted(session, path, mode))
      assert.are.equal(1, value_of(session, "zklock_lock_losses_total",
        { path = path, mode = mode, reason = "deleted" }))
      assert.are.same({ "wait " .. mode .. " -", "grant " .. mode .. " -",
        "loss " .. mode .. " deleted" }, words(told))
    end)

    it("count a hold that session:close() ends", function()
      local session, path = support.connect(), support.path()
      local told = listen(session)
      local guard = assert(make(session, path):acquire(20))
      session:close()
      assert.are.equal("granted 1, waits 1, holds 1, refused 0, lost 0, "
        .. "waiting 0, holding 0", counted(session, path, mode))
      guard:release()
      session:close()
      assert.are.same({ "wait " .. mode .. " -", "grant " .. mode .. " -",
        "release " .. mode .. " -" }, words(told))
      assert.are.equal(0, value_of(session, "zklock_session_up"))
      assert.are.equal(1, value_of(session, "zklock_session_state",
        { state = "closed" }))
    end)
  end)
end

describe("metrics", function()
  before_each(support.start)
  after_each(support.finish)

  it("count members of a double barrier", function()
    local session, path = support.connect(), support.path()
    local told = listen(session)
    local gate = session:double_barrier(path, 2)
    local guards = {}
    for i = 1, 2 do
      gate:enter_async({ owner = {} }, function(guard) guards[i] = guard end)
    end
    support.step_until(session, function() return guards[1] and guards[2] end)
    assert.are.equal("granted 2, waits 2, holds 0, refused 0, lost 0, "
      .. "waiting 0, holding 2", counted(session, path, "member"))
    guards[1]:release()
    guards[2]:release()
    assert.are.equal("granted 2, waits 2, holds 2, refused 0, lost 0, "
      .. "waiting 0, holding 0", counted(session, path, "member"))
    assert.are.equal(6, #told)
    assert.are.equal("timeout", (select(3, gate:enter(0.05))))
    assert.are.equal(1, value_of(session, "zklock_lock_refusals_total",
      { mode = "member", code = "timeout" }))
  end)

  it("count what is entered again as the one hold that it is", function()
    local session, path = support.connect(), support.path()
    local lock, told = session:mutex(path), listen(session)
    local outer = assert(lock:acquire(20))
    local inner = assert(lock:acquire(20))
    local innermost = assert(lock:acquire(20))
    assert.are.equal("granted 1, waits 1, holds 0, refused 0, lost 0, "
      .. "waiting 0, holding 1", counted(session, path, "mutex"))
    -- The first goes first, and is collected: the hold is there all the same.
    outer:release()
    outer = nil -- luacheck: ignore 311
    support.collect()
    assert.are.equal(1, value_of(session, "zklock_lock_holding"))
    innermost:release()
    innermost = nil -- luacheck: ignore 311
    support.collect()
    assert.are.equal(1, value_of(session, "zklock_lock_holding"))
    support.zk():delete(inner.node)
    inner:on_revoke(function() end)
    support.step_until(session, function() return #told == 3 end)
    assert.are.equal("granted 1, waits 1, holds 1, refused 0, lost 1, "
      .. "waiting 0, holding 0", counted(session, path, "mutex"))
    inner:release()
    assert.are.same({ "wait mutex -", "grant mutex -", "loss mutex deleted" },
      words(told))
  end)

  it("count a reader that a writer becomes as a hold of its own", function()
    local session, path = support.connect(), support.path()
    local lock = session:rwlock(path)
    local writer = assert(lock.write:acquire(20))
    local reader = assert(lock.read:acquire(20))
    writer:release()
    assert.are.equal("granted 1, waits 1, holds 1, refused 0, lost 0, "
      .. "waiting 0, holding 0", counted(session, path, "write"))
    assert.are.equal("granted 1, waits 1, holds 0, refused 0, lost 0, "
      .. "waiting 0, holding 1", counted(session, path, "read"))
    reader:release()
  end)

  it("count local turns as grants of their own", function()
    local session, path = support.connect(), support.path()
    local lock = session:mutex(path, { handoffs = 100 })
    local told, n = listen(session), 0
    for _ = 1, 20 do
      lock:acquire_async({ owner = {} }, function(guard)
        n = n + 1
        guard:release()
      end)
    end
    support.step_until(session, function() return n == 20 end)
    assert.is_true(session:stats().local_turns > 0)
    assert.are.equal("granted 20, waits 20, holds 20, refused 0, lost 0, "
      .. "waiting 0, holding 0", counted(session, path, "mutex"))
    local counts = {}
    for _, line in ipairs(told) do
      counts[line] = (counts[line] or 0) + 1
    end
    assert.are.same({ ["wait mutex -"] = 20, ["grant mutex -"] = 20,
      ["release mutex -"] = 20 }, counts)
  end)

  it("count the parts of a multi, an election and once", function()
    local session, path = support.connect(), support.path()
    local a, b = session:mutex(path .. "-a"), session:rwlock(path .. "-b").read
    assert(session:multi { a, b }:acquire(20)):release()
    for part, mode in pairs { ["-a"] = "mutex", ["-b"] = "read" } do
      assert.are.equal("granted 1, waits 1, holds 1, refused 0, lost 0, "
        .. "waiting 0, holding 0", counted(session, path .. part, mode))
    end
    local election = session:election(path .. "-c")
    assert(election:campaign(20)):release()
    assert.are.equal("granted 1, waits 1, holds 1, refused 0, lost 0, "
      .. "waiting 0, holding 0", counted(session, path .. "-c", "mutex"))
    assert(session:once(path .. "-d", { per = 100 }, function() end))
    assert.are.equal("granted 1, waits 1, holds 1, refused 0, lost 0, "
      .. "waiting 0, holding 0", counted(session, path .. "-d", "mutex"))
    assert(session:with_lock(path .. "-e", function() end, 20))
    assert.are.equal("granted 1, waits 1, holds 1, refused 0, lost 0, "
      .. "waiting 0, holding 0", counted(session, path .. "-e", "mutex"))
  end)

  it("give reasons of losses", function()
    local path = support.path()
    local session = support.connect { session_timeout = 30 }
    local short = assert(session:mutex(path .. "-a"):acquire {
      timeout = 20, max_hold = 0.05 })
    support.wait_until(function() return not short:is_held() end)
    assert.are.equal("lost", (select(3, short:release())))
    local guard = assert(session:mutex(path .. "-b"):acquire(20))
    seize(support.hosts, session:id())
    support.step_until(session, function()
      return guard:state() == "lost"
    end, 20)
    for part, reason in pairs { ["-a"] = "max_hold", ["-b"] = "closed" } do
      support.step_until(session, function()
        return value_of(session, "zklock_lock_losses_total",
          { path = path .. part, reason = reason }) == 1
      end, 5, "a loss by " .. reason)
    end
    support.wait_until(function()
      session:step()
      return value_of(session, "zklock_session_up") == 1
    end, 20)
    assert.are.equal(1, value_of(session, "zklock_session_expiries_total"))
  end)

  it("say of a reconnect and of a heartbeat when they are counted", function()
    local proxy = start_proxy()
    local session = support.connect { hosts = proxy.hosts,
      session_timeout = 30 }
    local guard = assert(session:mutex(support.path()):acquire(20))
    local before = value_of(session, "zklock_session_rounds_total")
    proxy:drop "replies"
    support.wait_until(function()
      return value_of(session, "zklock_session_rounds_total") > before
    end, 20, "a heartbeat")
    assert.matches("^Heartbeats sent",
      read(session).zklock_session_rounds_total.help)
    proxy:cut()
    proxy:heal()
    support.step_until(session, function()
      return value_of(session, "zklock_session_reconnects_total") == 1
    end, 20, "a connection")
    assert.matches("continued the same ZooKeeper session",
      read(session).zklock_session_reconnects_total.help)
    guard:release { wait = true }
  end)

  it("tell the session's timeout, lease, and how it is", function()
    local session = support.connect { session_timeout = 12 }
    local families = read(session)
    local function value(name) return prometheus.sum(families, name) end
    assert.are.equal(1, value "zklock_session_up")
    assert.are.equal(12, value "zklock_session_timeout_seconds")
    assert.are.equal(0, value "zklock_session_lease_seconds")
    assert.are.equal(0, value "zklock_session_reconnects_total")
    assert.are.equal(0, value "zklock_session_pending_releases")
    assert.are.equal(5, #families.zklock_session_state.samples)
    assert.are.equal(1, value "zklock_session_state")
    local guard = assert(session:mutex(support.path()):acquire(20))
    local lease = value_of(session, "zklock_session_lease_seconds")
    assert.is_true(lease > 0 and lease < 12, lease)
    assert.is_true(value_of(session, "zklock_session_requests_total") > 0)
    guard:release()
  end)

  it("put each wait and hold into its bucket", function()
    local session, path = support.connect(), support.path()
    local guard = assert(session:mutex(path):acquire(20))
    support.sleep(0.06)
    guard:release()
    local families = read(session)
    local buckets, before = {}, 0
    for _, sample in ipairs(prometheus.find(families,
      "zklock_lock_hold_seconds", {}, "_bucket")) do
      if sample.value > before then buckets[#buckets + 1] = sample.labels.le end
      before = sample.value
    end
    assert.are.equal(1, #buckets)
    assert.is_true(tonumber(buckets[1]) >= 0.1)
    local sum = prometheus.sum(families, "zklock_lock_hold_seconds", {}, "_sum")
    assert.is_true(sum >= 0.06 and sum <= tonumber(buckets[1]))
    assert.are.equal(17, #prometheus.find(families, "zklock_lock_hold_seconds",
      {}, "_bucket"))
  end)

  it("have a hundred paths of their own, and no more however many there are",
  function()
    local session, path = support.connect(), support.path()
    for i = 1, 300 do
      assert(session:mutex(path .. "/" .. i):acquire(20)):release()
    end
    local families = read(session)
    local grants = families.zklock_lock_grants_total.samples
    assert.are.equal(101, #grants)
    assert.are.equal(300, prometheus.sum(families, "zklock_lock_grants_total"))
    assert.are.equal(200, prometheus.sum(families, "zklock_lock_grants_total",
      { path = "others", mode = "mutex" }))
    assert.are.equal(1, prometheus.sum(families, "zklock_lock_grants_total",
      { path = path .. "/100" }))
    assert.are.equal(0, #prometheus.find(families, "zklock_lock_grants_total",
      { path = path .. "/101" }))
    -- Of another mode there is one series more.
    assert(session:rwlock(path .. "/rw").read:acquire(20)):release()
    assert.are.equal(102, #read(session).zklock_lock_grants_total.samples)
    -- Also where all wait, and none has been granted.
    local other, guards = support.connect(), {}
    for i = 1, 150 do
      guards[i] = assert(other:mutex(("%s/w/%d"):format(path, i)):acquire(20))
    end
    local waiting = support.connect()
    for i = 1, 150 do
      waiting:mutex(("%s/w/%d"):format(path, i)):acquire_async(function() end)
    end
    families = read(waiting)
    assert.are.equal(101, #families.zklock_lock_waiting.samples)
    assert.are.equal(150, prometheus.sum(families, "zklock_lock_waiting"))
    assert.are.equal(50, prometheus.sum(families, "zklock_lock_waiting",
      { path = "others" }))
    waiting:close()
    for _, guard in ipairs(guards) do guard:release() end
  end)

  it("take labels for each sample, and check them", function()
    local session = support.connect()
    assert(session:mutex(support.path()):acquire(20)):release()
    local families = read(session,
      { worker = "3", host = "a\"b\\c\nd\226\128\174" })
    for _, family in pairs(families) do
      for _, sample in ipairs(family.samples) do
        assert.are.equal("3", sample.labels.worker)
        assert.are.equal("a\"b\\c\\x0ad\\xe2\\x80\\xae", sample.labels.host)
      end
    end
    for labels, expected in pairs {
      [5] = "argument 1 of metrics must be a table, got a number",
      [{ path = "x" }] = "a label of argument 1 of metrics must be a name of "
        .. "letters, digits and _, and none of ours (path, mode, state, code, "
        .. "reason, le), got path",
      [{ ["a-b"] = "x" }] = "a label of argument 1 of metrics must be a name "
        .. "of letters, digits and _, and none of ours (path, mode, state, "
        .. "code, reason, le), got a-b",
      [{ __name__ = "x" }] = "a label of argument 1 of metrics must be a name "
        .. "of letters, digits and _, and none of ours (path, mode, state, "
        .. "code, reason, le), got __name__",
      [{ worker = 3 }] = "label 'worker' of argument 1 of metrics must be a "
        .. "string, got a number",
    } do
      assert.are.equal(expected, support.misuse(
        function() session:metrics(labels) end))
    end
  end)

  it("show a stranger's path as text", function()
    local session = support.connect()
    local path = support.path() .. "/a\"b\\c{x=\"1\"} 7"
    assert(session:mutex(path):acquire(20)):release()
    assert.are.equal(1, value_of(session, "zklock_lock_grants_total",
      { path = path }))
  end)

  it("belong to the process that has the session", function()
    if not (has_posix and posix.fork) then
      pending "there is no posix.fork for this Lua"
      return
    end
    local child = spawn [[
      local unistd = require "posix.unistd"
      local wait = require "posix.sys.wait"
      local session = assert(zklock.connect(hosts))
      local pid = unistd.fork()
      if pid == 0 then
        local ok, why = pcall(session.metrics, session)
        local traces, what = pcall(session.on_trace, session, print)
        say(ok, why, traces, what)
        unistd._exit(0)
      end
      wait.wait(pid)
      say(#session:metrics() > 0)
      session:close()
    ]]
    local line = child:hear()
    assert.truthy(line:find("^false\t.*this session belongs to process %d+"
      .. "\tfalse\t.*this session belongs to process %d+$"), line)
    child:expect "true"
  end)

  it("grow with nothing but paths", function()
    local session, path = support.connect(), support.path()
    local lock = session:mutex(path, { handoffs = 1000 })
    session:on_trace(function() end)
    local function run(n)
      for _ = 1, n do assert(lock:acquire(20)):release() end
      support.collect()
      return collectgarbage "count"
    end
    local count = support.in_full and 10000 or 1000
    -- (Lua's table of strings doubles as it pleases: once, and in the first.)
    run(count)
    local before = run(200)
    assert.is_true(run(count) - before < 40, collectgarbage "count" - before)
    assert.are.equal(200 + 2 * count,
      value_of(session, "zklock_lock_grants_total"))
  end)
end)

describe("on_trace", function()
  before_each(support.start)
  after_each(support.finish)

  it("tells the fields of each event", function()
    local session, path = support.connect(), support.path()
    local events = {}
    session:on_trace(function(event) events[#events + 1] = event end)
    local begun = support.now()
    local guard = assert(session:mutex(path):acquire(20))
    local token = guard:token()
    support.sleep(0.02)
    guard:release()
    local wait, grant, release = events[1], events[2], events[3]
    assert.are.same({ what = "wait", path = path, mode = "mutex",
      id = grant.id, time = wait.time, timeout = 20 }, wait)
    assert.are.same({ what = "grant", path = path, mode = "mutex",
      id = grant.id, time = grant.time, waited = grant.waited, token = token },
      grant)
    assert.are.same({ what = "release", path = path, mode = "mutex",
      id = grant.id, time = release.time, held = release.held, token = token },
      release)
    assert.is_true(wait.time >= begun and grant.time >= wait.time + 0
      and release.time >= grant.time + 0.02)
    assert.is_true(grant.waited <= support.now() - begun)
    assert.is_true(release.held >= 0.02)
    support.hold(path)
    session:mutex(path):acquire(0.03)
    assert.are.same({ what = "refuse", path = path, mode = "mutex",
      id = events[5].id, time = events[5].time, waited = events[5].waited,
      code = "timeout" }, events[5])
    assert.are_not.equal(grant.id, events[5].id)
    assert.is_true(events[5].waited >= 0.03)
  end)

  it("is ended by nil, and takes functions only", function()
    local session, path = support.connect(), support.path()
    local told = listen(session)
    assert(session:mutex(path):acquire(20)):release()
    assert.are.equal(session, session:on_trace(nil))
    assert(session:mutex(path):acquire(20)):release()
    assert.are.equal(3, #told)
    assert.are.equal("argument 1 of on_trace must be a function, got a number",
      support.misuse(function() session:on_trace(5) end))
    session:close()
    assert.are.equal("the session is closed",
      support.misuse(function() session:on_trace(print) end))
  end)

  it("may raise: it goes to the log, or comes out of step()", function()
    local lines = {}
    local session = support.connect { log = function(level, text)
      lines[#lines + 1] = level .. " " .. text
    end }
    session:on_trace(function(event) error("no " .. event.what) end)
    assert(session:mutex(support.path()):acquire(20)):release()
    assert.are.equal(3, #lines)
    for i, what in ipairs { "wait", "grant", "release" } do
      assert.truthy(lines[i]:find("^error an error in a callback: .*no "
        .. what), lines[i])
    end
    local silent = support.connect()
    silent:on_trace(function(event) error("no " .. event.what, 0) end)
    assert(silent:mutex(support.path()):acquire(20)):release()
    for _, what in ipairs { "wait", "grant", "release" } do
      local ok, problem = pcall(silent.step, silent)
      assert.is_false(ok)
      assert.truthy(tostring(problem):find("^no " .. what), tostring(problem))
    end
    silent:step()
  end)

  it("may release, and acquire another lock", function()
    local session, path = support.connect(), support.path()
    local lock, busy = session:mutex(path), false
    local told = listen(session, function(event)
      if busy then return end
      busy = true
      local guard = assert(session:mutex(path .. "-" .. event.what):acquire(20))
      guard:release { wait = true }
      if event.what == "grant" then lock:release() end
      busy = false
    end)
    local guard = assert(lock:acquire(20))
    assert.are.equal("released", guard:state())
    guard:release()
    assert.are.equal("granted 1, waits 1, holds 1, refused 0, lost 0, "
      .. "waiting 0, holding 0", counted(session, path, "mutex"))
    assert.are.equal("wait mutex -", told[1])
  end)

  for _, what in ipairs { "wait", "grant", "release", "refuse", "loss" } do
    it("may close the session at its event " .. what, function()
      local session, path = support.connect(), support.path()
      listen(session, function(event)
        if event.what == what then session:close() end
      end)
      local lock = session:mutex(path)
      local guard, _, code = lock:acquire(20)
      if what == "wait" then
        assert.are.equal("closed", code)
      elseif what == "grant" then
        assert.are.equal("released", guard:state())
      elseif what == "release" then
        assert(guard:release() == true)
      elseif what == "refuse" then
        support.hold(path .. "-taken")
        local _, _, why = session:mutex(path .. "-taken"):try_acquire()
        assert.are.equal("busy", why)
      else
        guard:on_revoke(function() end)
        support.zk():delete(guard.node)
        support.wait_until(function() return not guard:is_held() end)
        assert.are.equal("lost", (select(3, guard:release())))
      end
      assert.are.equal("closed", session:state())
      if guard then guard:release() end
    end)
  end

  it("may close the session where nobody waits for the answer", function()
    local session, outcome = support.connect(), nil
    listen(session, function(event)
      if event.what == "wait" then session:close() end
    end)
    session:mutex(support.path()):acquire_async(function(_, _, code)
      outcome = code
    end)
    assert.are.equal("closed", outcome)
  end)

  it("may close the session while a release is to be confirmed", function()
    local session = support.connect()
    local guard = assert(session:mutex(support.path()):acquire(20))
    listen(session, function() session:close() end)
    local ok, _, code = guard:release { wait = true }
    assert.is_true(ok or code == "closed")
  end)

  it("may cancel the wait that begins", function()
    local session, path = support.connect(), support.path()
    support.hold(path)
    local lock = session:mutex(path)
    listen(session, function(event)
      if event.what == "wait" then lock:cancel() end
    end)
    assert.are.equal("cancelled", (select(3, lock:acquire(20))))
  end)

  it("may turn the session until the lock is granted", function()
    local session, path = support.connect(), support.path()
    listen(session, function(event)
      if event.what ~= "wait" then return end
      support.wait_until(function()
        session:step()
        return session:stats().grants == 1
      end)
      for _ = 1, 20 do
        session:step()
        support.sleep(0.005)
      end
    end)
    assert.are.equal("held", assert(session:mutex(path):acquire(20)):state())
  end)
end)

-- What a session counts (session:metrics): from zero on, so that who looks at
-- how a counter grows sees the first event, too.
local errors = require "zklock.errors"
local kinds = require "integration.family.kinds"
local prometheus = require "support.prometheus"
local read_file = require "support.files".read
local seize = require "support.seizure".seize
local sessions = require "integration.sessions"
local support = require "support"
local connect, misuse = support.connect, support.misuse

local root = os.getenv "SPEC_ROOT" or "."

local session, path

before_each(function() session, path = connect(), support.path() end)

-- (The reader is strict: about all that the sessions tell at last, too.)
after_each(function()
  local ok, problem = pcall(prometheus.read, session:metrics())
  support.finish()
  assert(ok, problem)
end)

local function read(labels) return prometheus.read(session:metrics(labels)) end

local function value_of(name, labels, suffix)
  return prometheus.sum(read(), "zklock_" .. name, labels, suffix)
end

-- `{ word = value }` of a family's samples with these labels.
local function by(name, label, labels, suffix)
  local found = {}
  for _, sample in ipairs(prometheus.find(read(), name, labels, suffix)) do
    found[sample.labels[label]] = sample.value
  end
  return found
end

-- Of one path and mode: how many were granted (which each have waited), holds
-- have ended, were refused and lost, and wait and hold now.
local function counts(at, mode, ...)
  local families, found = read(), {}
  for i, name in ipairs { "wait_seconds", "hold_seconds", "refusals_total",
      "losses_total", "waiting", "holding" } do
    found[i] = prometheus.sum(families, "zklock_lock_" .. name,
      { path = at, mode = mode }, name:find "seconds" and "_count") or 0
  end
  assert.same({ ... }, found)
end

-- What on_trace was told, each as one line.
local function listen()
  local told = {}
  session:on_trace(function(event)
    told[#told + 1] = ("%s %s %s"):format(event.what, event.mode,
      event.code or event.reason or "-")
  end)
  return told
end

-- Each mode, and the kind of lock whose contenders have it.
for mode, name in pairs { mutex = "mutex", read = "read", write = "write",
    permit = "semaphore", unfair = "unfair" } do
  local make, rival = kinds.of[name].make, kinds.of[name].rival

  describe("Metrics of a lock whose mode is " .. mode, function()
    -- The words with the mode in them.
    local function words(...)
      local list = {}
      for i, text in ipairs { ... } do
        list[i] = text:gsub(" ", " " .. mode .. " ")
      end
      return list
    end

    it("count a wait, a grant, a hold and its end", function()
      local lock, told = make(session, path), listen()
      local guard = assert(lock:acquire(20))
      counts(path, mode, 1, 0, 0, 0, 0, 1)
      guard:release { wait = true }
      counts(path, mode, 1, 1, 0, 0, 0, 0)
      assert(lock:acquire(20))
      session:close()
      counts(path, mode, 2, 2, 0, 0, 0, 0)
      session:close()
      assert.same(words("wait -", "grant -", "release -", "wait -", "grant -",
        "release -"), told)
      assert.equal(0, value_of "session_up")
      assert.equal(1, value_of("session_state", { state = "closed" }))
    end)

    it("count who is refused, by the code", function()
      local lock, told = make(session, path), listen()
      local guard = assert(rival(connect(), path):acquire(20))
      assert.equal("busy", (select(3, lock:try_acquire())))
      assert.equal("timeout", (select(3, lock:acquire(0.05))))
      lock:acquire_async(function() end)
      counts(path, mode, 0, 0, 2, 0, 1, 0)
      lock:cancel()
      support.step_until(session, function() return #told == 6 end)
      assert.same({ busy = 1, timeout = 1, cancelled = 1 },
        by("zklock_lock_refusals_total", "code",
          { path = path, mode = mode }))
      assert.same(words("wait -", "refuse busy", "wait -", "refuse timeout",
        "wait -", "refuse cancelled"), told)
      guard:release()
    end)

    it("count a loss once, whoever tells it", function()
      local told = listen()
      local guard = assert(make(session, path):acquire(20))
      support.lose(guard)
      assert.equal("lost", (select(3, guard:release())))
      guard:release()
      session:step()
      counts(path, mode, 1, 1, 0, 1, 0, 0)
      assert.equal(1, value_of("lock_losses_total",
        { path = path, mode = mode, reason = "node_deleted" }))
      assert.same(words("wait -", "grant -", "loss node_deleted"), told)
    end)
  end)
end

describe("Metrics", function()
  local function zeros(words)
    local all = {}
    for word in pairs(words) do all[word] = 0 end
    return all
  end

  it("begin at zero, for each code and reason of a session", function()
    -- The codes for which reasons.lua has a sentence: what a wait can end with.
    local codes = { deadlock = true }
    for code in read_file(root .. "/lua/zklock/reasons.lua")
        :gmatch "function of_wait%.(%w+)" do
      codes[code] = true
    end
    assert.same(zeros(codes), by("zklock_session_refusals_total", "code"))
    assert.same(zeros(errors.losses),
      by("zklock_session_losses_total", "reason"))
    for _, name in ipairs { "grants", "reconnects", "expirations" } do
      assert.equal(0, value_of("session_" .. name .. "_total"))
    end
  end)

  it("begin at zero of a path when somebody waits there", function()
    support.hold(path)
    session:mutex(path):acquire_async(function() end)
    local of = { path = path, mode = "mutex" }
    counts(path, "mutex", 0, 0, 0, 0, 1, 0)
    assert.same(zeros(errors.losses),
      by("zklock_lock_losses_total", "reason", of))
    assert.same({ timeout = 0 }, by("zklock_lock_refusals_total", "code", of))
  end)

  it("count the guards of one hold once, collected or lost", function()
    local told, mutex = listen(), session:mutex(path)
    local outer, inner = assert(mutex:acquire(20)), assert(mutex:acquire(20))
    assert(outer and mutex:acquire(20)):release()
    outer = nil -- luacheck: ignore 311
    support.collect()
    counts(path, "mutex", 1, 0, 0, 0, 0, 1)
    support.lose(inner)
    session:step()
    counts(path, "mutex", 1, 1, 0, 1, 0, 0)
    inner:release()
    assert.same({ "wait mutex -", "grant mutex -", "loss mutex node_deleted" },
      told)
  end)

  -- (What on_trace hears of them: trace_spec.lua.)
  it("count local turns as grants of their own", function()
    local lock = session:mutex(path, { local_turns = 100 })
    local n = 0
    for _ = 1, 20 do
      lock:acquire_async({ owner = {} }, function(guard)
        n = n + 1
        guard:release()
      end)
    end
    support.step_until(session, function() return n == 20 end)
    assert.equal(19, session:stats().local_turns)
    counts(path, "mutex", 20, 20, 0, 0, 0, 0)
  end)

  it("count members of a double barrier", function()
    local gate, waits = session:double_barrier(path, 2), {}
    for i = 1, 2 do
      gate:enter_async({ owner = {} }, function(guard) waits[i] = guard end)
    end
    support.step_until(session, function() return waits[1] and waits[2] end)
    counts(path, "member", 2, 0, 0, 0, 0, 2)
    for i = 1, 2 do waits[i]:release() end
    assert.equal("timeout", (select(3, gate:enter(0.05))))
    counts(path, "member", 2, 2, 1, 0, 0, 0)
  end)

  it("count the parts of a multi, an election, once and with_lock", function()
    local function at(part) return path .. "-" .. part end
    assert(session:multi { session:mutex(at "a"), session:rwlock(at "b").read }
      :acquire(20)):release()
    assert(session:election(at "c"):campaign(20)):release()
    assert(session:once(at "d", { per = 100 }, function() end))
    assert(session:with_lock(at "e", 20, function() end))
    for part in ("abcde"):gmatch "." do
      counts(at(part), part == "b" and "read" or "mutex", 1, 1, 0, 0, 0, 0)
    end
  end)

  it("of a session are the sums of those of its paths, by code and reason",
    function()
      session = connect { session_timeout = 30 }
      support.hold(path .. "-taken")
      for i = 1, 3 do
        assert(session:mutex(path .. i):acquire(20)):release()
        session:mutex(path .. "-taken"):try_acquire()
      end
      session:mutex(path .. "-taken"):acquire(0.02)
      local short = session:mutex(path .. "-a"):acquire { max_hold = 0.05 }
      local ended = assert(session:mutex(path .. "-b"):acquire(20))
      support.advance(0.1)
      assert.is_false(short:is_held())
      seize(support.hosts, session:id())
      support.until_state(session, "connected", { expirations = 1 })
      assert.equal("lost", ended:state())
      assert.equal(5, value_of "session_grants_total")
      for name, expected in pairs { refusals = { busy = 3, timeout = 1 },
          losses = { max_hold_reached = 1, session_closed = 1 } } do
        local label = name == "losses" and "reason" or "code"
        for word, n in pairs(by(("zklock_session_%s_total"):format(name),
            label)) do
          assert.equal(expected[word] or 0, n, word)
          assert.equal(n, value_of(("lock_%s_total"):format(name),
            { [label] = word }) or 0, word)
        end
      end
      assert.equal(1, value_of("lock_losses_total", { path = path .. "-a",
        reason = "max_hold_reached" }))
      assert.equal(1, value_of "session_up")
      assert.equal(1, value_of "session_expirations_total")
    end)

  it("tell the session's timeout, lease, and how it is", function()
    session = connect { session_timeout = 12 }
    for name, value in pairs { up = 1, timeout_seconds = 12, lease_seconds = 0,
        reconnects_total = 0, pending_releases = 0, state = 1 } do
      assert.equal(value, value_of("session_" .. name), name)
    end
    assert.equal(5, #read().zklock_session_state.samples)
    local guard = assert(session:mutex(path):acquire(20))
    assert.near(guard:lease(), value_of "session_lease_seconds", 0.01)
    assert.equal(session:stats().requests, value_of "session_requests_total")
    guard:release()
  end)

  it("count heartbeats that servers have committed, none of a stopped one",
    function()
      local proxy
      session, proxy = sessions.behind_proxy { session_timeout = 4 }
      local function heartbeats() return value_of "session_heartbeats_total" end
      assert(session:mutex(path):acquire(20))
      support.wait_until(function() return heartbeats() >= 3 end)
      proxy:freeze()
      support.advance(0.1) -- replies that were under way
      local before = heartbeats()
      assert.equal(before, session:stats().heartbeats)
      local sent = session:stats().requests
      for _ = 1, 12 do
        support.advance(1)
        session:step()
        assert.equal(before, heartbeats())
      end
      assert.is_true(session:stats().requests > sent)
      proxy:heal()
      support.until_state(session, "connected")
      support.wait_until(function() return heartbeats() > before end)
    end)

  it("put each wait and hold into its bucket", function()
    local guard = assert(session:mutex(path):acquire(20))
    support.advance(0.06)
    guard:release()
    local found, before = {}, 0
    for _, sample in ipairs(prometheus.find(read(), "zklock_lock_hold_seconds",
        {}, "_bucket")) do
      if sample.value > before then found[#found + 1] = sample.labels.le end
      before = sample.value
    end
    assert.same({ "0.1" }, found)
    assert.near(0.06, value_of("lock_hold_seconds", {}, "_sum"), 0.001)
    assert.equal(17, #prometheus.find(read(), "zklock_lock_hold_seconds", {},
      "_bucket"))
  end)

  it("tell how long the oldest wait and the oldest hold have lasted",
    function()
      local lock = session:rwlock(path)
      local function oldest(what, mode, seconds)
        assert.near(seconds, value_of("lock_oldest_" .. what .. "_seconds",
          { path = path, mode = mode }), 0.01)
      end
      local first = assert(lock.read:acquire { timeout = 20, owner = "a" })
      support.advance(0.5)
      local cancelled = false
      lock.write:acquire_async({ owner = "w" }, function() cancelled = true end)
      support.advance(0.25)
      lock.write:acquire_async({ owner = "v" }, function() end)
      oldest("hold", "read", 0.75)
      oldest("wait", "write", 0.25)
      oldest("wait", "read", 0)
      lock.write:cancel()
      first:release()
      support.step_until(session, function() return cancelled end)
      oldest("wait", "write", 0)
      oldest("hold", "read", 0)
    end)

  it("have a hundred paths of their own, and no more however many there are",
    function()
      for i = 1, 300 do
        assert(session:mutex(path .. "/" .. i):acquire(20)):release()
      end
      local function count_series()
        return #prometheus.find(read(), "zklock_lock_wait_seconds", nil,
          "_count")
      end
      assert.equal(101, count_series())
      local function grants(labels)
        return value_of("lock_wait_seconds", labels, "_count")
      end
      assert.same({ 300, 300 }, { grants(), value_of "session_grants_total" })
      assert.equal(200, grants { path = "others", mode = "mutex" })
      assert.equal(1, grants { path = path .. "/100" })
      assert.is_nil(grants { path = path .. "/101" })
      -- Of another mode there is one series more.
      assert(session:rwlock(path .. "/rw").read:acquire(20)):release()
      assert.equal(102, count_series())
      -- Also where all wait, and none has been granted.
      local other = session
      session = connect()
      for i = 1, 150 do
        local at = ("%s/w/%d"):format(path, i)
        support.keep(other:mutex(at):acquire { timeout = 20, owner = i })
        session:mutex(at):acquire_async(function() end)
      end
      assert.equal(101, count_series())
      assert.equal(0, grants())
      assert.equal(150, value_of "lock_waiting")
      assert.equal(50, value_of("lock_waiting", { path = "others" }))
    end)

  it("take labels for each sample, and check them", function()
    assert(session:mutex(path):acquire(20)):release()
    for _, family in pairs(read { worker = "3",
        host = "a\"b\\c\nd\226\128\174" }) do
      for _, sample in ipairs(family.samples) do
        assert.equal("3", sample.labels.worker)
        assert.equal("a\"b\\c\\x0ad\\xe2\\x80\\xae", sample.labels.host)
      end
    end
    for name in ("path a-b __name__"):gmatch "%S+" do
      assert.equal("a label of argument 1 of metrics must be a name of "
        .. "letters, digits and _, and none of zklock's own (path, mode, "
        .. ('state, code, reason, le), got "%s"'):format(name),
        misuse(function() session:metrics { [name] = "x" } end))
    end
    assert.equal("argument 1 of metrics must be a table, got a number",
      misuse(function() session:metrics(5) end))
    assert.equal("label 'worker' of argument 1 of metrics must be a string, "
      .. "got a number", misuse(function() session:metrics { worker = 3 } end))
  end)

  it("show a stranger's path as text, and for no other that looks like it",
    function()
      local odd = path .. "/a\"b\\c{x=\"1\"} 7"
      local like_it = path .. "/\\xe2\\x80\\xae"
      for _, one in ipairs { odd, path .. "/\226\128\174", like_it,
          path .. "/\\x5cxe2\\x80\\xae" } do
        assert(session:mutex(one):acquire(20)):release()
      end
      assert.equal(1, value_of("lock_wait_seconds", { path = odd }, "_count"))
      local found, n = by("zklock_lock_wait_seconds", "path", nil, "_count"), 0
      assert.equal(1, found[like_it]) -- the one whose bytes are shown so
      for _ in pairs(found) do n = n + 1 end
      assert.equal(4, n)
    end)
end)

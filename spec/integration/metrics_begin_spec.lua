-- What session:metrics() tells before anything has happened, so that who looks
-- at how a counter grows sees the first event, too; and what it tells of now.
local errors = require "zklock.errors"
local metrics = require "zklock.metrics"
local prometheus = require "support.prometheus"
local read_file = require "support.files".read
local support = require "support"

local root = os.getenv "SPEC_ROOT" or "."

local function read(session) return prometheus.read(session:metrics()) end

-- `{ word = value }` of a family's samples with these labels.
local function by(families, name, label, labels)
  local found = {}
  for _, sample in ipairs(prometheus.find(families, name, labels)) do
    found[sample.labels[label]] = sample.value
  end
  return found
end

local function zeros(words)
  local all = {}
  for word in pairs(words) do all[word] = 0 end
  return all
end

-- The codes for which reasons.lua has a sentence: what a wait can end with; and
-- the one with which an acquisition is refused at once.
local function codes_of_acquisitions()
  local codes = { deadlock = true }
  for code in read_file(root .. "/lua/zklock/reasons.lua")
      :gmatch "function of_wait%.(%w+)" do
    codes[code] = true
  end
  return codes
end

describe("Metrics begin", function()
  before_each(support.start)
  after_each(support.finish)

  it("at zero, for each code and reason of a session", function()
    local families = read(support.connect())
    assert.same(zeros(codes_of_acquisitions()),
      by(families, "zklock_session_refusals_total", "code"))
    assert.same(zeros(errors.losses),
      by(families, "zklock_session_losses_total", "reason"))
    for _, name in ipairs { "grants", "reconnects", "expiries" } do
      assert.equal(0, prometheus.sum(families,
        "zklock_session_" .. name .. "_total"), name)
    end
  end)

  it("at zero of a path when somebody waits there", function()
    local session, path = support.connect(), support.path()
    support.hold(path)
    session:mutex(path):acquire_async(function() end)
    local families, of = read(session), { path = path, mode = "mutex" }
    for _, name in ipairs { "grants_total", "waiting" } do
      assert.equal(name == "waiting" and 1 or 0,
        prometheus.sum(families, "zklock_lock_" .. name, of), name)
    end
    for _, name in ipairs { "wait_seconds", "hold_seconds" } do
      assert.equal(0, prometheus.sum(families, "zklock_lock_" .. name, of,
        "_count"), name)
    end
    assert.same(zeros(errors.losses),
      by(families, "zklock_lock_losses_total", "reason", of))
    assert.same({ timeout = 0 },
      by(families, "zklock_lock_refusals_total", "code", of))
  end)

  it("at zero of each path that waits, and of the rest of them as one",
  function()
    local session, path = support.connect(), support.path()
    for i = 1, 120 do
      support.hold(path .. "/" .. i)
      session:mutex(path .. "/" .. i):acquire_async(function() end)
    end
    local families = read(session)
    assert.equal(101, #families.zklock_lock_grants_total.samples)
    assert.equal(0, prometheus.sum(families, "zklock_lock_grants_total"))
    assert.equal(20, prometheus.sum(families, "zklock_lock_waiting",
      { path = "others" }))
  end)
end)

describe("Metrics of a session", function()
  before_each(support.start)
  after_each(support.finish)

  it("are the sums of those of its paths", function()
    local session, path = support.connect(), support.path()
    support.hold(path .. "-taken")
    for i = 1, 3 do
      assert(session:mutex(path .. "-" .. i):acquire(20)):release()
      session:mutex(path .. "-taken"):try_acquire()
    end
    session:mutex(path .. "-taken"):acquire(0.02)
    local guard = assert(session:mutex(path):acquire(20))
    guard:on_revoke(function() end) -- it watches its node from now on
    support.zk():delete(guard.node)
    support.wait_until(function() return not guard:is_held() end)
    session:step()
    local families = read(session)
    assert.equal(4, prometheus.sum(families, "zklock_session_grants_total"))
    for name, label in pairs { refusals = "code", losses = "reason" } do
      local of_session = by(families, ("zklock_session_%s_total"):format(name),
        label)
      for word, n in pairs(of_session) do
        assert.equal(n, prometheus.sum(families,
          ("zklock_lock_%s_total"):format(name), { [label] = word }) or 0, word)
      end
      assert.equal(name == "losses" and 1 or nil, of_session.deleted)
      assert.equal(name == "refusals" and 3 or nil, of_session.busy)
      assert.equal(name == "refusals" and 1 or nil, of_session.timeout)
    end
  end)

  it("count each once where there are more paths than series", function()
    local session, path = support.connect(), support.path()
    for i = 1, 130 do
      assert(session:mutex(path .. "/" .. i):acquire(20)):release()
    end
    local families = read(session)
    for _, level in ipairs { "session", "lock" } do
      assert.equal(130, prometheus.sum(families,
        ("zklock_%s_grants_total"):format(level)), level)
    end
  end)

  it("tell how long the oldest wait and the oldest hold have lasted",
  function()
    local session, path = support.connect(), support.path()
    local function oldest(what, mode)
      return prometheus.sum(read(session), ("zklock_lock_oldest_%s_seconds")
        :format(what), { path = path, mode = mode })
    end
    local lock = session:rwlock(path)
    local begun = support.now()
    local first = assert(lock.read:acquire { timeout = 20, owner = "a" })
    local granted = support.now()
    lock.write:acquire_async({ owner = "w" }, function() end)
    local waits = support.now()
    support.sleep(0.05)
    local asked = support.now()
    local held, waited = oldest("hold", "read"), oldest("wait", "write")
    local now = support.now()
    assert.is_true(held >= asked - granted and held <= now - begun, held)
    assert.is_true(waited >= asked - waits and waited <= now - granted, waited)
    assert.equal(0, oldest("wait", "read"))
    lock.write:cancel()
    first:release()
    support.step_until(session, function()
      return oldest("wait", "write") == 0 and oldest("hold", "read") == 0
    end)
  end)

  it("tell the releases that a server refuses", function()
    local session, path = support.connect { log = function() end },
      support.path()
    local function refused()
      return prometheus.sum(read(session), "zklock_session_refused_releases")
    end
    local guard = assert(session:mutex(path):acquire(20))
    local function allow(perms)
      support.zk():set_acl(path,
        { { perms = perms, scheme = "world", id = "anyone" } })
    end
    allow(31 - 8) -- all but to delete
    assert.equal(0, refused())
    assert.is_nil(guard:release { wait = true })
    assert.equal(1, refused())
    allow(31)
    support.wait_until(function() return refused() == 0 end, 10,
      "the node to go")
  end)
end)

describe("A path in the metrics", function()
  before_each(support.start)
  after_each(support.finish)

  it("is not taken for another that looks like it", function()
    local session, path = support.connect(), support.path()
    local backwards = path .. "/\226\128\174"
    local like_it = path .. "/\\xe2\\x80\\xae"
    local like_that = path .. "/\\x5cxe2\\x80\\xae"
    for _, one in ipairs { backwards, like_it, like_that } do
      assert(session:mutex(one):acquire(20)):release()
    end
    local found = by(read(session), "zklock_lock_grants_total", "path")
    assert.equal(1, found[like_it]) -- which is the one whose bytes are shown so
    local n = 0
    for _ in pairs(found) do n = n + 1 end
    assert.equal(3, n)
  end)
end)

describe("A number in the metrics #once #layer", function()
  local format = string.format
  after_each(function()
    string.format = format -- luacheck: ignore 122
  end)

  it("has a point, whatever the program's locale writes", function()
    -- (As where a program has called os.setlocale.)
    string.format = function(pattern, ...) -- luacheck: ignore 122
      local text = format(pattern, ...)
      return pattern:find "^%%.%d+g$" and text:gsub("%.", ",") or text
    end
    local text = metrics.text { { labels = {}, snapshot = {
      hosts = "", state = "connected", timeout = 1.5, lease = 0.25,
      counters = {}, locks = {}, holding = {}, waiting = {} } } }
    assert.truthy(text:find("zklock_session_timeout_seconds 1.5\n", 1, true))
  end)
end)

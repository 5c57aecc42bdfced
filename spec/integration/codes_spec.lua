-- What real servers say by their newer codes: authentication that they enforce,
-- quotas that they keep.
local command = require "support.command"
local raw = require "support.raw"
local start_servers = require "support.server".start
local support = require "support"
local zklock = require "zklock"

local ANN = { scheme = "digest", credential = "ann:secret" }

describe("Servers that enforce authentication #once", function()
  local servers

  before_each(support.start)
  after_each(function()
    if servers then servers:stop() end
    servers = nil
    support.finish()
  end)

  local function enforce(scheme, flags)
    servers = start_servers(1, "--jvm -Dzookeeper.enforce.auth.enabled=true "
      .. "--jvm -Dzookeeper.enforce.auth.schemes=" .. scheme .. " "
      .. (flags or ""))
  end

  -- Refused, and by words that say what is wanted, and what was given.
  local function check(given, nothing, message, code)
    assert.is_nil(nothing)
    assert.equal("auth", code)
    assert.matches("enforce.auth.schemes", message, 1, true)
    assert.matches(given, message, 1, true)
  end

  it("refuse who has none, and take who has", function()
    enforce "digest"
    local session, message, code = zklock.connect(servers.hosts)
    if session then -- (`mt` asks at once)
      support.closing(session)
      check("(there is no option 'auth')", session:mutex("/a"):acquire(30))
      check("(there is no option 'auth')", session:mutex("/a"):acquire(30))
    else
      check("(there is no option 'auth')", session, message, code)
    end
    local ann = support.closing(assert(zklock.connect(servers.hosts,
      { auth = ANN })))
    local guard = assert(ann:mutex("/a"):acquire(30))
    assert.is_true(guard:release { wait = true })
  end)

  it("refuse who has another one, as it connects", function()
    enforce("sasl", "--config authProvider.1="
      .. "org.apache.zookeeper.server.auth.SASLAuthenticationProvider")
    check("(option 'auth': digest)", zklock.connect(servers.hosts,
      { auth = ANN }))
  end)

  it("end the command with 77", function()
    enforce "digest"
    local run = command.start({ "run", "/a", "--", "true" },
      { env = { ZKLOCK_HOSTS = servers.hosts } })
    assert.equal(77, run:wait())
  end)
end)

describe("Servers that keep a quota #once", function()
  local servers, zk

  before_each(function()
    support.start()
    servers = start_servers(1, "--jvm -Dzookeeper.enforceQuota=true")
    zk = raw.connect(servers.hosts)
    zk:make "/q"
    zk:make("/zookeeper/quota/q/zookeeper_limits", {
      data = "count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=2" })
    zk:make("/zookeeper/quota/q/zookeeper_stats",
      { data = "count=0,bytes=0" })
  end)
  after_each(function()
    zk:close()
    servers:stop()
    support.finish()
  end)

  local function connect()
    return support.closing(assert(zklock.connect(servers.hosts)))
  end

  it("have a barrier set in the last place, and lifted", function()
    local barrier, last = connect():barrier "/q/gate", 0
    local function fill()
      last = last + 1
      return pcall(zk.create, zk, "/q/" .. last)
    end
    repeat until not fill()
    zk:delete "/q/1"
    assert.same({ true, true }, { barrier:set() })
    assert.is_false(fill())
    assert.same({ true, true }, { barrier:lift() })
    assert.is_true(fill())
    assert.equal("timeout", select(3, barrier:set()))
  end)

  it("keep a waiter out until there is room", function()
    local holder = assert(connect():mutex("/q"):acquire(30))
    local waiter, got = connect(), nil
    local begun = support.now()
    local guard, message, code = waiter:mutex("/q"):acquire(0.5)
    assert.same({ nil, "timeout" }, { guard, code })
    assert.is_true(support.now() - begun >= 0.5)
    assert.matches("quota", message, 1, true)
    guard, message, code = waiter:mutex("/q"):try_acquire()
    assert.same({ nil, "timeout" }, { guard, code })
    assert.matches("quota", message, 1, true)
    waiter:mutex("/q"):acquire_async({ timeout = 30 }, function(...)
      got = { ... }
    end)
    assert.is_true(holder:release { wait = true })
    support.step_until(waiter, function() return got end, 30, "granted")
    assert.is_true(got[1]:release { wait = true })
  end)

  -- 64 would tell systemd never to start it again.
  it("end the command with 75 where there is no room in time", function()
    local holder = assert(connect():mutex("/q"):acquire(30))
    for _, option in ipairs { "--timeout=0.3", "--try" } do
      local run = command.start({ "run", option, "/q", "--", "true" },
        { env = { ZKLOCK_HOSTS = servers.hosts } })
      assert.equal(75, run:wait())
      assert.matches("quota", run:err(), 1, true)
    end
    assert.is_true(holder:release { wait = true })
  end)
end)

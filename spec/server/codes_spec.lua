-- What real servers say by their newer codes: authentication that they enforce,
-- quotas that they keep; and directories that they take away early.
local command = require "support.command"
local raw = require "support.raw"
local start_servers = require "support.server".start
local support = require "support"
local zklock = require "zklock"

describe("A server that enforces authentication, and a quota", function()
  local server

  setup(function()
    server = start_servers(1, "--jvm -Dzookeeper.enforce.auth.enabled=true "
      .. "--jvm -Dzookeeper.enforce.auth.schemes=digest "
      .. "--jvm -Dzookeeper.enforceQuota=true")
  end)
  teardown(function() server:stop() end)

  local function connect(auth)
    local session, message, code = zklock.connect(server.hosts,
      { auth = auth })
    return session and support.closing(session), message, code
  end

  it("refuses who has no credential, or another one, and takes who has",
    function()
      for given, auth in pairs { ["(there is no option 'auth')"] = false,
          ["(option 'auth': ip)"] = { scheme = "ip", credential = "x" } } do
        local session, message, code = connect(auth or nil)
        if session then -- (it is refused with the first request)
          local guard
          guard, message, code = session:mutex("/a"):acquire(30)
          assert.is_nil(guard)
        end
        assert.equal("auth", code)
        assert.matches("enforce.auth.schemes", message, 1, true)
        assert.matches(given, message, 1, true)
      end
      local ann = connect { scheme = "digest", credential = "ann:secret" }
      assert(ann:mutex("/a"):acquire(30)):release { wait = true }
    end)

  -- 64 would tell systemd never to start it again.
  it("ends the command with 77, and with 75 where there is no room", function()
    local env = { ZKLOCK_HOSTS = server.hosts }
    local function run(...)
      return command.run({ "run", ... }, { env = env })
    end
    assert.equal(77, run("/a", "--", "true").code)
    env.ZKLOCK_AUTH_FILE = command.file("digest:ann:secret\n", "600")
    local zk = raw.connect(server.hosts, { auth = "ann:secret" })
    zk:make("/zookeeper/quota/q/zookeeper_limits", {
      data = "count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=2" })
    zk:make("/zookeeper/quota/q/zookeeper_stats", { data = "count=0,bytes=0" })
    local holder = connect { scheme = "digest", credential = "ann:secret" }
    support.keep(holder:mutex("/q"):acquire(30))
    -- (In so many seconds it has a connection, on a machine that is busy, too.)
    for _, option in ipairs { "--timeout=5", "--try" } do
      local said = run(option, "/q", "--", "true")
      assert.equal(75, said.code, said.err)
      assert.matches("quota", said.err, 1, true)
    end
    zk:close()
  end)
end)

-- As ZooKeeper 3.10 does after five minutes: this one does after 50 ms, which
-- is a few round trips on a busy machine. (In virtual time
-- integration/operator_spec.lua takes away the directory of each lock.)
it("A server that deletes containers that were never used has each lock, whose "
  .. "directory may vanish before its first node", function()
  local server = support.closing(start_servers(1,
    "--jvm -Dznode.container.checkIntervalMs=1 "
    .. "--jvm -Dznode.container.maxPerMinute=60000000 "
    .. "--jvm -Dznode.container.maxNeverUsedIntervalMs=50"))
  local zk = support.closing(raw.connect(server.hosts))
  assert(zk:create("/unused", { container = true }))
  support.wait_until(function() return not zk:exists "/unused" end)
  local session = support.connect { hosts = server.hosts }
  for i = 1, 60 do
    local path = ("/unused/%d/a/b"):format(i)
    assert(session:with_lock(path, { timeout = 60 }, function() end))
  end
end)

-- A server that deletes containers which never had a child, as ZooKeeper 3.10
-- does after five minutes: this one does after 50 ms, which is a few round
-- trips on a busy machine. (In virtual time integration/operator_spec.lua takes
-- away the directory of each lock.)
local raw = require "support.raw"
local start_servers = require "support.server".start
local support = require "support"

describe("A server that deletes containers that were never used", function()
  local server

  setup(function()
    server = start_servers(1, "--jvm -Dznode.container.checkIntervalMs=1 "
      .. "--jvm -Dznode.container.maxPerMinute=60000000 "
      .. "--jvm -Dznode.container.maxNeverUsedIntervalMs=50")
  end)
  teardown(function() server:stop() end)

  it("has each lock, whose directory may vanish before its first node",
    function()
      local zk = support.closing(raw.connect(server.hosts))
      assert(zk:create("/unused", { container = true }))
      support.wait_until(function() return not zk:exists "/unused" end)
      local session = support.connect { hosts = server.hosts }
      for i = 1, 60 do
        local path = ("/unused/%d/a/b"):format(i)
        assert(session:with_lock(path, { timeout = 60 }, function() end))
      end
    end)
end)

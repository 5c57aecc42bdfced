-- Servers that keep a quota.  (Each code in each place: story_codes.c; what the
-- command makes of it, and authentication that servers enforce: server/codes.)
local start_server = require "support.server".start
local support = require "support"

describe("Servers that keep a quota", function()
  local server, zk

  before_each(function()
    server = start_server(1, "--jvm -Dzookeeper.enforceQuota=true")
    zk = support.zk(server.hosts)
    zk:make "/q"
    zk:make("/zookeeper/quota/q/zookeeper_limits", {
      data = "count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=2" })
    zk:make("/zookeeper/quota/q/zookeeper_stats",
      { data = "count=0,bytes=0" })
  end)

  local function connect() return support.connect { hosts = server.hosts } end

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
end)

-- connect: what it gives, and servers that are silent.  (What no model has,
-- such as sockets and other protocols: spec/server/connect_spec.lua.)
local start_server = require "support.server".start
local support = require "support"
local zklock = require "zklock"
local connect = support.connect

describe("connect", function()
  it("asks for a session timeout and tells what was negotiated", function()
    assert.equal(10, connect():timeout())
    for asked, granted in pairs { [4] = 4, [2.5] = 2.5, [0.1] = 1,
        [86400] = 60 } do
      assert.equal(granted, connect { session_timeout = asked }:timeout())
    end
  end)

  it("makes a chroot that does not exist, when it is used", function()
    local chroot, zk = support.path "chroot", support.zk()
    local below = chroot .. "/a/b"
    local session = connect { hosts = support.hosts .. below }
    support.advance(1)
    assert.is_false(zk:exists(chroot))
    local guard = session:mutex("/orders"):acquire(30)
    assert.equal("/orders", guard.path)
    assert.matches("^/orders/%w+%-lock%-", guard.node)
    local other = connect():mutex(below .. "/orders") -- the same lock
    assert.equal("busy", (select(3, other:try_acquire())))
    guard:release()
  end)

  it("finds silent servers, and waits no longer for two", function()
    local servers = { start_server(1), start_server(1) }
    for _, server in ipairs(servers) do server:pause() end
    local hosts = servers[1].hosts
    for i = 1, 2 do
      local begun = support.now()
      local session, message, code =
        zklock.connect(hosts, { connect_timeout = 0.5 })
      assert.near(begun + 0.5, support.now(), 0.01)
      assert.same({ nil, "disconnected" }, { session, code })
      assert.matches("answered within 0.5 s", message)
      hosts = i == 1 and hosts .. "," .. servers[2].hosts or hosts
    end
  end)

  it("finds one that answers while it waits", function()
    local server = start_server(1)
    server:pause()
    local resumed, begun = server:resume_in(0.3, 1), support.now()
    connect { hosts = server.hosts, connect_timeout = 10 }
    assert.near(begun + 0.3, support.now(), 0.05)
    resumed:close()
  end)

  it("is refused with an authentication scheme that nobody knows", function()
    local session, message, code = zklock.connect(support.hosts,
      { auth = { scheme = "nosuch", credential = "a:b" } })
    assert.same({ nil, "auth" }, { session, code })
    assert.matches("^zklock: ZooKeeper at .* does not accept the "
      .. "credentials$", message)
  end)
end)

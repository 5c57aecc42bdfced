-- connect: what it gives, and servers that are not there, silent, or speak of
-- something else.
local lfs = require "lfs"
local socket = require "socket"
local spawn = require "support.child".spawn
local start_hostile = require "support.hostile".start
local start_proxy = require "support.proxy".start
local support = require "support"
local zklock = require "zklock"
local connect = support.connect

-- connect() that must fail: message, code; in time, with nothing left.
local function refused(hosts, options)
  options = options or {}
  options.connect_timeout = options.connect_timeout or 0.5
  local fds, threads = support.count_fds(), support.count_threads()
  local begun = support.now()
  local session, message, code = zklock.connect(hosts, options)
  local took = support.now() - begun
  assert.is_nil(session)
  assert.is_true(took < options.connect_timeout + support.slack, took)
  support.wait_until(function()
    return support.count_fds() <= fds and support.count_threads() <= threads
  end, 3, "no descriptor and no thread left")
  return message, code, took
end

describe("connect", function()
  before_each(support.start)
  after_each(support.finish)

  it("returns a connected session", function()
    local session = connect()
    assert.equal("connected", session:state())
    assert.matches("^0x%x+$", session:id())
    assert.equal(10, session:timeout())
  end)

  it("asks for a session timeout and tells what was negotiated", function()
    assert.equal(4, connect { session_timeout = 4 }:timeout())
    assert.equal(2.5, connect { session_timeout = 2.5 }:timeout())
    assert.equal(1, connect { session_timeout = 0.1 }:timeout())
    assert.equal(60, connect { session_timeout = 86400 }:timeout())
  end)

  it("takes one server, or several, or the same twice", function()
    local port = support.hosts:match(":(%d+)$")
    local lists = {
      support.hosts, support.hosts .. "," .. support.hosts,
      support.hosts .. "/", "localhost:" .. port,
      "127.0.0.1:1," .. support.hosts, support.hosts .. ",127.0.0.1:1",
      "[::1]:" .. port .. "," .. support.hosts,
      "nosuch.invalid:2181," .. support.hosts,
    }
    for _, hosts in ipairs(lists) do
      local session = connect { hosts = hosts }
      assert.equal("connected", session:state())
      session:close()
    end
  end)

  it("may be done often in one process, each with its own session", function()
    local ids = {}
    for i = 1, 10 do
      local id = connect():id()
      assert.is_nil(ids[id], i)
      ids[id] = true
    end
  end)

  it("makes a chroot that does not exist, with its parents", function()
    local chroot = support.path "chroot" .. "/a/b"
    local session = connect { hosts = support.hosts .. chroot }
    local guard = session:mutex("/orders"):acquire(30)
    assert.is_true(guard:is_held())
    assert.equal("/orders", guard.path)
    assert.matches("^/orders/%w+%-lock%-", guard.node)
    assert.equal(1, #support.zk():queue(chroot .. "/orders"))
    -- the same lock without the chroot
    local other = connect():mutex(chroot .. "/orders")
    assert.equal("busy", (select(3, other:try_acquire())))
    assert.is_true(guard:verify())
    guard:release { wait = true }
    assert.is_table((other:try_acquire()))
  end)

  it("does not touch the chroot before it is used", function()
    local chroot = support.path "chroot"
    connect { hosts = support.hosts .. chroot }
    support.sleep(0.05)
    assert.is_false(support.zk():exists(chroot))
  end)

  if zklock.backend == "st" then -- mt's own are out of our reach
    it("lets no descriptor out to child processes", function()
      local before = {}
      for fd in lfs.dir "/proc/self/fd" do before[fd] = true end
      connect():mutex(support.path()):acquire()
      for fd in lfs.dir "/proc/self/fd" do
        local file = io.open("/proc/self/fdinfo/" .. fd)
        if file and not before[fd] then
          local flags = file:read("*a"):match("flags:%s*(%d+)")
          assert.is_true(#flags >= 7, fd .. " has the flags " .. flags)
        end
        if file then file:close() end
      end
    end)
  end

  it("finds no server listening", function()
    local taken = socket.tcp() -- so that nobody else listens there
    assert(taken:bind("127.0.0.1", 0))
    local hosts = "127.0.0.1:" .. select(2, taken:getsockname())
    local message, code, took = refused(hosts)
    taken:close()
    assert.equal("disconnected", code)
    assert.matches("^zklock: no server of " .. hosts
      .. " answered within 0.5 s", message)
    assert.matches("Connection refused", message)
    assert.is_true(took >= 0.5) -- one may yet come up
  end)

  it("finds one that comes up while it waits", function()
    local proxy = start_proxy()
    proxy:refuse()
    local child = spawn([[
      local session, message = zklock.connect((...), { connect_timeout = 10 })
      say(session and session:state() or message)
      session:close()
    ]], proxy.hosts)
    support.sleep(0.3)
    proxy:heal()
    child:expect "connected"
  end)

  it("finds a silent server", function()
    local listener = socket.bind("127.0.0.1", 0)
    local _, port = listener:getsockname()
    local message, code = refused("127.0.0.1:" .. port)
    assert.equal("disconnected", code)
    assert.matches("answered within 0.5 s", message)
    listener:close()
  end)

  local protocols = {
    { "an HTTP server", "HTTP/1.1%20400%20Bad%20Request%0D%0A%0D%0Ax",
      'it is no ZooKeeper server: it answers like an HTTP server ("HTTP/1.1 '
        .. '400 Bad Request")' },
    { "Redis", "-ERR%20unknown%20command%0D%0A",
      'it is no ZooKeeper server: it answers like Redis ("-ERR unknown '
        .. 'command")' },
    { "an SSH server", "SSH-2.0-OpenSSH_9.2%0D%0A", 'it is no ZooKeeper '
      .. 'server: it answers like an SSH server ("SSH-2.0-OpenSSH_9.2")' },
    { "a port for TLS", "%15%03%03%00%02%02%46",
      "it is no ZooKeeper server: it answers in TLS (see doc/tls.md)" },
    { "a server with a word of one byte", "x",
      'it is no ZooKeeper server: it answers "x"' },
    { "a server whose words are no text", "%01%22%5C%FF" .. ("y"):rep(60),
      'it is no ZooKeeper server: it answers "????' .. ("y"):rep(36) .. '"' },
    { "a server of larger packets", "%00%00%06%04%00",
      "it is no ZooKeeper server: it answers in another protocol" },
  }
  for _, stays in ipairs { true, false } do
    for _, protocol in ipairs(protocols) do
      it("says that it has found " .. protocol[1]
          .. (stays and "" or ", which closes"), function()
        local hostile, lines = start_hostile(), {}
        hostile:behave { kind = "stranger", says = protocol[2],
          stays = stays or nil }
        local message, code = refused(hostile.hosts, {
          connect_timeout = 0.5,
          log = function(level, line) lines[#lines + 1] = level .. line end,
        })
        assert.equal("disconnected", code)
        assert.equal(("zklock: no server of %s answered within 0.5 s (last "
          .. "error: %s: %s)"):format(hostile.hosts, hostile.hosts,
          protocol[3]), message)
        assert.same({ ("warnno connection to %s: %s"):format(hostile.hosts,
          protocol[3]) }, lines)
      end)
    end
  end

  it("finds a host that nobody knows", function()
    local message, code = refused("nosuch.invalid:2181",
      { connect_timeout = 2 })
    assert.equal("disconnected", code)
    assert.matches("nosuch.invalid", message)
  end)

  it("is not held up by a resolver that hangs #stock", function()
    local names = require "support.names".new()
    names:set("host.example", "hang")
    local child = require "support.child".spawn_with(
      names.environment, [[
        local begun = socket.gettime()
        local session, message, code = zklock.connect("host.example",
          { connect_timeout = 0.3 })
        local took = socket.gettime() - begun
        say(session, code, took >= 0.3 and took < 5)
      ]])
    child:expect "nil\tdisconnected\ttrue"
    local begun = support.now()
    assert.equal(0, child:wait())
    assert.is_true(support.now() - begun < support.slack)
  end)

  it("is refused with an authentication scheme that nobody knows", function()
    local message, code = refused(support.hosts, { connect_timeout = 3,
      auth = { scheme = "nosuch", credential = "a:b" } })
    assert.equal("auth", code)
    assert.matches("^zklock: ZooKeeper at .* does not accept our "
      .. "credentials$", message)
  end)

  it("does not wait longer for the second of two silent servers", function()
    local a, b = socket.bind("127.0.0.1", 0), socket.bind("127.0.0.1", 0)
    local hosts = ("127.0.0.1:%d,127.0.0.1:%d"):format(
      select(2, a:getsockname()), select(2, b:getsockname()))
    local _, code = refused(hosts)
    assert.equal("disconnected", code)
    a:close()
    b:close()
  end)

  it("writes nothing to stdout or stderr whatever happens", function()
    local path = support.path()
    support.zk():make(path)
    support.zk():create(path .. "/refused", { acl = {
      { perms = 1, scheme = "world", id = "anyone" } } })
    local child = spawn([[
      local hosts, path = ...
      for _, bad in ipairs { "127.0.0.1:1", "nosuch.invalid" } do
        zklock.connect(bad, { connect_timeout = 0.3 })
      end
      zklock.connect(hosts, { connect_timeout = 2,
        auth = { scheme = "nosuch", credential = "a:b" } })
      local session = assert(zklock.connect(hosts))
      assert(not session:mutex(path):acquire(1))
      session:close()
      say "done"
    ]], support.hosts, path .. "/refused")
    child:expect "done"
    child:wait()
    assert.equal("", child:output())
  end)

  it("logs the client's words where there is a log", function()
    local lines = {}
    zklock.connect("127.0.0.1:1", {
      connect_timeout = 0.3,
      log = function(level, message)
        lines[#lines + 1] = message
        assert.is_true(level == "debug" or level == "warn" or level == "error")
      end,
    })
    if zklock.backend == "st" then assert.is_true(#lines > 0) end
  end)
end)

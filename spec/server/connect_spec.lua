-- connect, and what only real sockets show: names and addresses, ports at which
-- something else listens, descriptors, what is written.
local find = require "support.files".find
local lfs = require "lfs"
local spawn = require "support.child".spawn
local start_hostile = require "support.hostile".start
local start_proxy = require "support.proxy".start
local support = require "support"
local zklock = require "zklock"
local connect = support.connect

-- connect() that must fail: message, code, seconds; with nothing left.
local function refused(hosts, options)
  options = options or {}
  options.connect_timeout = options.connect_timeout or 0.5
  local begun = support.now()
  local session, message, code = zklock.connect(hosts, options)
  assert.is_nil(session)
  return message, code, support.now() - begun
end

local function flags_of(fd)
  return find("/proc/self/fdinfo/" .. fd):match "flags:%s*(%d+)"
end

describe("connect", function()
  it("takes one server, or several, or the same twice", function()
    local port = support.hosts:match(":(%d+)$")
    for _, hosts in ipairs {
      support.hosts, support.hosts .. "," .. support.hosts,
      support.hosts .. "/", "localhost:" .. port,
      "127.0.0.1:1," .. support.hosts, support.hosts .. ",127.0.0.1:1",
      "[::1]:" .. port .. "," .. support.hosts,
      "nosuch.invalid:2181," .. support.hosts,
    } do
      local session = connect { hosts = hosts }
      assert.equal("connected", session:state(), hosts)
      session:close()
    end
  end)

  it("passes no descriptor to child processes", function()
    local before = {}
    for fd in lfs.dir "/proc/self/fd" do before[fd] = true end
    connect():mutex(support.path()):acquire(30)
    for fd in lfs.dir "/proc/self/fd" do
      local flags = not before[fd] and flags_of(fd)
      if flags then
        assert.is_true(#flags >= 7, fd .. " has the flags " .. flags)
      end
    end
  end)

  it("passes none to child processes while it connects #stock", function()
    local proxy = start_proxy()
    local child = spawn([[
      -- What a program has open, other than files.
      local function inherited()
        local pipe = io.popen "ls -l /proc/self/fd"
        local n = 0
        for line in pipe:lines() do
          if line:find "%-> [a-z_]+:" then n = n + 1 end
        end
        pipe:close()
        return n
      end
      local before, sessions = inherited(), {}
      local dead = "127.0.7.1:9,127.0.7.2:9,127.0.7.3:9,127.0.7.4:9,"
      for i = 1, 12 do
        sessions[i] = assert(zklock.connect(dead .. (...)))
      end
      say "connected"
      hear()
      local most = 0
      for _ = 1, 300 do most = math.max(most, inherited() - before) end
      say(most)
      hear()
      for i = 1, 12 do sessions[i]:mutex("/a" .. i):acquire(20) end
      say(inherited() - before)
      os.exit(0)
    ]], proxy.hosts)
    child:expect "connected"
    proxy:refuse()
    child:say()
    child:expect("0", 60)
    proxy:heal()
    child:say()
    child:expect("0", 30)
    assert.equal(0, child:wait())
  end)

  -- Bytes of a server, and what it is taken for.
  local protocols = {
    { "HTTP/1.1%20400%20Bad%20Request%0D%0A%0D%0Ax",
      'like an HTTP server ("HTTP/1.1 400 Bad Request")' },
    { "-ERR%20unknown%20command%0D%0A", 'like Redis ("-ERR unknown command")' },
    { "SSH-2.0-OpenSSH_9.2%0D%0A",
      'like an SSH server ("SSH-2.0-OpenSSH_9.2")' },
    { "%15%03%03%00%02%02%46", "the server speaks TLS on this port: set the "
      .. "option 'tls' (see doc/operations.md)", is_whole = true },
    { "x", '"x"' },
    { "%01%22%5C%FF" .. ("y"):rep(60), '"????' .. ("y"):rep(36) .. '"' },
    { "%00%00%06%04%00", "in another protocol" }, -- (a larger packet)
  }

  it("says that it has found something else, whether that closes or not",
    function()
      local hostile = start_hostile()
      for _, stays in ipairs { true, false } do
        for _, protocol in ipairs(protocols) do
          local lines = {}
          hostile:behave { kind = "stranger", says = protocol[1],
            stays = stays or nil }
          local message, code = refused(hostile.hosts, {
            log = function(level, line) lines[#lines + 1] = level .. line end,
          })
          local what = (protocol.is_whole and "" or "it is no ZooKeeper "
            .. "server: it answers ") .. protocol[2]
          assert.equal("disconnected", code)
          assert.equal(("zklock: no server of %s answered within 0.5 s (last "
            .. "error: %s: %s)"):format(hostile.hosts, hostile.hosts, what),
            message)
          assert.same({ ("warnno connection to %s: %s"):format(hostile.hosts,
            what) }, lines)
        end
      end
    end)

  -- (The library may notice it in the middle of a request.)
  it("reconnects at once when a connection breaks in a request", function()
    local proxy = start_proxy()
    local session = support.connect { hosts = proxy.hosts,
      session_timeout = 12 }
    local running, slowest, rounds = true, 0, 0
    for i = 1, 40 do
      local lock = session:mutex(support.path(i))
      local function again(guard)
        rounds = rounds + 1
        if guard then guard:release() end
        if running then lock:acquire_async(again) end
      end
      lock:acquire_async(again)
    end
    for _ = 1, 25 do
      local before, n = session:stats().reconnects, rounds
      proxy:cut()
      local begun = support.now()
      support.step_until(session, function()
        return session:stats().reconnects > before and rounds > n + 40
      end, 20)
      slowest = math.max(slowest, support.now() - begun)
    end
    running = false
    -- Who is not told waits for two thirds of the session timeout.
    assert.is_true(slowest < 6, slowest)
  end)

  it("writes nothing to stdout or stderr whatever happens", function()
    local path = support.path()
    support.zk():make(path)
    support.zk():create(path .. "/refused", { acl = support.everybody(1) })
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
end)

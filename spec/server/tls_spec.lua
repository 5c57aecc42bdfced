-- TLS of zklock's own: doc/operations.md.
local certificates = require "support.certificates"
local child = require "support.child"
local each = require "support.each"
local files = require "support.files"
local forker = require "support.forker"
local shell = require "support.shell"
local start_hostile = require "support.hostile".start
local start_server = require "support.server".start
local support = require "support"
local zklock = require "zklock"

describe("TLS", function()
  local ours, others, servers, secure

  setup(function()
    ours, others = certificates.new(), certificates.new "/CN=another CA"
    for i = 1, 3 do
      ours:add("zk" .. i, ("DNS:zk%d.example,DNS:localhost"):format(i)
        .. (i == 1 and ",IP:127.0.0.1" or ""))
    end
    ours:add "web1":add "old"
    others:add "web1"
    servers = start_server(3, ours:flags "zk{n}")
    secure = {}
    for i = 1, 3 do secure[i] = servers:setting("secureClientPort", i) end
  end)
  teardown(function()
    servers:stop()
    ours:close()
    others:close()
  end)

  local function at(host, ...)
    local list = {}
    for i, n in ipairs { ... } do list[i] = host .. ":" .. secure[n] end
    return table.concat(list, ",")
  end

  local function with(tls, more)
    for key, value in pairs(more) do tls[key] = value end
    return tls
  end

  it("carries locks, to a host by its name or its address", function()
    for _, host in ipairs { "localhost", "127.0.0.1" } do
      -- (A server's first handshakes can take long on a busy machine.)
      local guard = support.hold(support.path(), { hosts = at(host, 1),
        tls = ours:tls "web1", connect_timeout = 60 })
      assert.is_true(guard:verify())
      guard:release()
    end
  end)

  it("is refused, by either side, for the reason that is told", function()
    each({
      { "a certificate for other names", at("127.0.0.1", 2), ours:tls "web1",
        "its certificate is for zk2.example, localhost, not 127.0.0.1" },
      { "a certificate of another authority", at("localhost", 1),
        with(ours:tls "web1", { ca = others:file "ca.pem" }),
        "its certificate is issued by an unknown authority (CN=zklock test CA)"
          .. ", not by that of tls.ca" },
      { "no certificate of the client", at("localhost", 1), ours:tls(),
        "the server wants a client certificate: set tls.cert and tls.key" },
      { "a certificate of the client that another authority has signed",
        at("localhost", 1),
        with(others:tls "web1", { ca = ours:file "ca.pem" }),
        "the server refuses the certificate of tls.cert" },
    }, function(row)
      local session, message, code = zklock.connect(row[2], { tls = row[3],
        connect_timeout = 30 })
      assert.is_nil(session)
      assert.equal("auth", code, message)
      assert.truthy(message:find(row[4], 1, true), message)
      assert.truthy(message:find("127.0.0.1:", 1, true), message)
    end, true)
    -- One refuses, and no other answers.
    local message, code = select(2, zklock.connect(at("127.0.0.1", 2)
      .. ",127.0.0.1:1", { tls = ours:tls "web1", connect_timeout = 0.5 }))
    assert.equal("disconnected", code)
    assert.matches("its certificate is for zk2.example", message, 1, true)
  end)

  it("takes the name of option name", function()
    support.connect { hosts = at("127.0.0.1", 3), connect_timeout = 60,
      tls = with(ours:tls "web1", { name = "zk3.example" }) }
  end)

  it("names a server that speaks none, and one that speaks nothing else",
  function()
    local function why(hosts, options)
      options.connect_timeout = 2.5
      local session, message, code = zklock.connect(hosts, options)
      assert.is_nil(session)
      assert.equal("disconnected", code)
      return message
    end
    assert.matches("closed the connection at the beginning of the TLS "
      .. "handshake: it is starting, .*, or speaks no TLS on this port",
      why(servers:host(1), { tls = ours:tls "web1" }))
    assert.matches("or speaks TLS on this port %(then set the option 'tls'%)",
      why(at("localhost", 1), {}))
  end)

  it("is the parent's alone after a fork, whatever the child does #stock",
  function()
    local tls = ours:tls "web1"
    local process = forker.spawn_with("", [[
      local unistd = require "posix.unistd"
      local wait = require "posix.sys.wait"
      local hosts, ca, cert, key = ...
      local options = { tls = { ca = ca, cert = cert, key = key } }
      local session = assert(zklock.connect(hosts, options))
      local guard = assert(session:mutex "/fork":acquire(30))
      local function try_in_child(body)
        local pid = unistd.fork()
        if pid == 0 then unistd._exit(pcall(body) and 0 or 1) end
        local _, how, status = wait.wait(pid)
        say(how, status, session:state(), guard:verify())
      end
      try_in_child(function()
        session, guard = nil, nil
        collectgarbage()
      end)
      try_in_child(function() os.exit(0, true) end)
      try_in_child(function()
        local own = assert(zklock.connect(hosts, options))
        assert(own:mutex "/fork-child":acquire(30)):release { wait = true }
        own:close()
      end)
      os.exit(0)
    ]], at("localhost", 1), tls.ca, tls.cert, tls.key)
    for _ = 1, 3 do
      assert.equal("exited\t0\tconnected\ttrue", process:hear(60))
    end
    process:wait()
  end)

  it("gives up a server that sends a byte now and then", function()
    local slow = start_hostile { hosts = at("127.0.0.1", 1) }
    slow:behave { kind = "bytes", rate = 20 }
    local session, message, code = zklock.connect(slow.hosts,
      { tls = ours:tls "web1", connect_timeout = 2.5 })
    assert.is_nil(session)
    assert.equal("disconnected", code)
    assert.matches("it does not answer the TLS handshake", message)
  end)

  it("gives the client a name for ACLs", function()
    local path = support.path()
    local guard = support.hold(path, { hosts = at("localhost", 1),
      tls = ours:tls "web1", acl = {
        { scheme = "x509", id = "CN=web1", perms = "cdrwa" },
      } })
    local stranger = support.connect { hosts = servers.hosts }
    assert.equal("denied", (select(3, stranger:contenders(path))))
    guard:release()
  end)

  it("needs no certificate of a client if the servers require none", function()
    servers:configure("ssl.clientAuth", "want", 2)
    servers:configure("ssl.clientAuth", "none", 3)
    servers:restart "2 3"
    local identity = { scheme = "x509", credential = "certificate" }
    -- n, the client's certificate, its identity, the code
    each({
      { "want, and there is none", 2, nil, nil },
      { "want, and there is one", 2, "web1", identity },
      { "want, and an ACL needs one", 2, nil, identity, "auth" },
      { "none, and there is none", 3, nil, nil },
      { "none, and one is not asked for", 3, "web1", nil },
      { "none, and an ACL needs one", 3, "web1", identity, "auth" },
    }, function(row)
      local session, message, code = zklock.connect(at("localhost", row[2]), {
        tls = ours:tls(row[3]), auth = row[4], acl = row[4] and "creator",
        connect_timeout = 30 })
      assert.equal(row[5], code, message)
      if not session then return end
      support.closing(session)
      local guard = assert(session:mutex(support.path()):acquire(30))
      assert.is_true(guard:verify())
      guard:release { wait = true }
    end, true)
    local message, code = select(2, zklock.connect(at("localhost", 2), {
      tls = with(others:tls "web1", { ca = ours:file "ca.pem" }),
      connect_timeout = 30 }))
    assert.equal("auth", code, message)
    assert.matches("the server refuses the certificate of tls.cert", message, 1,
      true)
  end)

  it("keeps a hold in the next connection, for which it reads its files again",
  function()
    local lines, through = {}, start_hostile { hosts = at("127.0.0.1", 1) }
    through:behave { kind = "bytes", rate = 1e6 }
    local session = support.connect { hosts = through.hosts,
      tls = ours:tls "old", log = function(_, text)
        lines[#lines + 1] = text
      end }
    local path = support.path()
    local guard = assert(session:mutex(path .. "-held"):acquire(30))
    local function await(state)
      support.step_until(session, function()
        return session:state() == state
      end, 30, state)
    end
    local function reconnect(warning)
      through:cut()
      await "suspended"
      await "connected"
      assert.is_true(guard:verify())
      assert.matches("cannot use tls." .. warning .. ": TLS goes on with what "
        .. "was read before", table.concat(lines, "\n"))
    end
    -- They are garbage, or lost: what was read goes on.
    local key = ours:file "old.key"
    files.write(ours:file "old.crt", "-----BEGIN CERTIFICATE-----\nAAAA")
    reconnect "cert %(.-%): it has a certificate that cannot be read"
    ours:add "old"
    assert(os.rename(key, key .. ".away"))
    reconnect "key %(.-%): No such file or directory"
    -- They are another's: the servers refuse it.
    for _, suffix in ipairs { ".crt", ".key" } do
      shell.must(("cp '%s' '%s'"):format(others:file("web1" .. suffix),
        ours:file("old" .. suffix)))
    end
    through:cut()
    local _, message, code = session:mutex(path):acquire(30)
    assert.equal("auth", code, message)
    assert.matches("TLS fails with each server.*refuses the certificate",
      message)
    ours:add "old"
    await "connected"
    session:mutex(path):acquire(30):release()
  end)

  -- A library that exports what zklock.tls and libssl import of OpenSSL, and
  -- ends the process if one of these functions is called.
  local FOREIGN = [[
    set -e
    module=%s
    libssl=$(ldd $module | sed -n 's/.*libssl[^ ]* => \([^ ]*\) .*/\1/p')
    dir=$(mktemp -d)
    nm -D --undefined-only $module $libssl |
      sed -n 's/.* U \(.*\)@OPENSSL_.*/void \1(void) { _exit(9); }/p' |
      sort -u >$dir/foreign.c
    cd "$dir"
    ${CC:-cc} -w -include unistd.h -shared -fPIC -o foreign.so foreign.c
    echo $dir
  ]]

  it("reaches its own OpenSSL in a program that exports another #stock",
  function()
    local module = assert(package.searchpath("zklock.tls", package.cpath))
    local said = shell.output("(" .. FOREIGN:format(module) .. ") 2>&1")
    local dir = said:match "^(/%S+)\n$"
    assert(dir, said)
    support.closing(dir, function() shell.must("rm -r '" .. dir .. "'") end)
    local foreign = shell.output("grep -c 'SSL_new\\|EVP_' " .. dir
      .. "/foreign.c")
    assert.is_true(tonumber(foreign) > 20)
    local tls = ours:tls "web1"
    local process = child.spawn_with("LD_PRELOAD=" .. dir .. "/foreign.so", [[
      local hosts, ca, cert, key = ...
      local session = assert(zklock.connect(hosts, { tls = { ca = ca,
        cert = cert, key = key } }))
      say(session:state())
      session:close()
      os.exit(0, true)
    ]], at("localhost", 1), tls.ca, tls.cert, tls.key)
    assert.equal("connected", process:hear())
    assert.equal(0, process:wait())
  end)

  it("loads no OpenSSL where there is no option tls", function()
    local process = child.spawn [[
      local session = assert(zklock.connect(hosts))
      local maps = io.open "/proc/self/maps":read "*a"
      say(maps:find "libssl" ~= nil, package.loaded["zklock.tls"] ~= nil)
      session:close()
    ]]
    assert.equal("false\tfalse", process:hear())
    local core = assert(package.searchpath("zklock.core", package.cpath))
    assert.is_nil(shell.output("ldd " .. core):find "libssl")
  end)
end)

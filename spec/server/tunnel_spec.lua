-- doc/operations.md: locks through a tunnel, to servers that speak TLS; and
-- what the tunnel does not let through.  Every name is one of the page's.
local each = require "support.each"
local start_hostile = require "support.hostile".start
local start_server = require "support.server".start
local support = require "support"
local tunnel = require "support.tunnel"
local zklock = require "zklock"

local missing = tunnel.missing()

describe("The tunnel of doc/operations.md", function()
  if missing then return pending(missing) end

  local dir, other, servers, secure

  setup(function()
    dir = tunnel.certify()
    other = tunnel.certify() -- another CA's
    servers = start_server(3, tunnel.server_flags(dir))
    secure = {}
    for i = 1, 3 do
      secure[i] = "127.0.0.1:" .. servers:setting("secureClientPort", i)
    end
  end)
  teardown(function()
    servers:stop()
    os.execute(("rm -r '%s' '%s'"):format(dir, other))
  end)

  -- Nobody is reached through the tunnel, and `connect` says so in time; the
  -- tunnel's log says `why`.
  local function refused(through, why)
    local session, message, code = zklock.connect(through.hosts,
      { connect_timeout = 1 })
    assert.is_nil(session)
    assert.equal("disconnected", code, message)
    if why then through:expect(why) end
  end

  local function replace(pattern, by)
    return function(text)
      local changed, n = text:gsub(pattern, by)
      assert.is_true(n > 0)
      return changed
    end
  end

  it("carries the requests of the page's program", function()
    local through = tunnel.start(dir, secure)
    -- The first handshakes of new servers can take long on a busy machine.
    support.connect { hosts = through.hosts, connect_timeout = 60 }
    local said
    local environment = setmetatable({ print = function(text) said = text end },
      { __index = _G })
    local program, n = tunnel.block("lua", "through the tunnel"):gsub(
      "127[%d.:,]+/[^\"]*", through.hosts .. support.path())
    assert.equal(1, n)
    local chunk = assert((loadstring or load)(program, "doc", "t", environment))
    if setfenv then setfenv(chunk, environment) end
    chunk()
    assert.matches("^through the tunnel, with token %d+$", said)
  end)

  it("refuses, and is refused, for each reason", function()
    local foreign = replace("(CAfile = )" .. dir, "%1" .. other)
    local silent = start_hostile()
    silent:behave { kind = "silent" }
    each({
      { "refuses a server of another name", dir, secure[2], nil,
        "CERT: Subject checks failed" },
      { "refuses a server whose certificate another CA has signed", dir,
        secure[1], foreign, "certificate verify failed" },
      -- (Which alert it is depends on the release of Java.)
      { "is refused by the server without a certificate", dir, secure[1],
        replace("cert = [^\n]*", ""), " alert " },
      { "is refused by the server with one of another CA", dir, secure[1],
        replace("(cert = )" .. dir, "%1" .. other), " alert certificate" },
      { "does not speak with a plain server", dir, servers:host(1), nil,
        "SSL_connect" },
      { "gives up a server that is silent", dir, silent.hosts },
    }, function(row)
      refused(tunnel.start(row[2], { row[3] }, row[4]), row[5])
    end, true)
    local through = tunnel.start(dir, { silent.hosts, secure[2] })
    support.connect { hosts = through.hosts, session_timeout = 4 }
    through:expect "Connection reset: 0 byte(s) sent to TLS"
    -- It would take another name without checkHost.
    through = tunnel.start(dir, { secure[2] }, replace("checkHost", ";"))
    support.connect { hosts = through.hosts }
  end)

  it("may stand before the server, too", function()
    local server = tunnel.before(servers:host(1), dir)
    local through = tunnel.start(dir, { server.hosts })
    local guard = support.hold(support.path(), { hosts = through.hosts })
    assert.is_true(guard:verify())
    -- and lets no machine in without a certificate of the CA
    refused(tunnel.start(dir, { server.hosts }, replace("cert = [^\n]*", "")))
    server:expect "peer did not return a certificate"
    local foreign = replace("(cert = )" .. dir, "%1" .. other)
    refused(tunnel.start(dir, { server.hosts }, foreign))
    server:expect "certificate verify failed"
  end)

  it("gives the server a name, and an ACL keeps others out", function()
    local through, path = tunnel.start(dir, secure), support.path()
    local guard = support.hold(path, { hosts = through.hosts, acl = {
      { scheme = "x509", id = "CN=web1.example.com", perms = "cdrwa" },
    } })
    local stranger = support.connect { hosts = servers.hosts }
    assert.equal("denied", (select(3, stranger:mutex(path):acquire(30))))
    assert.equal("denied", (select(3, stranger:contenders(path))))
    local friend = support.connect { hosts = through.hosts }
    assert.equal(1, #friend:contenders(path))
    guard:release()
  end)
end)

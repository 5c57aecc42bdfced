-- The client library that has TLS, and why zklock does not use it: SECURITY.md.
-- `make tls` builds the library.
local child = require "support.child"
local start_hostile = require "support.hostile".start
local start_server = require "support.server".start
local support = require "support"
local tunnel = require "support.tunnel"

local built = os.getenv "SPEC_TLS"

describe("A client library that has TLS", function()
  if not built then return pending "make tls builds it" end

  local dir, other, servers, secure

  setup(function()
    dir, other = tunnel.certify(), tunnel.certify()
    servers = start_server(1, tunnel.server_flags(dir))
    secure = "127.0.0.1:" .. servers:setting "secureClientPort"
  end)
  teardown(function()
    servers:stop()
    os.execute(("rm -r '%s' '%s'"):format(dir, other))
  end)
  before_each(support.start)
  after_each(support.finish)

  -- What the library makes of the server `host`, trusting the CA of `trusted`;
  -- `store` is the CA of the system's.  Or with which status it dies.
  local function native(host, trusted, store, files)
    local web = dir .. "/web1.example.com.pem"
    local pipe = io.popen(("{ SSL_CERT_FILE='%s' '%s/native' %s "
      .. "'%s/ca.pem,%s,%s' 6 %s || echo $?; } 2>/dev/null"):format(store
      or "/dev/null", built, host, trusted, web, web, files or ""))
    local line = pipe:read "*l"
    pipe:close()
    return line
  end

  it("connects where the CA is the right one", function()
    assert.equal("connected 50 done", native(secure, dir))
  end)

  it("refuses one that another CA has signed", function()
    assert.matches("^0 refused", native(secure, other))
  end)

  it("refuses one that has expired", function()
    local old = tunnel.certify(dir)
    support.closing(old, function() os.execute("rm -r " .. old) end)
    local server = tunnel.before(servers:host(1), old)
    assert.matches("^0 refused", native(server.hosts, dir))
  end)

  it("checks no name", function()
    local server = tunnel.before(servers:host(1), dir, function(text)
      return (text:gsub("zk1%.example", "web1.example"))
    end)
    assert.matches("^connected", native(server.hosts, dir))
    assert.matches("^connected", native("localhost:" .. secure:match ":(.*)",
      dir))
  end)

  it("trusts the system's store as well", function()
    assert.equal("connected 50 done", native(secure, other, dir .. "/ca.pem"))
  end)

  it("never returns from a handshake that nobody answers", function()
    local silent = start_hostile()
    silent:behave { kind = "silent" }
    assert.equal("blocked", native(silent.hosts, dir))
  end)

  it("loses answers that share a record", function()
    local server = tunnel.before(servers:host(1), dir)
    assert.matches("^connected %d+ refused %-7$", native(server.hosts, dir))
  end)

  it("crashes where many files are open", function()
    assert.equal("connected 50 done", native(secure, dir, nil, 900))
    assert.is_true(tonumber(native(secure, dir, nil, 1100)) > 128) -- a signal
  end)

  it("does for zklock what any does, and TLS is unsupported", function()
    local process = child.spawn_with("LD_LIBRARY_PATH=" .. built, [[
      say(require "zklock.core".has_tls())
      say(select(3, zklock.connect(hosts, { tls = {} })))
      local session = assert(zklock.connect(hosts))
      say(assert(session:mutex(...):acquire(30)):release { wait = true })
      session:close()
    ]], support.path())
    for _, line in ipairs { "true", "unsupported", "true" } do
      assert.equal(line, process:hear())
    end
  end)
end)

-- HTTPS of nginx and TLS of zklock in one worker: both use libssl.
local certificates = require "support.certificates"
local nginx = require "nginx.server"
local shell = require "support.shell"
local start_server = require "support.server".start
local support = require "support"

-- Of each kind; `make ci-full` makes more.
local HANDSHAKES = tonumber(os.getenv "HANDSHAKES") or 100
local AT_ONCE = 50

local INIT = [[
  local tls = { ca = "$certificates/ca.pem",
    cert = "$certificates/web1.crt", key = "$certificates/web1.key" }
  options = { session_timeout = 30, tls = tls }
  function shake_hands(n)
    for _ = 1, n do
      assert(require("zklock").connect("$hosts", { session_timeout = 30,
        connect_timeout = 100, tls = tls })):close()
    end
  end
]]

local LOCATIONS = [[
  listen 127.0.0.1:$https ssl;
  ssl_certificate $certificates/server.crt;
  ssl_certificate_key $certificates/server.key;
  location = /lock { content_by_lua_block {
    assert(session(options):mutex(ngx.var.arg_path):acquire(30))
  } }
  location = /shake { content_by_lua_block {
    shake_hands(tonumber(ngx.var.arg_n))
    ngx.print(ngx.worker.pid())
  } }
]]

describe("nginx with HTTPS, whose worker has zklock with TLS,", function()
  if not nginx.ready(pending) then return end

  local ours, zookeeper, hosts, server, port

  setup(function()
    ours = certificates.new():add("server", "DNS:localhost,IP:127.0.0.1")
      :add "web1"
    -- The worker's user must own the key.
    shell.must(("cd '%s' && chmod a+x . && chmod a+r ca.pem web1.crt && "
      .. "if [ $(id -u) = 0 ]; then chown www-data web1.key; fi"):format(
      ours.dir))
    zookeeper = start_server(1, ours:flags "server")
    hosts = "localhost:" .. zookeeper:setting "secureClientPort"
  end)
  teardown(function()
    zookeeper:stop()
    ours:close()
  end)

  before_each(function()
    port = support.free_port()
    local function fill(text)
      return (text:gsub("%$certificates", ours.dir):gsub("%$https", port))
    end
    server = nginx.start { hosts = hosts, init = fill(INIT),
      server = fill(LOCATIONS) }
    server.may_complain = true -- of a server that is slow, and advice
  end)

  -- Each request has a connection and a handshake of its own.
  local function https(path)
    return shell.must(("curl -sS --max-time 120 --cacert '%s' -H "
      .. "'Connection: close' 'https://localhost:%d%s'"):format(
      ours:file "ca.pem", port, path))
  end

  -- So many of each kind.
  local function shake_hands(pid, n)
    for i = 1, n, AT_ONCE do
      local some = math.min(AT_ONCE, n - i + 1)
      assert.equal(tostring(pid), server:must("/shake?n=" .. some, 60))
      assert.equal(tostring(pid):rep(some), https("/pid?[1-" .. some .. "]"))
    end
  end

  it("has no more memory after many handshakes #stock", function()
    local pid = server:workers()[1]
    shake_hands(pid, AT_ONCE)
    local before = support.memory(pid)
    shake_hands(pid, HANDSHAKES)
    local after = support.memory(pid)
    assert(after < 1.3 * before, ("%d KiB, then %d KiB"):format(before, after))
    server:must("/lock?path=" .. support.path())
  end)
end)

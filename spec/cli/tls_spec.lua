-- TLS in the shell: where its files come from, and what `check` says of it.
local certificates = require "support.certificates"
local command = require "support.command"
local json = require "dkjson"
local start_server = require "support.server".start
local support = require "support"

describe("The command, with TLS,", function()
  local ours, server, hosts

  setup(function()
    ours = certificates.new()
    local function after(days)
      return os.date("!%Y%m%d%H%M%SZ", os.time() + days * 86400 + 3600)
    end
    ours:add("server", "DNS:localhost,DNS:zk1.example", "20200101000000Z",
      after(10))
    ours:add("web1", nil, "20200101000000Z", after(20))
    server = start_server(1, ours:flags "server")
    hosts = "localhost:" .. server:setting "secureClientPort"
  end)
  teardown(function()
    server:stop()
    ours:close()
  end)

  local function says(code, words, environment)
    table.insert(words, 1, "ls")
    words[#words + 1] = support.path()
    local said = command.run(words, { env = environment })
    assert.equal(code, said.code, said.err)
    return said.err
  end

  it("takes its files from options, from variables and from a file", function()
    local ca = ours:file "ca.pem"
    local cert, key = ours:file "web1.crt", ours:file "web1.key"
    says(0, { "-H", hosts, "--tls-ca", ca, "--tls-cert", cert, "--tls-key",
      key, "--tls-name", "zk1.example" })
    says(0, {}, { ZKLOCK_HOSTS = hosts, ZKLOCK_TLS_CA = ca,
      ZKLOCK_TLS_CERT = cert, ZKLOCK_TLS_KEY = key })
    -- (Names are relative to the file.)
    local settings = ours:file "zklock"
    local file = assert(io.open(settings, "w"))
    file:write("hosts = " .. hosts .. "\ntls_ca = ca.pem\ntls_cert = web1.crt\n"
      .. "tls_key = web1.key\n")
    file:close()
    says(0, {}, { XDG_CONFIG_HOME = ours.dir, ZKLOCK_HOSTS = "" })
    assert.matches("its certificate is for localhost, zk1.example, not "
      .. "zk2.example", says(77, { "--tls-name", "zk2.example" },
      { XDG_CONFIG_HOME = ours.dir, ZKLOCK_HOSTS = "" }), 1, true)
  end)

  it("refuses files that do not go together, or that others may read",
  function()
    local ca, key = ours:file "ca.pem", ours:file "web1.key"
    assert.matches("^zklock: %-%-tls%-key: TLS needs the authority",
      says(64, { "-H", hosts, "--tls-key", key }))
    assert.matches("^zklock: %-%-tls%-key: tls_cert and tls_key go together",
      says(64, { "-H", hosts, "--tls-ca", ca, "--tls-key", key }))
    local open = command.file("a key", "644")
    assert.matches("cannot use tls.key %(.-%): it may be used by others "
      .. "%(mode 644%): chmod 600 it", says(77, { "-H", hosts, "--tls-ca", ca,
      "--tls-cert", ours:file "web1.crt", "--tls-key", open }))
  end)

  it("shows in check what certificates the servers have, and until when",
  function()
    local words = { "check", "--json", "-H", hosts, "--tls-ca",
      ours:file "ca.pem", "--tls-cert", ours:file "web1.crt", "--tls-key",
      ours:file "web1.key", support.path() }
    local said = command.run(words)
    local found = json.decode(said.out)
    assert.equal(0, said.code, said.out)
    assert.is_true(found.tls.used)
    for _, one in ipairs(found.servers) do
      if one.version then
        assert.equal("localhost, zk1.example", one.certificate.names)
        assert.equal(10, one.certificate.days)
        assert.is_true(one.shares_data)
      end
    end
    local warnings = table.concat(found.warnings, "\n")
    assert.matches("expires on .*, in 10 days: renew it", warnings)
    assert.equal("web1", found.tls.certificate.names)
    assert.equal(20, found.tls.certificate.days)
    assert.matches("the certificate of tls.cert expires on " ..
      found.tls.certificate.expires .. ", in 20 days: renew it", warnings, 1,
      true)
    -- A plain port, and the port for TLS without TLS.
    words[4] = server.hosts
    found = json.decode(command.run(words).out)
    assert.matches("it may speak no TLS on this port", found.servers[1].problem,
      1, true)
    said = command.run { "check", "--json", "-H", hosts, "--connect-timeout",
      "0.2" }
    assert.matches("it may speak TLS on this port", said.out, 1, true)
  end)

  it("says in check that a certificate is outside its dates", function()
    local words = { "check", "-H", hosts, "--tls-ca", ours:file "ca.pem",
      "--tls-cert", ours:file "web1.crt", "--tls-key", ours:file "web1.key",
      "--connect-timeout", "30", support.path() }
    ours:add("web1", nil, "20200101000000Z", "20210204000000Z")
    for dates, text in pairs {
      ["20200101000000Z 20210203000000Z"] = "expired on 2021-02-03",
      ["20980304000000Z 20990101000000Z"] =
        "is not yet valid: it begins on 2098-03-04",
    } do
      ours:add("server", "DNS:localhost", dates:match "(%S+) (%S+)")
      server:restart()
      local said = command.run(words)
      assert.equal(77, said.code)
      assert.matches("warnings\n  the certificate of tls.cert expired on "
        .. "2021-02-04: renew it\n", said.out, 1, true)
      assert.matches("problems\n  " .. hosts .. " (127.0.0.1) its certificate "
        .. text .. "\n  ZooKeeper at " .. hosts
        .. " refuses this session: TLS fails", said.out, 1, true)
    end
  end)
end)

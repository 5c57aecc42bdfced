-- `zklock check` where the hosts are not one ensemble.
local command = require "support.command"
local json = require "dkjson"
local start_server = require "support.server".start
require "support"

describe("zklock check of two servers that stand alone", function()
  local one, two
  setup(function() one, two = start_server(1), start_server(1) end)
  teardown(function()
    one:stop()
    two:stop()
  end)

  -- The session goes to one of them.
  local function tells_apart(...)
    local found = json.decode(command.run { "check", "--json", "-H",
      one.hosts .. "," .. two.hosts, ... }.out)
    assert.equal(1, found.code)
    assert.equal(1, #found.problems, table.concat(found.problems, "\n"))
    local made_at, not_at = found.problems[1]:match("^data are not shared: the "
      .. "lock's node was made at (%S+), and is not at (%S+)%. They are not ")
    local hosts = { [one.hosts] = two.hosts, [two.hosts] = one.hosts }
    assert.equal(hosts[made_at], not_at, found.problems[1])
    assert.is_not_nil(made_at)
    for _, server in ipairs(found.servers) do
      assert.equal(("%s:%d"):format(server.host, server.port) == made_at,
        server.shares)
    end
  end

  it("says which does not share the other's data", function()
    tells_apart()
    tells_apart("--chroot", "/app/of/ours", "/locks/x")
    tells_apart("--auth-file", command.file("digest:ann:hunter2\n", "600"),
      "--acl", "creator", "/mine/x")
    local said = command.run { "check", "-H", one.hosts .. "," .. two.hosts }
    assert.equal(1, said.code)
    assert.is_nil(said.out:find("nothing is wrong", 1, true))
  end)

  it("finds nothing wrong where each host is the same server", function()
    local said = command.run { "check", "--json", "-H", one.hosts .. ","
      .. one.hosts:gsub("127.0.0.1", "localhost") }
    local found = json.decode(said.out)
    assert.equal(0, said.code, table.concat(found.problems, "\n"))
    for _, server in ipairs(found.servers) do
      assert.equal(server.version ~= nil or nil, server.shares)
    end
  end)
end)

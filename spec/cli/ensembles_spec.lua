-- `zklock check` where the hosts are not one ensemble.
local command = require "support.command"
local json = require "dkjson"
local start_server = require "support.server".start
local support = require "support"

describe("zklock check of two servers that stand alone #once #layer", function()
  local one, two
  setup(function() one, two = start_server(1), start_server(1) end)
  teardown(function()
    one:stop()
    two:stop()
  end)
  before_each(support.start)
  after_each(support.finish)

  local function check(...)
    local said = command.run { "check", "--json", "-H",
      one.hosts .. "," .. two.hosts, ... }
    return json.decode(said.out), said
  end

  -- The session goes to one of them.
  local function tells_apart(found)
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
    tells_apart(check())
    local said = command.run { "check", "-H", one.hosts .. "," .. two.hosts }
    assert.equal(1, said.code)
    assert.is_nil(said.out:find("nothing is wrong", 1, true))
  end)

  it("says so below a chroot, too", function()
    tells_apart(check("--chroot", "/app/of/ours", "/locks/x"))
  end)

  it("says so where nodes are their maker's only", function()
    local name = os.tmpname()
    local file = assert(io.open(name, "w"))
    file:write "digest:ann:hunter2\n"
    file:close()
    assert(os.execute("chmod 600 " .. name))
    support.closing(name, os.remove)
    tells_apart(check("--auth-file", name, "--acl", "creator", "/mine/x"))
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

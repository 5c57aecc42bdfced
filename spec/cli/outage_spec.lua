-- `zklock run` and servers that are gone, at each moment.
local runs = require "cli.runs"
local start_proxy = require "support.proxy".start
local support = require "support"

local ECHO = { "echo", "ran" }

local function allow(path, perms)
  support.zk():set_acl(path, { { perms = perms, scheme = "world",
    id = "anyone" } })
end

describe("zklock run", function()
  local function start(proxy, path, ...)
    return runs.start(path, ECHO, { "--session-timeout", "10", ... },
      { env = { ZKLOCK_HOSTS = proxy.hosts } })
  end

  local function check_ran(it, path)
    assert.equal(0, it:wait(), it:err())
    assert.equal("ran\n", it:out())
    support.wait_for_queue(path, 0)
  end

  it("runs the command once, wherever the connection breaks", function()
    local proxy, path = start_proxy(), support.path()
    -- The answers to all of it are some 500 bytes.
    for bytes = 1, 601, 40 do
      proxy:cut_after(bytes)
      check_ran(start(proxy, path), path)
      proxy:disarm()
    end
  end)

  it("exits with 69 if no server answers while it waits, in the end", function()
    local proxy, path = start_proxy(), support.path()
    local guard = support.hold(path)
    local it = start(proxy, path, "--timeout", "3")
    support.wait_for_queue(path, 2)
    proxy:refuse()
    assert.equal(69, it:wait(), it:err())
    assert.equal("", it:out())
    assert.matches("^zklock: .*no server", it:err())
    proxy:heal()
    guard:release { wait = true }
    runs.delete_node(path)
  end)

  it("exits with 77 where an ACL forbids it", function()
    local path = support.path()
    support.zk():make(path)
    allow(path, 17)
    local said = runs.run(path, ECHO)
    assert.equal(77, said.code)
    assert.equal("", said.out)
    assert.matches("^zklock: ZooKeeper refused .*" .. path:gsub("%p", "%%%0"),
      said.err)
    allow(path, 31)
  end)

  it("says that a run could not be noted", function()
    local path = support.path()
    support.zk():make(path:match "^(.*)/")
    support.zk():create(path .. ".once", { acl = { { perms = 1,
      scheme = "world", id = "anyone" } } })
    local said = runs.run(path, ECHO, { "--once-per", "0.001" })
    assert.equal("ran\n", said.out)
    assert.matches("^zklock: the run could not be noted, so the next one is "
      .. "not spared: ", said.err)
    assert.equal(0, said.code)
  end)
end)

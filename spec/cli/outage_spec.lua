-- `zklock run` and servers that are gone, at each moment.
local command = require "support.command"
local start_proxy = require "support.proxy".start
local support = require "support"

local function run(proxy, path, words, ...)
  local all = { "run", "--session-timeout", "10", ... }
  all[#all + 1] = path
  all[#all + 1] = "--"
  for _, word in ipairs(words) do all[#all + 1] = word end
  return command.start(all, { env = { ZKLOCK_HOSTS = proxy.hosts } })
end

describe("zklock run", function()
  before_each(support.start)
  after_each(support.finish)

  it("runs the command once, wherever the connection breaks", function()
    local proxy, path = start_proxy(), support.path()
    -- The answers to all of it are some 500 bytes.
    for bytes = 1, 601, 40 do
      proxy:cut_after(bytes)
      local it = run(proxy, path, { "echo", "ran" })
      assert.equal(0, it:wait(), it:err())
      assert.equal("ran\n", it:out())
      proxy:disarm()
      support.wait_for_queue(path, 0)
    end
  end)

  for _, kind in ipairs { "create", "list" } do
    it(("runs the command once, if the answer to a %s is lost"):format(kind),
      function()
        local proxy, path = start_proxy(), support.path()
        proxy:lose_reply(kind)
        local it = run(proxy, path, { "echo", "ran" })
        proxy:await_loss()
        proxy:heal()
        assert.equal(0, it:wait(), it:err())
        assert.equal("ran\n", it:out())
        support.wait_for_queue(path, 0)
      end)
  end

  it("exits with 69 if no server answers while it waits, in the end", function()
    local proxy, path = start_proxy(), support.path()
    local guard = support.hold(path)
    local it = run(proxy, path, { "echo", "ran" }, "--timeout", "3")
    support.wait_for_queue(path, 2)
    proxy:refuse()
    assert.equal(69, it:wait(), it:err())
    assert.equal("", it:out())
    assert.matches("^zklock: .*no server", it:err())
    proxy:heal()
    guard:release()
    for _, name in ipairs(support.zk():queue(path)) do
      support.zk():delete(path .. "/" .. name)
    end
  end)

  it("waits on while servers are away, if it has the time", function()
    local proxy, path = start_proxy(), support.path()
    local guard = support.hold(path)
    local it = run(proxy, path, { "echo", "ran" })
    support.wait_for_queue(path, 2)
    proxy:refuse()
    guard:release()
    proxy:heal()
    assert.equal(0, it:wait())
    assert.equal("ran\n", it:out())
  end)

  it("exits with 77 where an ACL forbids it", function()
    local path = support.path()
    support.zk():make(path)
    support.zk():set_acl(path, { { perms = 17, scheme = "world",
      id = "anyone" } })
    local said = command.run { "run", path, "--", "echo", "ran" }
    assert.equal(77, said.code)
    assert.equal("", said.out)
    assert.matches("^zklock: ZooKeeper refused .*" .. path:gsub("%p", "%%%0"),
      said.err)
    support.zk():set_acl(path, { { perms = 31, scheme = "world",
      id = "anyone" } })
  end)

  for _, what in ipairs { "exists", "set_if" } do
    it(("asks again when the run was, if an answer is lost: %s"):format(what),
      function()
        local proxy, path = start_proxy(), support.path()
        proxy:lose_reply(what)
        local it = run(proxy, path, { "echo", "ran" }, "--once-per", "1h")
        proxy:await_loss()
        proxy:heal()
        assert.equal(0, it:wait(), it:err())
        assert.equal("ran\n", it:out())
        assert.equal("", command.run({ "run", "--once-per", "1h", path, "--",
          "echo", "ran" }).out)
      end)
  end

  it("says that a run could not be noted", function()
    local path = support.path()
    support.zk():make(path:match "^(.*)/")
    support.zk():create(path .. ".once", { acl = { { perms = 1,
      scheme = "world", id = "anyone" } } })
    local said = command.run { "run", "--once-per", "0.001", path, "--", "echo",
      "ran" }
    assert.equal("ran\n", said.out)
    assert.matches("^zklock: the run could not be noted, so the next one is "
      .. "not spared: ", said.err)
    assert.equal(0, said.code)
  end)
end)

-- What a newcomer tries first: the configurations of the pages and of the
-- reference, as they are, and the example.  (That the pages' answer is for
-- spec/documents.)
local luajit = require "support.luajit"
local nginx = require "nginx.server"
local output = require "support.shell".output
local reader = require "documents.reader"
local reference = require "support.reference"
local start_server = require "support.server".start
local support = require "support"

local root = os.getenv "SPEC_ROOT" or "."

describe("a newcomer to nginx", function()
  if not nginx.ready(pending) then return end

  it("is answered 503 while ZooKeeper is away, finds in the log why, and is "
    .. "answered 200 when it is back", function()
    local zookeeper = support.closing(start_server())
    zookeeper:kill()
    local servers = { nginx.paste(zookeeper.hosts) }
    if not nginx.no_place() then
      servers[2] = nginx.start_page(reader.block(root .. "/README.md", "nginx"),
        zookeeper.hosts)
    end
    for _, server in ipairs(servers) do
      server.may_complain = true
      for i = 1, 2 do
        assert.equal(503, select(2, server:get("/orders?user=" .. i)))
        assert.matches(("zklock: no server of %s answered within 2 s, waiting "
          .. "for /locks/user-=%d= (last error: "):format(zookeeper.hosts, i),
          server:log(), 1, true)
      end
    end
    zookeeper:restart()
    for _, server in ipairs(servers) do
      local workers = server:workers()
      support.wait_until(function()
        return select(2, server:get "/orders?user=ann") == 200
      end, 20, "an answer")
      assert.same(workers, server:workers())
    end
  end)

  it("is answered 503 when a lock is not granted in time, as the log says",
  function()
    local prefix = support.path()
    local server = nginx.paste(support.hosts .. prefix)
    local guard = support.hold(prefix .. "/locks/user-=8=")
    server.may_complain = true
    assert.equal(503, select(2, server:get "/orders?user=8"))
    assert.matches("zklock: timed out after 2 s waiting for /locks/user-=8= (1 "
      .. "ahead", server:complaints(), 1, true)
    guard:release()
    assert.matches("token " .. ("%d"):rep(19), server:must "/orders?user=8")
  end)

  it("runs the reference's example of each function that has one", function()
    local own, n = "zk1:2181,zk2:2181,zk3:2181/app", 0
    for _, entry in ipairs(reference.functions(reference.read())) do
      local name = reference.name(entry)
      local example = entry.example
      if example and example.language == "nginx" then
        local code = example.code
        local server = nginx.start { server = code:gsub(own:gsub("%p", "%%%0"),
          support.hosts .. support.path()) }
        assert.truthy(server:must(code:match "location =? ?(/%S+)"), name)
        n = n + 1
      end
    end
    assert.is_true(n >= 3)
  end)

  -- (Of the modules nginx loads one.)
  it("runs the example", function()
    local said = output(("MAKEFLAGS='-- MODULES=%s/zklock/core.so' BUILD='%s' "
      .. "ZKLOCK_HOSTS='%s' bash '%s/examples/nginx/run' 2>&1 </dev/null")
      :format(luajit.build(), luajit.root, support.hosts .. support.path(),
      root))
    assert.equal("all is well", said:match "([^\n]*)\n$", said)
  end)
end)

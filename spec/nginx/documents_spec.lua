-- What a newcomer tries first: the configurations of the pages, as they are,
-- and the example.  (That they answer is for spec/documents.)
local nginx = require "nginx.server"
local reader = require "documents.reader"
local start_server = require "support.server".start
local support = require "support"

local root = os.getenv "SPEC_ROOT" or "."

describe("a newcomer to nginx", function()
  if not nginx.ready(pending, before_each, after_each, teardown) then return end

  local function start_readme(...)
    return nginx.start_page(reader.block(root .. "/README.md", "nginx"), ...)
  end

  it("is answered 503 while ZooKeeper is away, finds in the log why, and is "
    .. "answered 200 when it is back", function()
    local zookeeper = support.closing(start_server(), function(s) s:stop() end)
    zookeeper:kill()
    local servers = { nginx.paste(zookeeper.hosts) }
    if not nginx.no_place() then
      servers[2] = start_readme(zookeeper.hosts)
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
      .. "ahead of us", server:complaints(), 1, true)
    guard:release()
    assert.matches("token " .. ("%d"):rep(19), server:must "/orders?user=8")
  end)

  it("types README's where the Lua module is built in, as in OpenResty",
  function()
    if nginx.no_place() then return pending(nginx.no_place()) end
    local server = start_readme(support.hosts .. support.path(), true)
    assert.truthy(server:must "/orders?user=ann":find "token %d+\n$")
  end)

  it("runs the example", function()
    local build = assert(package.searchpath("zklock.core", package.cpath))
      :match "^(.*)/%a+/[^/]*/zklock/core%.so$"
    local pipe = io.popen(("BUILD='%s' ZKLOCK_HOSTS='%s' bash "
      .. "'%s/examples/nginx/run' 2>&1 </dev/null"):format(build,
      support.hosts .. support.path(), root))
    local output = pipe:read "*a"
    pipe:close()
    assert.equal("all is well", output:match "([^\n]*)\n$", output)
  end)
end)

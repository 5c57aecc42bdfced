-- What a newcomer tries first: the snippet of doc/loops.md, as it is, and the
-- example.
local nginx = require "nginx.server"
local reader = require "documents.reader"
local start_server = require "support.server".start
local support = require "support"

local root = os.getenv "SPEC_ROOT" or "."

local missing = nginx.missing()

describe("a newcomer to nginx", function()
  if missing then return pending(missing) end
  teardown(nginx.uninstall)
  before_each(support.start)
  after_each(support.finish)

  it("pastes the page's snippet into a server", function()
    local prefix = support.path()
    local server = nginx.paste(support.hosts .. prefix)
    local guard, holder = support.hold(prefix .. "/locks/user-=7=")
    local waiting = server:begin "/orders?user=7"
    support.wait_for_queue(prefix .. "/locks/user-=7=", 2)
    assert.is_true(waiting:is_open())
    guard:release()
    local body, status = waiting:answer()
    assert.are.equal(200, status)
    assert.truthy(body:find "%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d")
    -- Not granted in time.
    assert(holder:mutex(prefix .. "/locks/user-=8="):acquire(30))
    server.may_complain = true
    assert.are.equal(503, select(2, server:get "/orders?user=8"))
    assert.truthy(server:complaints():find(
      "zklock: timed out after 2 s waiting for /locks/user-=8= (1 ahead of us",
      1, true))
  end)

  it("is answered 503 while ZooKeeper is away, and 200 when it is back",
  function()
    local zookeeper = support.closing(start_server(), function(s) s:stop() end)
    zookeeper:kill()
    local server = nginx.paste(zookeeper.hosts)
    local workers = server:workers()
    server.may_complain = true
    assert.are.equal(503, select(2, server:get "/orders?user=7"))
    assert.truthy(server:complaints():find(("zklock: no server of %s answered "
      .. "within 2 s, waiting for /locks/user-=7= (last error: "):format(
      zookeeper.hosts), 1, true), server:complaints())
    zookeeper:restart()
    support.wait_until(function()
      return select(2, server:get "/orders?user=7") == 200
    end, 20, "an answer")
    assert.are.same(workers, server:workers())
  end)

  it("types README's nginx.conf, and finds in its log why it is refused",
  function()
    if nginx.no_place() then return pending(nginx.no_place()) end
    local zookeeper = support.closing(start_server(), function(s) s:stop() end)
    local server = nginx.start_page(reader.block(root .. "/README.md", "nginx"),
      zookeeper.hosts)
    assert.truthy(server:must "/orders?user=ann":find "token %d+\n$")
    zookeeper:kill()
    server.may_complain = true
    for i = 1, 3 do
      assert.are.equal(503, select(2, server:get("/orders?user=" .. i)))
      assert.truthy(server:log():find(("zklock: no server of %s answered "
        .. "within 2 s, waiting for /locks/user-=%d= (last error: "):format(
        zookeeper.hosts, i), 1, true), server:log())
    end
    zookeeper:restart()
    support.wait_until(function()
      return select(2, server:get "/orders?user=ann") == 200
    end, 20, "an answer")
  end)

  it("types it where the Lua module is built in, as in OpenResty", function()
    if nginx.no_place() then return pending(nginx.no_place()) end
    local server = nginx.start_page(reader.block(root .. "/README.md", "nginx"),
      support.hosts .. support.path(), true)
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
    assert.are.equal("all is well", output:match "([^\n]*)\n$", output)
  end)
end)

-- Handlers and timers of nginx that wait at barriers, and how that ends.
local kinds = require "integration.family.kinds"
local nginx = require "nginx.server"
local support = require "support"

local SERVER = [[
  location = /wait { content_by_lua_block {
    local ok, message, code = barrier():wait(tonumber(ngx.var.arg_seconds))
    ngx.print(code or tostring(ok))
  } }
  location = /wait-in-access {
    access_by_lua_block { assert(barrier():wait(60)) }
    content_by_lua_block { ngx.print "through" }
  }
  location = /beside { content_by_lua_block {
    local path = ngx.var.arg_path
    ngx.thread.spawn(function() session():barrier(path):wait() end)
    barrier():wait_async(function() said = "called" end)
    ngx.sleep(tonumber(ngx.var.arg_seconds))
    ngx.exit(204)
  } }
  location = /set { content_by_lua_block {
    ngx.print(select(2, barrier():set()))
  } }
  location = /lift { content_by_lua_block {
    ngx.print(select(2, barrier():lift()))
  } }
  location = /timer { content_by_lua_block {
    local path = ngx.var.arg_path
    ngx.timer.at(0, function()
      said = "in the timer"
      said = tostring(session():barrier(path):wait(60))
    end)
  } }
  location = /enter { content_by_lua_block {
    local gate = session():double_barrier(ngx.var.arg_path, 2)
    local guard, _, code = gate:enter(tonumber(ngx.var.arg_seconds))
    if not guard then return ngx.print(code) end
    ngx.sleep(0.02)
    local left, _, why = gate:leave(tonumber(ngx.var.arg_seconds))
    ngx.print(why or tostring(left))
  } }
  location = /inside { content_by_lua_block {
    local gate = session():double_barrier(ngx.var.arg_path, 2)
    keep(assert(gate:enter(60)))
    said = "inside"
    ngx.sleep(60)
  } }
  location = /leaves { content_by_lua_block {
    local gate = session():double_barrier(ngx.var.arg_path, 2)
    keep(assert(gate:enter(60)))
    said = "leaving"
    gate:leave(60)
    said = "left"
  } }
  location = /said { content_by_lua_block { ngx.print(said) } }
]]

-- Guards stay reachable: only the end of the request can end their holds.
local INIT = [[
  said = "nothing"
  function barrier() return session():barrier(ngx.var.arg_path) end
  local all = {}
  function keep(guard) all[#all + 1] = guard end
]]

describe("in nginx at a barrier", function()
  if not nginx.ready(pending, before_each, after_each, teardown) then return end
  before_each(function() kinds.start() end)

  local server, path, query

  local function start()
    path = support.path()
    query = "?path=" .. path
    server = nginx.start { server = SERVER, init = INIT }
  end

  local function await_watches(n)
    support.wait_until(function()
      return support.count_watches(path) == n
    end, 10, n .. " watches")
  end

  local function await_word(word)
    support.wait_until(function() return server:must "/said" == word end, 10,
      word)
  end

  it("handlers wait, and are let through together", function()
    start()
    assert.equal("true", server:must("/wait" .. query))
    assert.equal("true", server:must("/set" .. query))
    assert.equal("false", server:must("/set" .. query))
    local requests = {}
    for i = 1, 10 do
      requests[i] = server:begin((i == 1 and "/wait-in-access" or "/wait")
        .. query)
    end
    await_watches(1)
    assert.equal("timeout", server:must("/wait" .. query .. "&seconds=0.1"))
    assert.equal("timeout", server:must("/wait" .. query .. "&seconds=0"))
    for _, request in ipairs(requests) do assert.is_true(request:is_open()) end
    assert.equal("true", server:must("/lift" .. query))
    for i, request in ipairs(requests) do
      assert.equal(i == 1 and "through" or "true", (request:answer()))
    end
    await_watches(0)
  end)

  it("a wait ends with its request, when the client has gone", function()
    start()
    server:must("/set" .. query)
    for _, place in ipairs { "/wait", "/wait-in-access" } do
      local request = server:begin(place .. query)
      await_watches(1)
      request:abort()
      await_watches(0)
    end
    assert.is_table(support.zk():exists(path)) -- it is still set
    local request = server:begin("/wait" .. query)
    await_watches(1)
    server:must("/lift" .. query)
    assert.equal("true", (request:answer()))
  end)

  it("waits beside it end with a request, uncalled", function()
    start()
    server:must("/set" .. query)
    server:begin("/beside" .. query .. "&seconds=0.2"):answer()
    await_watches(0)
    local request = server:begin("/beside" .. query .. "&seconds=60")
    await_watches(1)
    request:abort()
    await_watches(0)
    server:must("/lift" .. query)
    assert.equal("nothing", server:must "/said")
  end)

  it("timers wait, and a worker that is to exit lets them", function()
    start()
    server:must("/set" .. query)
    server:must("/timer" .. query)
    await_word "in the timer"
    await_watches(1)
    local old = server:workers()
    server:signal "HUP"
    support.wait_until(function()
      return #server:workers() == 2 -- the new one, and the one that waits
    end, 10, "a new worker")
    await_watches(1)
    support.zk():delete(path)
    nginx.await_end(old, 10)
    await_watches(0)
  end)

  it("two requests enter a double barrier and leave it together", function()
    start()
    assert.equal("timeout",
      server:must("/enter" .. query .. "&seconds=0.1"))
    for _ = 1, 3 do
      local one = server:begin("/enter" .. query .. "&seconds=60")
      kinds.wait_for_nodes(path, 1)
      assert.is_true(one:is_open())
      assert.equal("true",
        server:must("/enter" .. query .. "&seconds=60"))
      assert.equal("true", (one:answer()))
      kinds.wait_for_nodes(path, 0)
    end
  end)

  it("a request that ends is no member any more", function()
    start()
    -- While it waits for the others to come,
    local request = server:begin("/enter" .. query)
    kinds.wait_for_nodes(path, 1)
    request:abort()
    kinds.wait_for_nodes(path, 0)
    await_watches(0)
    -- while it is inside,
    local session = support.connect()
    for place, word in pairs { ["/inside"] = "inside",
      ["/leaves"] = "leaving" } do
      local member = kinds.wait_in({ _session = session,
        acquire_async = function(_, _, callback)
          return session:double_barrier(path, 2):enter_async(callback)
        end })
      request = server:begin(place .. query)
      kinds.await(member)
      await_word(word)
      -- or for the others to leave.
      request:abort()
      kinds.wait_for_nodes(path, 1)
      assert.is_true(session:double_barrier(path, 2)
        :leave { guard = member.guard, timeout = 30 })
      kinds.wait_for_nodes(path, 0)
      assert.equal(word, server:must "/said")
    end
  end)
end)

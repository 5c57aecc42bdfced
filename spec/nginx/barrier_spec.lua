-- Handlers and timers of nginx that wait at barriers, and how that ends.
local kinds = require "integration.family.kinds"
local nginx = require "nginx.server"
local support = require "support"

local SERVER = [[
  location = /wait { content_by_lua_block { assert(barrier():wait(60)) } }
  location = /enter { content_by_lua_block {
    session():double_barrier(ngx.var.arg_path, 2):enter(60)
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
  location = /timer { content_by_lua_block {
    local path = ngx.var.arg_path
    ngx.timer.at(0, function()
      said = "in the timer"
      said = tostring(session():barrier(path):wait(60))
    end)
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

  it("a wait ends with its request, uncalled", function()
    start()
    local barrier = support.connect():barrier(path)
    assert(barrier:set())
    for _, place in ipairs { "/wait", "/wait-in-access", "/beside" } do
      local request = server:begin(place .. query .. "&seconds=60")
      await_watches(1)
      assert.is_true(request:is_open(), place)
      request:abort()
      await_watches(0)
    end
    server:begin("/beside" .. query .. "&seconds=0.2"):answer()
    await_watches(0)
    assert.is_true(barrier:is_set())
    local request = server:begin("/wait-in-access" .. query)
    await_watches(1)
    assert(barrier:lift())
    assert.equal("through", (request:answer()))
    assert.equal("nothing", server:must "/said")
  end)

  it("timers wait, and a worker that is to exit lets them", function()
    start()
    assert(support.connect():barrier(path):set())
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

-- A request may end in many ways; what waits and holds in its name ends too.
local each = require "support.each"
local kinds = require "integration.family.kinds"
local nginx = require "nginx.server"
local support = require "support"

-- Each leaves a hold behind, when the client has said so or at once: what the
-- location has, or only the code of its content.
local HOLDING = {
  ["a normal end"] = [[ hold() ngx.print "bye" ]],
  ["an error"] = [[ hold() error "on purpose" ]],
  ["ngx.exit"] = [[ hold() ngx.exit(204) ]],
  ["ngx.exit in access"] = [[ access_by_lua_block { hold() ngx.exit(403) } ]],
  ["ngx.exec"] = [[ hold() ngx.exec "/pid" ]],
  ["ngx.redirect"] = [[ hold() ngx.redirect "/pid" ]],
  ["a client that has gone"] = [[
    hold()
    ngx.sleep(60) -- until the client has gone
  ]],
  ["a client that has gone, unnoticed"] = [[
    lua_check_client_abort off;
    content_by_lua_block {
      hold()
      await_go()
      ngx.say "nobody hears this"
    } ]],
  ["a timer's end"] = [[
    local path = ngx.var.arg_path
    ngx.timer.at(0, function() hold(path) end) ]],
  ["an error in a timer"] = [[
    local path = ngx.var.arg_path
    ngx.timer.at(0, function()
      hold(path)
      error "on purpose"
    end) ]],
  ["a thread that was killed"] = [[
    local path = ngx.var.arg_path
    local thread = ngx.thread.spawn(function()
      hold(path)
      ngx.sleep(60) -- until it is killed
    end)
    while not kept do ngx.sleep(0.01) end
    ngx.thread.kill(thread) ]],
  ["a subrequest"] = [[
    ngx.location.capture("/sub", { args = { path = ngx.var.arg_path } }) ]],
}

-- Each ends while a wait is under way.
local WAITING = {
  ["a client that has gone"] = [[ assert(lock():acquire(60)) ]],
  ["a client that has gone in access"] = [[
    access_by_lua_block { assert(lock():acquire(60)) }
    content_by_lua_block { ngx.print "granted" } ]],
  ["ngx.exit beside it"] = [[ wait_beside() ngx.exit(204) ]],
  ["ngx.exec beside it"] = [[ wait_beside() ngx.exec "/pid" ]],
  ["an error beside it"] = [[ wait_beside() error "on purpose" ]],
  ["a client that has gone while it hears of the wait"] = [[
    local path = ngx.var.arg_path
    session():on_trace(function(event)
      if event.path == path and event.what == "wait" then
        ngx.sleep(60) -- until the client has gone
      end
    end)
    assert(lock():acquire(60)) ]],
  ["its end while a callback is awaited"] = [[
    lock():acquire_async(function() said = "called" end)
    await_go() ]],
}

-- Guards stay reachable: only the end of the request can end their holds.
local INIT = [[
  local all
  function reset()
    kept = false
    go = false -- who waits for that may end
    said = "nothing"
    all = {}
  end
  reset()
  function keep(guard)
    kept = true
    all[#all + 1] = guard
  end
  function hold(path)
    keep(assert((path and session():mutex(path) or lock()):acquire(30)))
  end
  function last() return all[#all] end
  function await_go()
    while not go do ngx.sleep(0.01) end
  end
  function wait_beside()
    local path = ngx.var.arg_path
    ngx.thread.spawn(function() session():mutex(path):acquire(60) end)
    await_go()
  end
]]

describe("a request of nginx ends", function()
  if not nginx.ready(pending) then return end

  local function start(server, more)
    more = more or {}
    more.server = server .. [[
      location = /sub { content_by_lua_block { hold() } }
      location = /state { content_by_lua_block {
        ngx.print(last() and last():state() or "none", " ", said)
      } }
      location = /go { content_by_lua_block { go = true } }
      location = /reset { content_by_lua_block { reset() } } ]]
    more.init = INIT .. (more.init or "")
    return nginx.start(more)
  end

  -- Each way in turn, in one nginx, on a path of its own.
  local function each_way(ways, check)
    local locations, names = {}, {}
    for name, what in pairs(ways) do
      names[#names + 1] = name
      locations[#names] = ("location = /%d { %s }\n"):format(#names,
        what:find "_by_lua_block" and what
          or "content_by_lua_block {" .. what .. "}")
    end
    local server = start(table.concat(locations))
    server.may_complain = true
    for i, name in ipairs(names) do names[i] = { name, i } end
    each(names, function(row, name)
      local path = support.path()
      server:must "/reset"
      check(server, ("/%d?path=%s"):format(row[2], path), path,
        name:find "client" ~= nil)
    end, true)
    for line in server:complaints():gmatch "%f[^\n\0]%d+/[^\n]+" do
      assert.matches("on purpose", line, 1, true)
    end
  end

  it("with its hold", function()
    each_way(HOLDING, function(server, url, path, of_client)
      local request = server:begin(url)
      if of_client then
        server:await("/state", "held nothing")
        request:abort()
        server:must "/go"
      else
        request:answer()
      end
      local mutex = support.connect():mutex(path)
      -- The session lives on: it is not its end that ends the hold.
      assert(assert(mutex:acquire(30)):release())
      server:await("/state", "released nothing")
    end)
  end)

  it("with its wait", function()
    each_way(WAITING, function(server, url, path, of_client)
      local guard = support.hold(path)
      local request = server:begin(url)
      support.wait_for_queue(path, 2)
      server:must "/go"
      if of_client then request:abort() else request:answer() end
      support.wait_for_queue(path, 1)
      guard:release()
      support.wait_for_queue(path, 0)
      assert.equal("none nothing", server:must "/state")
    end)
  end)

  it("with its wait at a barrier, and its place in a double barrier", function()
    local server, path = start([[
      location = /wait { content_by_lua_block { assert(barrier():wait(60)) } }
      location = /beside { content_by_lua_block {
        barrier():wait_async(function() said = "called" end)
        await_go()
        ngx.exit(204)
      } }
      location = /inside { content_by_lua_block {
        local gate = session():double_barrier(ngx.var.arg_path .. "-2", 1)
        keep(assert(gate:enter(60)))
        ngx.sleep(60) -- until the client has gone
      } } ]], { init = [[
        function barrier() return session():barrier(ngx.var.arg_path) end
      ]] }), support.path()
    assert(support.connect():barrier(path):set())
    for _, place in ipairs { "/wait", "/beside" } do
      local request = server:begin(place .. "?path=" .. path)
      support.await_watches(path, 1)
      assert.is_true(request:is_open(), place)
      if place == "/wait" then request:abort() else server:must "/go" end
      support.await_watches(path, 0)
    end
    assert.equal("none nothing", server:must "/state")
    local request = server:begin("/inside?path=" .. path)
    kinds.wait_for_nodes(path .. "-2", 1)
    request:abort()
    kinds.wait_for_nodes(path .. "-2", 0)
  end)

  it("and the next one inherits nothing from its coroutine", function()
    local server, path = start [[
      location = /leave { content_by_lua_block {
        ngx.print(hold() or last():token())
      } }
      location = /find { content_by_lua_block {
        local ok, problem = pcall(lock().release, lock())
        local guard = assert(lock():acquire(30))
        ngx.print(tostring(ok), " ", guard:token(), " ", tostring(problem))
      } } ]], support.path()
    for _ = 1, 30 do
      local first = server:must("/leave?path=" .. path)
      local second = server:must("/find?path=" .. path)
      assert.truthy(second:find "^false %d+ .*not held by the calling task")
      assert.is_true(second:match "%d+" > first)
    end
  end)

  it("without its callbacks being called", function()
    local server, path = start [[
      location = /listen { content_by_lua_block {
        local guard = assert(lock():acquire(30))
        guard:on_lost(function() said = "lost" end)
        guard:on_revoke(function() said = "revoked" end)
        keep(guard)
        await_go()
      } } ]], support.path()
    local session = support.connect()
    -- While it lives they are.
    local request = server:begin("/listen?path=" .. path)
    support.wait_for_queue(path, 1)
    assert.equal(1, session:revoke(path))
    server:await("/state", "held revoked")
    local zk = support.zk()
    zk:delete(path .. "/" .. zk:queue(path)[1])
    server:await("/state", "lost lost")
    server.may_complain = true -- of the loss
    request:abort()
    -- One whose hold is lost, and asked for, as it ends.
    server:must "/state"
    local ending = server:begin("/listen?path=" .. path)
    support.wait_until(function() return server:must "/state":find "^held" end)
    session:revoke(path)
    server:must "/go"
    ending:answer()
    support.wait_for_queue(path, 0)
  end)

  it("and passes its lock on to nobody, whose thread was killed", function()
    -- (What a killed request leaves of its local variables is not for others.)
    local server, path = start([[
      location = /hold { content_by_lua_block {
        session():on_trace(trace)
        keep(assert(session():mutex(ngx.var.arg_path, { local_turns = 5 })
          :acquire(30)))
        ngx.sleep(60) -- until the client has gone
      } }
      location = /kill { content_by_lua_block {
        session():on_trace(trace)
        local path = ngx.var.arg_path
        local thread = ngx.thread.spawn(function()
          session():mutex(path, { local_turns = 5 }):acquire(60)
        end)
        ngx.sleep(0.2) -- it waits by now, or will
        ngx.thread.kill(thread)
        trace { what = "killed" }
        ngx.sleep(60) -- until the client has gone
      } }
      location = /told { content_by_lua_block {
        ngx.print(table.concat(told, " "))
      } } ]], { init = [[
        told = {}
        function trace(event) told[#told + 1] = event.what end
      ]] }), support.path()
    local function await_told(words) server:await("/told", words) end
    local holding = server:begin("/hold?path=" .. path)
    await_told "wait grant"
    local other = server:begin("/kill?path=" .. path)
    await_told "wait grant wait killed"
    holding:abort()
    support.wait_for_queue(path, 0)
    await_told "wait grant wait killed release refuse"
    other:abort()
    -- Nor does a grant from another process stay, while the request goes on.
    path = path .. "-2"
    local guard, holder = support.hold(path)
    local request = server:begin("/kill?path=" .. path)
    support.wait_for_queue(path, 2)
    support.wait_until(function()
      return select(2, server:must "/told":gsub("killed", "")) == 2
    end)
    guard:release()
    assert(assert(holder:mutex(path):acquire(30)):release())
    assert.is_true(request:is_open())
    request:abort()
  end)

  -- (nginx runs log_by_lua between a request's end and zklock's turn.)
  it("with its hold counted, though its guard is garbage by then", function()
    local server, path = start([[
      location = /hold {
        content_by_lua_block {
          local guard = assert(lock():acquire(60))
          held = held + 1
          ngx.sleep(60) -- until the client has gone
          guard:release()
        }
        log_by_lua_block { collectgarbage() collectgarbage() }
      }
      location = /count { content_by_lua_block {
        local text, all = session():metrics(), { held }
        for _, name in ipairs { "wait_seconds_count", "hold_seconds_count" } do
          local sum = 0
          for n in text:gmatch("zklock_lock_" .. name .. "{.-} (%d+)") do
            sum = sum + n
          end
          all[#all + 1] = sum
        end
        ngx.print(table.concat(all, " "))
      } } ]], { init = "held = 0 " }), support.path()
    local requests, n = {}, 100
    for i = 1, n do
      requests[i] = server:begin(("/hold?path=%s-%d"):format(path, i))
    end
    local function await_count(holds)
      server:await("/count", ("%d %d %d"):format(n, n, holds))
    end
    await_count(0)
    for _, request in ipairs(requests) do request:abort() end
    await_count(n)
  end)

  it("with the hold of a thread that it has killed, and not before", function()
    local server, path = start [[
      location = /kill { content_by_lua_block {
        local path = ngx.var.arg_path
        local thread = ngx.thread.spawn(function()
          local guard = assert(session():mutex(path):acquire(30))
          kept = true
          ngx.sleep(60) -- until it is killed
          guard:release()
        end)
        while not kept do ngx.sleep(0.01) end
        ngx.thread.kill(thread)
        thread = nil
        collectgarbage()
        collectgarbage()
        said = #session():mutex(path):holders() .. " holder"
        await_go()
      } } ]], support.path()
    local request = server:begin("/kill?path=" .. path)
    server:await("/state", "none 1 holder")
    server:must "/go"
    request:answer()
    support.wait_for_queue(path, 0)
  end)

  it("by log_by_lua where nginx cannot tell", function()
    local server, path = start([[
      location = /leave {
        content_by_lua_block {
          lock():acquire_async(function() said = "called" end)
          keep(assert(session():mutex(ngx.var.arg_path .. "-held"):acquire(30)))
        }
        log_by_lua_block { require("zklock.ngx").cleanup() }
      } ]], { init = [[
        local core = require "zklock.core"
        local open = core.open
        core.open = function(...)
          local handle = open(...)
          local methods = debug.getmetatable(handle).__index
          methods.request = function() end
          return handle
        end ]] }), support.path()
    local guard = support.hold(path)
    for _ = 1, 5 do
      server:must("/leave?path=" .. path)
      support.wait_for_queue(path, 1)
      support.wait_for_queue(path .. "-held", 0)
    end
    guard:release()
    assert.equal("released nothing", server:must "/state")
  end)
end)

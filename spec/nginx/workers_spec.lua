-- Workers come and go; locks pass on.
local nginx = require "nginx.server"
local support = require "support"

local SERVER = [[
  location = /hold { content_by_lua_block {
    local guard = assert(lock():acquire(20))
    if ngx.var.arg_seconds then ngx.sleep(tonumber(ngx.var.arg_seconds)) end
    ngx.print(ngx.worker.pid(), " ", guard:state())
    guard:release()
  } }
  # Leaves the release to the end of the request.
  location = /leave { content_by_lua_block {
    assert(lock():acquire(20))
    ngx.print(ngx.worker.pid())
  } }
  # The worker's first lock, when it has begun to exit.
  location = /late { content_by_lua_block {
    ngx.log(ngx.NOTICE, "a late one has come")
    repeat ngx.sleep(0.01) until ngx.worker.exiting()
    local guard = assert(lock():acquire(30))
    local other = session():mutex(ngx.var.arg_path .. "-other")
    other = assert(other:acquire(30))
    ngx.print(guard:state(), " ", other:state())
    guard:release()
    assert(other:release { wait = true })
  } }
  location = /id { content_by_lua_block {
    local session = session()
    assert(session:contenders "/nowhere") -- waits for the connection
    ngx.print(ngx.worker.pid(), " ", session:id())
  } }
]]

-- "1 2" of pid and id for each worker that answers.
local function ask_all(server, count)
  local ids, n = {}, 0
  support.wait_until(function()
    local pid, id = server:must "/id":match "(%d+) (%S+)"
    if not ids[pid] then n = n + 1 end
    assert(not ids[pid] or ids[pid] == id, "a second session of a worker")
    ids[pid] = id
    return n == count
  end, 10, count .. " workers to answer")
  return ids
end

local function values(map)
  local seen, n = {}, 0
  for _, value in pairs(map) do
    if not seen[value] then n = n + 1 end
    seen[value] = true
  end
  return n
end

describe("workers of nginx", function()
  if not nginx.ready(pending, before_each, after_each, teardown) then return end

  local function start(workers, more)
    more = more or {}
    more.server, more.workers = SERVER .. (more.server or ""), workers
    return nginx.start(more)
  end

  -- A wait and a hold are under way; `leave` begins the workers' end.
  local function leave_under_way(server, leave)
    local path = support.path()
    local guard = support.hold(path)
    server:must "/id"
    local old = server:workers()
    local waiting = server:begin("/hold?path=" .. path)
    local holding = server:begin("/hold?seconds=3&path=" .. path .. "-held")
    local leaving = server:begin("/leave?path=" .. path)
    support.wait_for_queue(path .. "-held", 1)
    support.wait_for_queue(path, 3)
    leave()
    assert.truthy(holding:answer():find "held$")
    assert.is_true(waiting:is_open())
    guard:release()
    assert.truthy(waiting:answer():find "held$")
    leaving:answer()
    nginx.await_end(old)
    support.wait_for_queue(path, 0)
    return old
  end

  it("have one session each, and contend with each other and other processes",
  function()
    local server, path = start(3), support.path()
    assert.equal(3, values(ask_all(server, 3)))
    local mutex = support.connect():mutex(path)
    local requests = {}
    for i = 1, 40 do
      requests[i] = server:begin("/hold?path=" .. path)
      if i % 8 == 0 then assert(mutex:acquire(10)):release() end
    end
    for _, request in ipairs(requests) do
      assert.truthy(request:answer():find "held$")
    end
    support.wait_for_queue(path, 0)
  end)

  it("finish their waits on HUP, or on QUIT, and leave at once", function()
    local server = start(2)
    ask_all(server, 2)
    local old = leave_under_way(server, function() server:signal "HUP" end)
    local ids = ask_all(server, 2)
    for _, pid in ipairs(old) do assert.is_nil(ids[tostring(pid)]) end
    leave_under_way(server, function() server:signal "QUIT" end)
    nginx.await_end { server.master }
    assert.equal("", server:complaints())
  end)

  it("may lock for the first time when they have begun to leave", function()
    local server, path = start(1), support.path()
    local old = server:workers()
    local late = server:begin("/late?path=" .. path)
    support.wait_until(function()
      return server:log():find "a late one has come"
    end)
    server:signal "HUP"
    assert.equal("held held", (late:answer(20)))
    nginx.await_end(old)
    support.wait_for_queue(path, 0)
    support.wait_for_queue(path .. "-other", 0)
    assert.equal("", server:complaints())
  end)

  it("leave at once when they are idle", function()
    for _, signal in ipairs { "HUP", "QUIT" } do
      -- (They tell each other of their sessions.)
      local server = start(2, { http = "lua_shared_dict zklock 1m;" })
      ask_all(server, 2)
      local old = server:workers()
      server:signal(signal)
      nginx.await_end(old)
      assert.equal("", server:complaints())
      server:close()
    end
  end)

  it("leave on TERM, and their locks pass on at once", function()
    local server, path = start(1), support.path()
    local holding = server:begin("/hold?seconds=60&path=" .. path)
    support.wait_for_queue(path, 1)
    local waiting = server:begin("/hold?path=" .. path)
    support.wait_for_queue(path, 2)
    server:signal "TERM"
    -- Their session, of 30 s, was closed.
    assert(assert(support.connect():mutex(path):acquire(30)):release())
    assert.is_nil(holding:answer())
    assert.is_nil(waiting:answer())
    nginx.await_end { server.master }
    assert.equal("", server:complaints())
  end)

  it("pass on to a new binary: USR2, then QUIT", function()
    local server = start(1, { daemon = "on" })
    local old_master, new_master = server.master, nil
    leave_under_way(server, function()
      server:signal "USR2"
      support.wait_until(function()
        new_master = server:pids()[1]
        return new_master and new_master ~= old_master
          and #server:workers(new_master) == 1
      end, 10, "the new binary")
      server:signal "QUIT"
    end)
    nginx.await_end { old_master }
    server.master = new_master
    assert.truthy(server:must("/hold?path=" .. support.path()):find "held$")
    assert.equal("", server:complaints())
  end)

  it("know, after a pause, that their holds are lost", function()
    local server, path = start(1, { server = [[
      location = /lose { content_by_lua_block {
        local session = session { session_timeout = 2 }
        local guard = assert(session:mutex(ngx.var.arg_path):acquire(30))
        local told = "not told"
        guard:on_lost(function() told = "told" end)
        ngx.log(ngx.WARN, "it holds the lock")
        while guard:is_held() or told == "not told" do ngx.sleep(0.01) end
        ngx.print(told, " ", select(3, guard:release()))
        assert(session:mutex(ngx.var.arg_path):acquire(10)):release()
      } } ]] }), support.path()
    server.may_complain = true -- the client library does
    local losing = server:begin("/lose?path=" .. path)
    -- (Who is stopped before it knows takes another turn, and keeps that.)
    support.wait_until(function()
      return server:log():find "it holds the lock"
    end, 10, "a request that holds the lock")
    local pid = server:workers()[1]
    server:signal("STOP", pid)
    assert(support.connect():mutex(path):acquire(60)):release()
    server:signal("CONT", pid)
    assert.equal("told lost", (losing:answer()))
  end)

  it("lose no request and no lock while HUP follows HUP", function()
    local server, path = start(2), support.path()
    ask_all(server, 2)
    local requests = {}
    for _ = 1, 8 do
      for _ = 1, 10 do
        local target = "/hold?seconds=0.01&path=" .. path
        requests[#requests + 1] = server:begin(target)
      end
      server:signal "HUP"
      support.sleep(0.15) -- in which requests reach the new workers, too
    end
    for _, request in ipairs(requests) do
      assert.truthy(request:answer(30):find "held$")
    end
    support.wait_for_queue(path, 0)
    support.wait_until(function() return #server:workers() == 2 end)
    assert.equal("", server:complaints())
  end)
end)

-- Workers come and go; locks pass on.
local nginx = require "nginx.server"
local support = require "support"

local SERVER = [[
  location = /hold { content_by_lua_block {
    local guard = assert(lock():acquire(20))
    if ngx.var.arg_seconds then -- other workers' requests come meanwhile
      ngx.sleep(tonumber(ngx.var.arg_seconds))
    end
    ngx.print(ngx.worker.pid(), " ", guard:state())
    guard:release()
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
]]

describe("workers of nginx", function()
  if not nginx.ready(pending) then return end

  it("may lock for the first time when they have begun to leave", function()
    local server, path = nginx.start { server = SERVER }, support.path()
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
      local server = nginx.start { server = SERVER, workers = 2,
        http = "lua_shared_dict zklock 1m;" }
      local seen = {}
      support.wait_until(function()
        local said = server:must("/hold?path=" .. support.path())
        seen[said:match "%d+"] = true
        return next(seen, (next(seen)))
      end, 10, "both workers to have a session")
      local old = server:workers()
      server:signal(signal)
      nginx.await_end(old)
      assert.equal("", server:complaints())
      server:close()
    end
  end)

  it("lose no request and no lock while HUP follows HUP", function()
    local server = nginx.start { server = SERVER, workers = 2 }
    local requests, path = {}, support.path()
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

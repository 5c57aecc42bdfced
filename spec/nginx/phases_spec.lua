-- Where a handler can wait, and what it can do where it cannot.
local certificates = require "support.certificates"
local nginx = require "nginx.server"
local support = require "support"

local SERVER = [[
  location = /rewrite {
    rewrite_by_lua_block { ngx.ctx.guard = assert(lock():acquire(30)) }
    content_by_lua_block { ngx.print(ngx.ctx.guard:state()) }
  }
  location = /access {
    access_by_lua_block { ngx.ctx.guard = assert(lock():acquire(30)) }
    content_by_lua_block { ngx.print(ngx.ctx.guard:state()) }
  }
  location = /content { content_by_lua_block {
    ngx.print(assert(lock():acquire(30)):state())
  } }
  location = /timer { content_by_lua_block {
    local semaphore = require("ngx.semaphore").new()
    local path, state = ngx.var.arg_path, nil
    ngx.timer.at(0, function()
      state = assert(session():mutex(path):acquire(30)):state()
      semaphore:post()
    end)
    semaphore:wait(10)
    ngx.print(state)
  } }
  location = /thread { content_by_lua_block {
    local path = ngx.var.arg_path
    local thread = ngx.thread.spawn(function()
      return assert(session():mutex(path):acquire(30)):state()
    end)
    local _, state = ngx.thread.wait(thread)
    ngx.print(state)
  } }
  location = /coroutine { content_by_lua_block {
    local path = ngx.var.arg_path
    ngx.print(coroutine.wrap(function()
      return assert(session():mutex(path):acquire(30)):state()
    end)())
  } }
  location = /all_phases {
    rewrite_by_lua_block { assert(lock():acquire(30)) }
    access_by_lua_block { assert(lock():acquire(30)) }
    content_by_lua_block {
      local guard = assert(lock():acquire(30))
      ngx.print(guard:token(), " ", tostring(lock():release()), " ",
        tostring(lock():release()), " ", tostring(lock():release()), " ",
        tostring(pcall(lock().release, lock())))
    }
  }
  location = /release {
    set_by_lua_block $nothing { session() }
    rewrite_by_lua_block {
      local held = {}
      for name in ("set header body log"):gmatch "%S+" do
        held[name] = session():mutex(ngx.var.arg_path .. "-" .. name)
        assert(held[name]:acquire(30))
      end
      ngx.ctx.held = held
    }
    content_by_lua_block {
      ngx.ctx.held.set:release()
      ngx.print "released"
    }
    header_filter_by_lua_block { ngx.ctx.held.header:release() }
    body_filter_by_lua_block {
      if ngx.arg[2] then ngx.ctx.held.body:release() end
    }
    log_by_lua_block { ngx.ctx.held.log:release() }
  }
  location = /lost {
    content_by_lua_block {
      local lock = session():mutex(ngx.var.arg_path, { max_hold = 1 })
      local guard, called = assert(lock:acquire(30)), {}
      guard:on_lost(function(_, reason)
        called[#called + 1] = reason .. " in " .. ngx.get_phase()
      end)
      while guard:is_held() do end
      if ngx.var.arg_phase == "content" then guard:release() end
      ngx.ctx.lost = { guard = guard, called = called }
      ngx.send_headers() -- runs the phase header_filter
      ngx.print("at once: ", #called, ", ")
      for _ = 1, 1000 do
        if called[1] then break end
        ngx.sleep(0.005)
      end
      ngx.print(table.concat(called, ", "))
    }
    header_filter_by_lua_block {
      local lost = ngx.ctx.lost
      local _, _, code = lost.guard:release()
      if code ~= "lost" then ngx.log(ngx.ERR, "not lost: ", code) end
    }
  }
  location = /later {
    content_by_lua_block { ngx.print "done" }
    log_by_lua_block {
      lock():acquire_async(function(guard)
        ngx.shared.said:set("later", guard:state())
        guard:release()
      end)
    }
  }
  location = /said {
    content_by_lua_block { ngx.print(ngx.shared.said:get "later" or "") }
  }
  location = /impossible {
    content_by_lua_block {
      session()
      ngx.print(ngx.shared.said:get(ngx.var.arg_phase) or "")
    }
    set_by_lua_block $nothing { try "set" }
    header_filter_by_lua_block { try "header_filter" }
    body_filter_by_lua_block { try "body_filter" }
    log_by_lua_block { try "log" }
  }
]]

local INIT = [[
  function try(phase)
    local ok, problem = pcall(function()
      return session():mutex("/never"):acquire(1)
    end)
    ngx.shared.said:set(phase, tostring(ok) .. " " .. tostring(problem))
  end
]]

local HTTP = [[
  lua_shared_dict said 1m;
  init_worker_by_lua_block { try "init_worker" }
]]

describe("a handler of nginx", function()
  if not nginx.ready(pending) then return end

  local function start(server, more)
    more = more or {}
    more.server, more.init, more.http = server, INIT, more.http or HTTP
    return nginx.start(more)
  end

  it("waits in each phase that can", function()
    local server, n = start(SERVER), 0
    for phase in ("rewrite access content timer thread coroutine")
      :gmatch "%S+" do
      local path = support.path()
      local guard = support.hold(path)
      local request = server:begin("/" .. phase .. "?path=" .. path)
      support.wait_for_queue(path, 2)
      assert.is_true(request:is_open(), phase)
      -- The others are served meanwhile.
      assert.equal(tostring(server:workers()[1]), server:must "/pid")
      guard:release()
      assert.equal("held", (request:answer()), phase)
      n = n + 1
    end
    assert.equal(6, n)
  end)

  it("waits in ssl_certificate", function()
    local ours = support.closing(certificates.new():add "server")
    local path, port = support.path(), support.free_port()
    local server = start("", { http = HTTP .. ([[
      server {
        listen 127.0.0.1:%d ssl;
        ssl_certificate %s;
        ssl_certificate_key %s;
        ssl_certificate_by_lua_block {
          assert(session():mutex("%s"):with_lock(5, function() end))
        }
        location / { return 200 "behind the lock"; }
      }]]):format(port, ours:file "server.crt", ours:file "server.key",
        path) })
    local guard = support.hold(path)
    local client = io.popen(("printf 'GET / HTTP/1.0\r\n\r\n' | timeout 20 "
      .. "openssl s_client -quiet -connect 127.0.0.1:%d 2>/dev/null")
      :format(port))
    support.wait_for_queue(path, 2)
    guard:release()
    local answer = client:read "*a"
    client:close()
    assert.truthy(answer:find("behind the lock", 1, true))
    -- The handshake has ended, too.
    local old = server:workers()
    server:signal "HUP"
    nginx.await_end(old)
    assert.equal("", server:complaints())
  end)

  it("is one owner in all its phases, and releases in any", function()
    local server, path = start(SERVER), support.path()
    local answer = server:must("/all_phases?path=" .. path)
    assert.truthy(answer:find "^%d+ true true true false$")
    support.wait_for_queue(path, 0)
    assert.equal("released", server:must("/release?path=" .. path))
    for name in ("set header body log"):gmatch "%S+" do
      support.wait_for_queue(path .. "-" .. name, 0)
    end
    -- And what it asked for in the phase log it is called back with.
    assert.equal("done", server:must("/later?path=" .. path))
    server:await("/said", "held")
    support.wait_for_queue(path, 0)
    assert.equal("", server:complaints())
  end)

  it("is told of a loss by the release that finds it, where it can wait",
    function()
      local server, path = start(SERVER), support.path()
      assert.equal("at once: 1, max_hold_reached in content",
        server:must("/lost?phase=content&path=" .. path))
      -- Elsewhere by step(), which the loop calls.
      assert.equal("at once: 0, max_hold_reached in timer",
        server:must("/lost?phase=header_filter&path=" .. path))
      server.may_complain = true
      local _, lines = server:complaints():gsub("%f[%a]zklock: the hold of "
        .. path:gsub("%p", "%%%0") .. " was lost: it was held for", "")
      assert.equal(2, lines)
      assert.is_nil(server:complaints():find("not lost", 1, true))
    end)

  it("is told where nothing can wait, and that its phase is one", function()
    local server = start(SERVER)
    server:must "/impossible?phase=set"
    for phase in ("init_worker set header_filter body_filter log")
      :gmatch "%S+" do
      assert.truthy(server:must("/impossible?phase=" .. phase):find(
        "zklock: this code runs in nginx's phase " .. phase .. ",", 1, true))
    end
    -- In init_by_lua it may be required, but not opened.
    server = nginx.start {
      http = "lua_shared_dict zklock 1m;", -- (nothing tells of it yet, either)
      init = [[ opened, problem = pcall(session) ]],
      server = [[ location = /problem { content_by_lua_block {
        ngx.print(tostring(opened), problem)
      } } ]],
    }
    assert.truthy(server:must "/problem":find(
      "false.*this code runs in nginx's phase init,"))
  end)
end)

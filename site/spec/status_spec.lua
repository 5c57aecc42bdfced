-- The operators' page of a real nginx in a real browser, which check.py asks:
-- wide and narrow, light and dark.  A part of `make site-check`.
local nginx = require "nginx.server"
local support = require "support"

local SERVER = [[
  location /zklock {
    allow 127.0.0.1; deny all;
    content_by_lua_block { require("zklock.ngx").status() }
  }
  location = /open { content_by_lua_block {
    session()
    ngx.print(ngx.worker.pid())
  } }
  location = /many { content_by_lua_block {
    for i = 1, 110 do
      local path = ("%s/one-of-many-%d"):format(
        ngx.unescape_uri(ngx.var.arg_path), i)
      assert(session():mutex(path):acquire(20)):release()
    end
    ngx.print "done"
  } }
  location = /hold { content_by_lua_block {
    local guard, why = lock():acquire(tonumber(ngx.var.arg_timeout or 30))
    if guard then
      guard:on_revoke(function() end) -- it watches its node from now on
      ngx.sleep(tonumber(ngx.var.arg_seconds or 0))
      guard:release()
    end
    ngx.print(why or "held")
  } }
]]

local missing = nginx.missing()
local root, shots = os.getenv "SPEC_ROOT" or ".", os.getenv "SPEC_SHOTS"

describe("The operators' page in a browser", function()
  if missing then return pending(missing) end
  teardown(nginx.uninstall)
  before_each(support.start)
  after_each(support.finish)

  local HOSTILE = "<script>window.ran=1</script>"
    .. "<img src=x onerror=window.ran=2>"

  -- Two workers, or one; one path with a long name that a stranger holds and we
  -- wait for, one that we hold, some that we have held, and refusals.
  local function set_stage(is_alone)
    local server = nginx.start { server = SERVER, workers = is_alone and 1 or 2,
      http = is_alone and "" or "lua_shared_dict zklock 1m;" }
    server.may_complain = true -- of losses
    local path = support.path()
    for i = 1, 60 do
      server:must(("/hold?path=%s/orders-%d"):format(path, i % 4))
    end
    local stranger = support.connect()
    local long = path .. "/" .. ("customers-of-the-northern-region-"):rep(4)
    local guards = {}
    for i, one in ipairs { long, path .. "/<img src=x onerror=window.ran=3>",
      path .. "/orders-1" } do
      guards[i] = assert(stranger:mutex(one):acquire { timeout = 10,
        data = HOSTILE .. i })
    end
    server:must("/hold?timeout=0.02&path=" .. path .. "/orders-1")
    local requests = { server:begin("/hold?seconds=60&path=" .. path
      .. "/reports") }
    support.wait_for_queue(path .. "/reports", 1)
    for i, one in ipairs { long, path
      .. "/%3Cimg%20src=x%20onerror=window.ran=3%3E", path .. "/orders-1" } do
      requests[i + 1] = server:begin("/hold?path=" .. one)
    end
    support.wait_until(function()
      local body = server:must "/zklock"
      return body:find "waited for now</dt><dd>3<"
    end, 10, "three to wait")
    return server, path, guards, requests
  end

  -- Pages by their names: `{ name, path, … }`.
  local function look(server, pages)
    local command = ("python3 -B '%s/site/spec/check.py'"):format(root)
    if shots then command = ("%s --shots '%s'"):format(command, shots) end
    command = command .. " --served"
    for i = 1, #pages, 2 do
      command = ("%s '%s=http://127.0.0.1:%d%s'"):format(command, pages[i],
        server.port, pages[i + 1])
    end
    local pipe = io.popen(command .. " 2>&1")
    local said = pipe:read "*a"
    pipe:close()
    assert.are.equal(("%d pages in %d views, 0 problems\n"):format(#pages / 2,
      #pages * 2), said)
  end

  -- More paths than are shown one by one.
  it("is readable, and runs nothing", function()
    local server, path, guards, requests = set_stage()
    server:must("/many?path=" .. path)
    support.wait_until(function()
      return server:must "/zklock":find "more paths?; the rest in"
    end, 10, "the worker with many paths to tell of them")
    look(server, { "status", "/zklock", "status-queues", "/zklock?queues=1" })
    for i, guard in ipairs(guards) do
      assert(guard:release())
      assert.are.equal("held", (requests[i + 1]:answer()))
    end
  end)

  it("is readable when something is wrong", function()
    local server, path, guards = set_stage(true)
    -- An operator deletes what a worker holds, which hears of it.
    local zk = support.zk()
    zk:delete(path .. "/reports/" .. zk:queue(path .. "/reports")[1])
    support.wait_until(function()
      return server:must "/zklock":find "hold was lost"
    end, 40, "the loss to be told")
    look(server, { "status-loss", "/zklock" })
    for _, guard in ipairs(guards) do guard:release() end
  end)
end)

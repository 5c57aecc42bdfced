-- The operators' page in a real browser: narrow and wide, light and dark.
--
--   SAVE=DIRECTORY bash spec/run --lua luajit spec/site/status_spec.lua
--
-- saves pictures of it.
local browser = require "support.browser"
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
  location = /hold { content_by_lua_block {
    local guard, why = lock():acquire(tonumber(ngx.var.arg_timeout or 30))
    if guard then ngx.sleep(tonumber(ngx.var.arg_seconds or 0)) end
    if guard then guard:release() end
    ngx.print(why or "held")
  } }
]]

-- What stands somewhere, with less contrast than 4.5 to 1 between itself and
-- what is behind it (WCAG 2.1, 1.4.3).
local FIND_PALE = [[
  const parts = c => c.match(/[\d.]+/g).map(Number);
  const light = c => {
    const [r, g, b] = parts(c).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = e => {
    for (; e; e = e.parentElement) {
      const c = getComputedStyle(e).backgroundColor;
      const p = parts(c);
      if (p.length < 4 || p[3] > 0) return c;
    }
    return 'rgb(255, 255, 255)';
  };
  const pale = [];
  let looked = 0;
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !e.getClientRects().length) continue;
    if (e.namespaceURI.endsWith('svg')) continue;
    const a = light(getComputedStyle(e).color), b = light(behind(e));
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    looked++;
    if (contrast < 4.5)
      pale.push(walk.currentNode.data.trim() + ': ' + contrast.toFixed(2));
  }
  return [looked, pale.join('\n')];
]]

-- What reaches beyond the window, and is not in a box that moves its content.
local FIND_WIDE = [[
  const wide = [];
  for (const e of document.querySelectorAll('body *')) {
    if (e.parentElement.closest('.scroll, pre')) continue;
    if (e.getBoundingClientRect().right > innerWidth + 0.5)
      wide.push(e.tagName + ': ' + e.textContent.trim().slice(0, 40));
  }
  if (document.documentElement.scrollWidth > innerWidth) wide.push('the page');
  return wide.join('\n');
]]

local missing = nginx.missing() or browser.missing()
local save = os.getenv "SAVE"

describe("The operators' page in a browser", function()
  if missing then return pending(missing) end
  teardown(nginx.uninstall)
  before_each(support.start)
  after_each(support.finish)

  local HOSTILE = "<script>window.ran=1</script>"
    .. "<img src=x onerror=window.ran=2>"

  -- Two workers, or one; one path with a long name that a stranger holds and we wait
  -- for, one that we hold, some that we have held, and refusals.
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

  local function look(page, server, path, name)
    page:run "window.ran = 0"
    for _, width in ipairs { 390, 1200 } do
      for _, scheme in ipairs { "light", "dark" } do
        local where = ("%s, %d px, %s"):format(path, width, scheme)
        page:look(width, scheme)
        page:open(("http://127.0.0.1:%d%s"):format(server.port, path))
        assert.are.equal(width, page:run "return innerWidth")
        assert.are.equal(scheme == "dark", page:run(
          "return matchMedia('(prefers-color-scheme: dark)').matches"))
        assert.are.equal("", page:run(FIND_WIDE), where)
        page:run "document.querySelectorAll('details').forEach(d => d.open = 1)"
        assert.are.equal("", page:run(FIND_WIDE), where)
        local pale = page:run(FIND_PALE)
        assert.is_true(pale[1] > 20, "nothing was looked at: " .. where)
        assert.are.equal("", pale[2], where)
        assert.are.equal("undefined", page:run "return typeof window.ran")
        assert.are.equal(0, page:run "return document.scripts.length")
        assert.are.equal(0, page:run "return document.images.length")
        local said = {}
        for i, line in ipairs(page:console()) do said[i] = line.message end
        assert.are.equal("", table.concat(said, "\n"), where)
        if save then
          page:open(("http://127.0.0.1:%d%s"):format(server.port, path))
          page:save(("%s/%s-%d-%s.png"):format(save, name, width, scheme))
        end
      end
    end
  end

  it("is readable, and runs nothing", function()
    local server, _, guards, requests = set_stage()
    local page = browser.start()
    look(page, server, "/zklock", "page")
    look(page, server, "/zklock?queues=1", "queues")
    for i, guard in ipairs(guards) do
      assert(guard:release())
      assert.are.equal("held", (requests[i + 1]:answer()))
    end
  end)

  it("is readable when something is wrong", function()
    local server, path, guards = set_stage(true)
    local page = browser.start()
    -- An operator deletes what a worker holds, which hears of it.
    local zk = support.zk()
    zk:delete(path .. "/reports/" .. zk:queue(path .. "/reports")[1])
    support.wait_until(function()
      return server:must "/zklock":find "hold was lost"
    end, 40, "the loss to be told")
    look(page, server, "/zklock", "loss")
    for _, guard in ipairs(guards) do guard:release() end
  end)

  it("loads itself anew only where it was asked to", function()
    local server = nginx.start { server = SERVER,
      http = "lua_shared_dict zklock 1m;" }
    local page = browser.start()
    local url = ("http://127.0.0.1:%d/zklock"):format(server.port)
    local function stays(path)
      page:open(url .. path)
      page:run "document.title = 'old'"
      support.sleep(2)
      return page:run "return document.title" == "old"
    end
    assert.is_true(stays "")
    assert.is_false(stays "?refresh=1")
  end)
end)

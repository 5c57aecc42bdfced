-- A stranger who may call the handler of doc/nginx.md with any URL.
local nginx = require "nginx.server"
local start_server = require "support.server".start
local support = require "support"
local zklock = require "zklock"

-- What a stranger sends as ?user=…
local HOSTILE = {
  -- Contenders in Alice's directory, of each kind and layout.
  "alice/x-lock-0000000000", "alice%2Fx-lock-0000000000",
  "alice/x-lock--999999999", "alice/x-__READ__0000000000",
  "alice/x-__WRIT__0000000000", "alice/__lock__0000000000",
  "alice/x__rlock__0000000000", "alice/x-lease-0000000000",
  "alice/locks/x-lock-0000000000", "alice/leases/x-lease-0000000000",
  "alice/holder", "alice%2Fholder", "alice/holder/x",
  -- Other directories.
  "/zookeeper/quota", "../../zookeeper/quota", "alice/..", "alice%2F..", "..",
  ".", "%2F..", "/", "holder", "locks", "leases", "zookeeper",
  "-lock-0000000000", "1234567890", "__lock__0000000000",
  -- Forged lines, and what is no text.
  "%0A", "x%0A2026/11/22%2012:00:00%20[emerg]%201%231:%20forged",
  "x%0D%0Aforged", "x%E2%80%A8forged", "x%C2%85forged", "%00", "alice%00",
  "%1B[2Jforged", "%FF", "%C0%AF", "%ED%A0%80", "%F0%9F%98%80", "\255\254",
  -- Others' keys, and what decodes strangely.
  "%3Dalice%3D", "=alice=", "alice%3D", "%25", "%", "%zz", "alice+", "+",
  ("a"):rep(64), ("a"):rep(65), ("%2F"):rep(64), ("%2F"):rep(65),
  ("a"):rep(7000), ("/x-lock-0000000000"):rep(60),
}

-- What nginx makes of it.
local function decode(text)
  return (text:gsub("+", " "):gsub("%%(%x%x)", function(digits)
    return string.char(tonumber(digits, 16))
  end))
end

describe("A stranger with any URL", function()
  if not nginx.ready(pending) then return end

  -- Each line of nginx's log is one that nginx has begun, and what it has from
  -- us is plain.  (Of the request itself nginx shows the bytes.)
  local function check_log(server)
    for line in server:log():gmatch "[^\n]+" do
      assert.truthy(line:find "^%d+/%d+/%d+ [%d:]+ %[%l+%] %d+#%d+: ", line)
      assert.is_nil(line:gsub(", client: .*", ""):find "[^\32-\126]", line)
    end
  end

  it("cannot keep another user's lock, and makes one node for each text",
  function()
    -- A directory that is left behind stays there.
    local zookeeper = support.closing(start_server(1,
      "--jvm -Dznode.container.checkIntervalMs=3600000"))
    local server = nginx.paste(zookeeper.hosts .. "/app")
    local zk, keys = support.zk(zookeeper.hosts), { ["user-=alice="] = true }
    local top = zk:children "/"
    for _, text in ipairs(HOSTILE) do
      for _, user in ipairs { text, "alice", text } do
        assert.equal(200, select(2, server:get("/orders?user=" .. user)), text)
      end
      keys["user-" .. zklock.escape(decode(text))] = true
    end
    check_log(server)
    support.wait_until(function()
      return support.count_contenders("/app", zk) == 0
    end)
    top[#top + 1] = "app"
    table.sort(top)
    assert.same(top, zk:children "/")
    assert.same({ "locks" }, zk:children "/app")
    for _, key in ipairs(zk:children "/app/locks") do
      assert.is_true(keys[key], key)
      keys[key] = nil
      assert.same({}, zk:children("/app/locks/" .. key))
    end
    assert.is_nil(next(keys))
  end)

  it("leaves no node behind", function()
    local prefix, zk = support.path(), support.zk()
    local server = nginx.paste(support.hosts .. prefix)
    for i = 1, 300 do server:must("/orders?user=nobody" .. i) end
    support.wait_until(function() -- (the server looks each second)
      return #(zk:children(prefix .. "/locks") or {}) == 0
    end, 20, "the directories to vanish")
  end)

  it("gets status 400 without a user's name, and 414 for 100 KB", function()
    local server = nginx.paste(support.hosts .. support.path())
    for _, query in ipairs { "", "?", "?user", "?user=", "?other=1",
      "?user=&user=alice" } do
      assert.equal(400, select(2, server:get("/orders" .. query)), query)
    end
    local long = "/orders?user=" .. ("alice/x-lock-0000000000/"):rep(4266)
    assert.equal(414, select(2, server:get(long)))
  end)

  it("cannot forge a line of nginx's log", function()
    local prefix = support.path()
    local server = nginx.paste(support.hosts .. prefix)
    server.may_complain = true
    local requests, held = {}, {}
    for _, text in ipairs(HOSTILE) do
      local plain = decode(text)
      held[plain] = held[plain]
        or support.hold(prefix .. "/locks/user-" .. zklock.escape(plain))
      requests[#requests + 1] = server:begin("/orders?user=" .. text)
    end
    for i, request in ipairs(requests) do
      assert.equal(503, select(2, request:answer()), HOSTILE[i])
    end
    assert.truthy(server:complaints():find("forged", 1, true))
    check_log(server)
  end)

  it("adds no line to the error log by an error or its message", function()
    local forged = "2026/11/22 00:00:00 [emerg] 1#1: forged"
    local server = nginx.start { server = [[
      location = /lock { content_by_lua_block {
        local ok, message = lock():with_lock({ timeout = 2 }, function() end)
        if not ok then ngx.log(ngx.ERR, message) end
        ngx.print "done"
      } }
      location = /raise { content_by_lua_block {
        local user, told = ngx.unescape_uri(ngx.var.arg_path), false
        session():mutex("/x"):acquire_async(2, function(guard)
          guard:release { wait = true }
          told = true
          error("no such user: " .. user)
        end)
        while not told do ngx.sleep(0.01) end
        ngx.print "done"
      } }
    ]] }
    server.may_complain = true
    local escaped = forged:gsub("[^%w]", function(c)
      return ("%%%02X"):format(c:byte())
    end)
    for _, url in ipairs { "/lock?path=/a%0A", "/lock?path=/a%0D",
      "/raise?path=%0A" } do
      server:get(url .. escaped)
    end
    local told -- it is there, and escaped
    support.wait_until(function()
      told = 0
      for line in (server:log():gsub("\r", "\n")):gmatch "[^\n]+" do
        assert.not_equal(forged, line:sub(1, #forged), line)
        if line:find(forged, 1, true) then told = told + 1 end
      end
      return told >= 3
    end, 5, "what the stranger wrote")
  end)
end)

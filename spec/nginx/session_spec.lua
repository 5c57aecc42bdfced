-- require("zklock.ngx").session
local lfs = require "lfs"
local nginx = require "nginx.server"
local start_hostile = require "support.hostile".start
local support = require "support"

local SERVER = [[
  location = /id { content_by_lua_block {
    assert(session():contenders "/nowhere") -- waits for the connection
    ngx.print(session():id())
  } }
  location = /ids { content_by_lua_block {
    local function closure() return function() end end
    local of_worker = require("zklock.ngx").session
    local same = session { session_timeout = 30, log = closure() }
    assert(same == session { log = closure(), session_timeout = 30 })
    local other = session { session_timeout = 20 }
    local chroot = assert(of_worker("$hosts" .. ngx.var.arg_path))
    assert(chroot == of_worker("$hosts" .. ngx.var.arg_path))
    assert(session() ~= same and same ~= other and other ~= chroot)
    assert(other:mutex(ngx.var.arg_path):acquire(30))
    assert(session():mutex(ngx.var.arg_path .. "-2"):acquire(30))
    assert(chroot:mutex("/inside"):acquire(30))
    ngx.print "fine"
  } }
  location = /close { content_by_lua_block {
    local closed = session()
    local thread = ngx.thread.spawn(function()
      return select(3, closed:mutex(ngx.var.arg_path):acquire(20))
    end)
    ngx.sleep(0.2) -- the thread waits for the lock by now, or will
    closed:close()
    local _, code = ngx.thread.wait(thread)
    ngx.print(code, " ", closed:state(), " ", tostring(session() == closed))
  } }
  location = /first { content_by_lua_block {
    local session = assert(require("zklock.ngx").session(ngx.var.arg_hosts,
      { connect_timeout = tonumber(ngx.var.arg_connect) or 0.3,
        auth = { scheme = "digest", credential = "ann:secret" } }))
    local mutex = session:mutex "/first"
    local calls = {
      acquire = function() return mutex:acquire(tonumber(ngx.var.arg_wait)) end,
      at_once = function() return mutex:acquire(0) end,
      try_acquire = function() return mutex:try_acquire() end,
      with_lock = function() return mutex:with_lock(0.3, error) end,
      once = function()
        return session:once("/first.o", { per = 1, timeout = 0 }, error)
      end,
      multi = function() return session:multi { mutex }:acquire(0.3) end,
      contenders = function() return session:contenders "/first" end,
      revoke = function() return session:revoke "/first" end,
    }
    local done, message, code = calls[ngx.var.arg_call]()
    ngx.print(done and "done" or code, " ", message)
  } }
  location = /misuse { content_by_lua_block {
    local function try(...)
      local given = { ... }
      ngx.say(select(2, pcall(function()
        require("zklock.ngx").session(given[1], given[2])
      end)))
    end
    try("$hosts", { sesion_timeout = 1 })
    try("$hosts", { loop = "poll" })
    try()
  } }
  location = /anew { content_by_lua_block {
    local session = assert(require("zklock.ngx").session("$hosts", {
      session_timeout = 20, log = function() end,
      auth = { scheme = "digest", credential = "ann:secret" } }))
    ngx.print(tostring(session):match "^zklock session")
  } }
  location = /more { content_by_lua_block {
    local of_worker, n = require("zklock.ngx").session, 0
    local function open(more)
      n = n + 1
      local options = { session_timeout = 25 + n / 100 }
      for key, value in pairs(more or {}) do options[key] = value end
      return select(2, pcall(function()
        return of_worker("$hosts", options)
      end))
    end
    local sessions = {}
    repeat
      sessions[#sessions + 1] = open()
    until type(sessions[#sessions]) == "string" or n == 50
    local said = table.remove(sessions)
    ngx.say(#sessions, " ", said)
    ngx.say(open { auth = { scheme = "digest", credential = "u:secret" } })
    ngx.say((select(2, pcall(of_worker, "$hosts/elsewhere"))))
    sessions[3]:close() -- makes room for one
    ngx.say(type(open()), " ", type(open()))
    for _, session in ipairs(sessions) do session:close() end
    ngx.say(type(open()))
  } }
  location = /loggers { content_by_lua_block {
    local of_worker = require("zklock.ngx").session
    local class = { __call = function() end }
    class.__index = class
    class.class = class
    local function logger() return setmetatable({ class = class }, class) end
    local logger_1, logger_2 = logger(), logger()
    local session = assert(of_worker("$hosts", { log = logger_1 }))
    assert(session == of_worker("$hosts", { log = logger_1 }))
    assert(session ~= of_worker("$hosts", { log = logger_2 }))
    local circle = { scheme = "digest" }
    circle.credential = circle
    ngx.print(select(2, pcall(of_worker, "$hosts", { auth = circle })))
  } }
  location = /connect { content_by_lua_block {
    local session = assert(require("zklock").connect("$hosts"))
    session:close()
  } }
  location = /connect_in_timer { content_by_lua_block {
    local n = 0
    for _ = 1, 5 do
      ngx.timer.at(0, function()
        assert(require("zklock").connect("$hosts")):close()
        n = n + 1
      end)
    end
    repeat ngx.sleep(0.01) until n == 5
  } }
  location = /callback { content_by_lua_block {
    lock():acquire_async(function(guard)
      ngx.shared.said:set("state", guard:state())
      error "on purpose"
    end)
    while not ngx.shared.said:get "state" do ngx.sleep(0.01) end
    ngx.print(ngx.shared.said:get "state")
  } }
  location = /loop { content_by_lua_block {
    local session = session()
    for _ = 1, 200 do
      assert(session:mutex(ngx.var.arg_path):acquire(30)):release()
      collectgarbage()
    end
    ngx.print(session._engine.core:requests())
  } }
  location /zklock {
    content_by_lua_block { require("zklock.ngx").status() }
  }
]]

-- Entries of a worker's directory in /proc whose names are numbers.
local function count(server, what)
  local n = 0
  for name in lfs.dir(("/proc/%d/%s"):format(server:workers()[1], what)) do
    n = n + (name:find "^%d" and 1 or 0)
  end
  return n
end

describe("zklock.ngx.session", function()
  if not nginx.ready(pending) then return end

  local function start(more)
    more = more or {}
    more.server = SERVER
    more.http = "lua_shared_dict said 1m; " .. (more.http or "")
    return nginx.start(more)
  end

  it("is one for all handlers, also those that ask at once, and outlives the "
    .. "client that asked first", function()
    local server = start()
    server:begin("/id"):abort()
    local requests, first = {}, nil
    for i = 1, 30 do requests[i] = server:begin "/id" end
    for _, request in ipairs(requests) do
      local id = request:answer()
      first = first or id
      assert.equal(first, id)
    end
    assert.matches("^0x%x+$", first)
    -- Also of a request that goes on and on.
    assert.equal("1", server:must("/loop?path=" .. support.path()))
  end)

  it("is another for other hosts or options, and raises misuse", function()
    local server, path = start(), support.path()
    assert.equal("fine", server:must("/ids?path=" .. path))
    support.wait_until(function()
      return support.count_contenders(path) == 0
    end)
    assert.matches("zklock: option 'auth'", server:must "/loggers")
    local first, second, third = server:must "/misuse"
      :match "^(.*)\n(.*)\n(.*)\n$"
    assert.matches("^content_by_lua%(nginx.conf:%d+%):%d: zklock: ", first)
    assert.matches('unknown option "sesion_timeout"', first, 1, true)
    assert.matches("option 'loop'", second, 1, true)
    assert.matches("argument 1 of", third, 1, true)
  end)

  it("returns at once; the first call waits as long as itself may", function()
    local server, begun = start(), support.now()
    server.may_complain = true
    -- With a timeout of 0 for nothing, as integration/outage_spec says of all.
    for call in ("at_once try_acquire once"):gmatch "%S+" do
      local text = server:must("/first?hosts=127.0.0.1:2&connect=60&call="
        .. call)
      assert.truthy(text:find "^disconnected zklock: no server ", call)
    end
    assert.is_true(support.now() - begun < 60)
    local function ask(call, hosts)
      return server:must(("/first?hosts=%s&call=%s&wait=0.4"):format(
        hosts or "127.0.0.1:1", call))
    end
    support.wait_until(function() -- an attempt has been made by then
      return ask "acquire":find("Connection refused", 1, true)
    end, 10, "a refused connection")
    for call, seconds in pairs { acquire = "0.4", with_lock = "0.3" } do
      assert.equal(("disconnected zklock: no server of 127.0.0.1:1 answered "
        .. "within %s s, waiting for /first (last error: 127.0.0.1:1: "
        .. "Connection refused)"):format(seconds), ask(call))
    end
    -- Questions have no time of their own: connect's.  It is one session for
    -- all, which is not there yet for each of them.
    for call in ("multi contenders revoke"):gmatch "%S+" do
      assert.truthy(ask(call):find "^disconnected zklock: no server ", call)
    end
    -- However often it has tried.
    local said = server:complaints()
    assert.matches("[warn]", said, 1, true)
    assert.equal(1, select(2, said:gsub("\n?[^\n]*"
      .. "zklock: no connection to 127.0.0.1:1: Connection refused[^\n]*", "")))
    assert.is_nil(said:find "ZOO_")
  end)

  it("says soon that credentials are refused, until they are accepted",
  function()
    local hostile, server = start_hostile(), start()
    server.may_complain = true
    hostile:behave { kind = "pass", refuse_auth = "always" }
    local url = "/first?wait=20&hosts=" .. hostile.hosts .. "&call="
    for call in ("acquire try_acquire with_lock multi contenders revoke")
      :gmatch "%S+" do
      assert.matches("^auth zklock: ZooKeeper .*the credentials are not "
        .. "accepted %(option 'auth': digest%)$", server:must(url .. call))
    end
    hostile:behave { kind = "pass" }
    support.wait_until(function()
      return server:must(url .. "acquire") == "done nil"
    end, 20, "its credentials to be accepted")
  end)

  it("returns one session for equal options of different requests", function()
    local server = start()
    server:must "/anew"
    local of_one = count(server, "task") - 1 -- (the client library's, too)
    for _ = 1, 60 do server:must "/anew" end
    assert.equal(1 + of_one, count(server, "task"))
  end)

  it("can replace a closed session, and reports what differs", function()
    local lines = {}
    for line in start():must "/more":gmatch "[^\n]+" do
      lines[#lines + 1] = line
    end
    assert.matches("^32 .*zklock: this worker has 32 sessions by "
      .. "zklock.ngx.session, the most that it may have, each with hosts or "
      .. "options of its own %(the last one differs in option "
      .. "'session_timeout'%): give the same ones in each request$", lines[1])
    assert.matches("(the last one differs in option 'auth', "
      .. "option 'session_timeout')", lines[2], 1, true)
    assert.is_nil(lines[2]:find "secret")
    assert.matches("(the last one differs in hosts, "
      .. "option 'session_timeout')", lines[3], 1, true)
    assert.same({ "table string", "table" }, { lines[4], lines[5] })
  end)

  it("is recommended once if each request opens its own session", function()
    local server = start()
    server:must "/connect_in_timer"
    server:must "/connect" -- one may be meant to last
    assert.equal("", server:complaints())
    server.may_complain = true
    for _ = 1, 10 do server:must "/connect" end
    local said = server:complaints()
    assert.matches("[warn]", said, 1, true)
    assert.equal(1, select(2, said:gsub("zklock: requests open sessions of "
      .. "their own, by zklock.connect: each costs a thread, a connection and "
      .. "some round trips; zklock.ngx.session gives one to all of a worker",
      "")), said)
    assert.is_nil(said:find "\n")
  end)

  it("closes for all, and opens again; its callbacks' errors are logged",
  function()
    local server, path = start(), support.path()
    local guard = support.hold(path)
    assert.equal("closed closed false", server:must("/close?path=" .. path))
    assert.truthy(server:must "/id":find "^0x")
    guard:release()
    server.may_complain = true
    assert.equal("held", server:must("/callback?path=" .. path))
    assert.matches("%[error%].*zklock: an error in a callback: .*on purpose",
      server:complaints())
  end)

  it("does without a wake-up where it cannot have one", function()
    local server = start { init = [[
      local core = require "zklock.core"
      local open = core.open
      core.open = function(...)
        local handle = open(...)
        local methods = debug.getmetatable(handle).__index
        methods.open_socket = function() return nil, "on purpose" end
        return handle
      end ]] }
    server.may_complain = true
    local path = support.path()
    assert.equal("fine", server:must("/ids?path=" .. path))
    assert.equal("held", server:must("/callback?path=" .. path))
    assert.matches("so it looks for events every second: on purpose",
      server:complaints(), 1, true)
    local old = server:workers()
    server:signal "HUP"
    nginx.await_end(old)
  end)

  it("is the request's own with lua_code_cache off", function()
    local server, path = start { http = "lua_shared_dict zklock 1m; "
      .. "lua_code_cache off;" }, support.path()
    server.may_complain = true -- nginx warns of the setting
    local last, seen
    for i = 1, 25 do
      local id = server:must "/id"
      assert.not_equal(last, id)
      last = id
      assert.equal("fine", server:must("/ids?path=" .. path))
      assert.truthy(server:must "/zklock":find "<html")
      if i == 5 then
        support.wait_until(function() return count(server, "task") == 1 end)
        seen = count(server, "fd")
      end
    end
    -- Their threads, sockets and Lua states are gone.
    support.wait_until(function()
      return count(server, "task") == 1 and count(server, "fd") <= seen
        and support.count_contenders(path) == 0
    end)
    for line in server:complaints():gmatch "[^\n]+" do
      assert.matches("lua_code_cache is off", line, 1, true)
    end
    local old = server:workers()
    server:signal "HUP"
    nginx.await_end(old)
  end)
end)

-- What a session asks about a directory in which strangers make nodes: it must
-- cost neither what the session holds elsewhere, nor memory without bound.
local new_scheduler = require "support.scheduler".new
local raw = require "support.raw"
local server = require "support.server"
local spawn = require "support.child".spawn
local start_proxy = require "support.proxy".start
local support = require "support"

local MIB = 1024 * 1024

-- A wire that brings so many bytes a second: its end of it, and the server's.
local SLOW = [[
local socket = require "socket"
local target, rate = ...
local ip, port = target:match "([%w%.]+):(%d+)"
local listener = assert(socket.bind("127.0.0.1", 0))
say((select(2, listener:getsockname())))
local client = listener:accept()
local server = assert(socket.connect(ip, tonumber(port)))
client:setoption("tcp-nodelay", true)
server:setoption("tcp-nodelay", true)
local function pass_on(from, to)
  from:settimeout(0)
  local text, problem, part = from:receive(8192)
  from:settimeout(nil)
  assert(problem ~= "closed" and to:send(text or part))
  return #(text or part)
end
while true do
  for _, ready in ipairs((socket.select { client, server })) do
    if ready == client then
      pass_on(client, server)
    else
      socket.sleep(pass_on(server, client) / rate)
    end
  end
end
]]

describe("A survey of a crowd #once #slow", function()
  local own, zk, path

  local function start_server(heap)
    return server.start(1, "--config maxSessionTimeout=60000 --jvm -Xmx"
      .. heap)
  end

  local function connect_raw(hosts)
    return raw.connect(hosts, { patience = 60, timeout = 60 })
  end

  setup(function() own = start_server "1g" end)
  teardown(function() own:stop() end)

  before_each(function()
    support.start()
    zk = connect_raw(own.hosts)
    path = support.path()
  end)
  after_each(function()
    local ok, problem = pcall(zk.delete_many, zk, path)
    zk:close()
    support.finish()
    assert(ok, problem)
  end)

  local function connect(options)
    options = options or {}
    options.hosts = options.hosts or own.hosts
    return support.connect(options)
  end

  -- Contenders in `path`, made by hand; `mark`: "-lock-" if nothing else.
  local function crowd(n, options, mark)
    zk:make(path)
    zk:create_many(n, function(i)
      return ("%s/x%s%010d"):format(path, mark or "-lock-", i)
    end, options)
  end

  -- `fn(session)` in a task, while the main program looks at the session:
  -- what fn returns, and the most requests that were unanswered at a time.
  local function in_flight_during(fn, options)
    local loop = new_scheduler()
    options = options or {}
    options.loop = loop.adapter
    local session = connect(options)
    local most, results = 0, nil
    loop:spawn(function() results = { fn(session) } end)
    local is_over = support.patience(60)
    repeat
      loop:turn(0)
      most = math.max(most, session:stats().in_flight)
    until results or is_over()
    assert.is_table(results)
    return results, most
  end

  it("has few requests in flight", function()
    crowd(20000, { data = "web1:4711" })
    local results, most = in_flight_during(function(session)
      return session:contenders(path)
    end)
    assert.equal(20000, #results[1])
    for i = 1, 20000 do assert.equal("web1:4711", results[1][i].data) end
    assert.is_true(most > 30 and most <= 70, most)
  end)

  it("shares its room with others of the session", function()
    crowd(1000, { data = "web1:4711" })
    local loop = new_scheduler()
    local session = connect { loop = loop.adapter }
    local most, done = 0, 0
    for _ = 1, 10 do
      loop:spawn(function()
        assert.equal(1000, #assert(session:contenders(path)))
        done = done + 1
      end)
    end
    local is_over = support.patience(60)
    repeat
      loop:turn(0)
      most = math.max(most, session:stats().in_flight)
    until done == 10 or is_over()
    assert.equal(10, done)
    assert.is_true(most <= 64 + 10 + 4, most)
  end)

  it("loses none of the session's holds, though the line is slow", function()
    crowd(10000, { data = ("d"):rep(500) })
    -- (All of it at once would take longer than the lease.)
    local line = spawn(SLOW, own.hosts, 750000)
    local session = connect { hosts = "127.0.0.1:" .. line:hear(),
      session_timeout = 8 }
    local guard = assert(session:mutex(support.path()):acquire(30))
    local events = {}
    session:on("suspended", function() events[#events + 1] = "suspended" end)
    guard:on_lost(function() events[#events + 1] = "lost" end)
    local list = assert(session:contenders(path))
    assert.equal(10000, #list)
    assert.is_true(guard:is_held())
    session:step()
    assert.same({}, events)
    guard:release { wait = true }
    session:close()
  end)

  it("marks twenty thousand readers, a few at a time", function()
    crowd(20000, { data = "web1:4711", ephemeral = true }, "-__READ__")
    local results, most = in_flight_during(function(session)
      return session:revoke(path)
    end)
    assert.same({ 20000 }, results)
    assert.is_true(most <= 70, most)
    for _, i in ipairs { 1, 10000, 20000 } do
      assert.equal("web1:4711\nzklock:revoke",
        (zk:get(("%s/x-__READ__%010d"):format(path, i))))
    end
  end)

  it("reads of large data only a few #stock", function()
    local small = start_server "256m"
    support.closing(small, small.stop)
    zk:close()
    zk = connect_raw(small.hosts)
    crowd(60, { data = ("m"):rep(1000000), ephemeral = true })
    local session = connect { hosts = small.hosts }
    collectgarbage()
    local before = support.memory()
    local list = assert(session:contenders(path))
    assert.is_true(support.memory() - before < 20 * 1024,
      support.memory() - before)
    assert.equal(60, #list)
    for i, contender in ipairs(list) do
      if i <= 4 then
        assert.equal(1000000, #contender.data)
        assert.is_nil(contender.size)
      else
        assert.is_nil(contender.data)
        assert.equal(1000000, contender.size)
      end
    end
    assert.is_true(list[1].holds)
    assert.equal(0, session:stats().reconnects)
    session:close()
  end)

  it("reads the small data that stand behind large ones", function()
    crowd(10, { data = ("m"):rep(1000000) })
    for i = 11, 20 do
      zk:create(("%s/x-lock-%010d"):format(path, i), { data = "small" })
    end
    local list = assert(connect():contenders(path))
    for i = 11, 20 do assert.equal("small", list[i].data) end
    assert.equal(1000000, #list[1].data)
    assert.equal(1000000, list[10].size)
  end)

  it("reads small data up to 16 MiB in all", function()
    crowd(300, { data = ("s"):rep(65536) })
    local list, n = assert(connect():contenders(path)), 0
    for i, contender in ipairs(list) do
      if contender.data then n = n + 1 end
      assert.equal(i <= 256, contender.data ~= nil)
      assert.equal(i > 256 and 65536 or nil, contender.size)
    end
    assert.equal(16 * MIB, n * 65536)
  end)

  it("reads no data that are larger than any lock's", function()
    crowd(1, { data = ("m"):rep(1000001) })
    crowd(0)
    local list = assert(connect():contenders(path))
    assert.is_nil(list[1].data)
    assert.equal(1000001, list[1].size)
  end)

  it("keeps no data that have grown since they were looked at", function()
    crowd(20, { data = "small" })
    local proxy = start_proxy(own.hosts)
    local loop = new_scheduler()
    local session = connect { hosts = proxy.hosts, loop = loop.adapter }
    proxy:delay(0.5)
    local function requests()
      local stats = session:stats()
      return stats.requests - stats.heartbeats - stats.nudges
    end
    local before, list = requests(), nil
    loop:spawn(function() list = assert(session:contenders(path)) end)
    support.wait_until(function() -- looks, one list, as many Stats; and reads
      loop:turn(0)
      return requests() > before + 4 + 1 + 20
    end, 20)
    for i = 1, 20 do
      zk:set(("%s/x-lock-%010d"):format(path, i), ("g"):rep(1000000))
    end
    loop:run()
    local kept = 0
    for _, contender in ipairs(list) do
      if contender.data then
        kept = kept + #contender.data
      else
        assert.equal(1000000, contender.size)
      end
    end
    assert.is_true(kept <= 4 * MIB, kept)
    session:close()
    proxy:heal()
  end)

  it("says that there are too many, before it lists them #stock", function()
    crowd(50001)
    local session = connect()
    collectgarbage()
    local before = support.memory()
    for _, ask in ipairs { "contenders", "revoke", "children" } do
      local list, message, code = session[ask](session, path)
      assert.is_true(not list)
      assert.equal("invalid", code)
      assert.matches(path, message, 1, true)
      assert.matches("more than 50000 children", message, 1, true)
    end
    local _, message, code = session:mutex(path):holders()
    assert.equal("invalid", code)
    assert.matches("more than 50000 children", message, 1, true)
    assert.is_true(support.memory() - before < 2 * 1024,
      support.memory() - before)
  end)

  it("lists as many children as there may be", function()
    crowd(50000, nil, "-stranger-")
    local names = assert(connect():children(path))
    assert.equal(50000, #names)
    for i = 1, 50000 do
      assert.equal(("x-stranger-%010d"):format(i), names[i])
    end
  end)

  it("says so of a semaphore's directory, too", function()
    local directory = path .. "/leases"
    zk:make(directory)
    zk:create_many(50001, function(i) return directory .. "/" .. i end)
    assert.equal("invalid", select(3, connect():contenders(path)))
    zk:delete_many(directory)
  end)

  it("leaves out those that vanish meanwhile", function()
    crowd(5000, { data = "web1:4711" })
    local gone = false
    local results = in_flight_during(function(session)
      local list, problem = session:contenders(path)
      gone = true
      return list, problem
    end)
    assert.is_true(gone)
    assert.equal(5000, #results[1])
    local loop = new_scheduler()
    local session = connect { loop = loop.adapter }
    local list, exists
    local before = session:stats().requests
    loop:spawn(function() list, exists = session:contenders(path) end)
    support.wait_until(function()
      loop:turn(0)
      return list or session:stats().requests > before + 70
    end)
    zk:delete_many(path)
    loop:run()
    assert.is_table(list)
    assert.is_true(#list < 5000, #list)
    assert.is_true(exists)
    assert.same({}, (session:contenders(path)))
    session:close()
  end)

  for _, ask in ipairs { "contenders", "revoke" } do
    it("ends when the connection does, and the next one is answered: " .. ask,
      function()
        crowd(2000, { data = "web1:4711", ephemeral = true }, "-__READ__")
        local proxy = start_proxy(own.hosts)
        local session = connect { hosts = proxy.hosts }
        proxy:cut_after(100000)
        local list, message, code = session[ask](session, path)
        assert.is_true(not list)
        assert.equal("disconnected", code)
        assert.matches(path, message, 1, true)
        support.until_state(session, "connected")
        proxy:disarm()
        local found = assert(session[ask](session, path))
        assert.equal(2000, ask == "revoke" and found or #found)
        assert.equal(0, session:stats().in_flight)
        session:close()
      end)

    it("ends when the session is closed: " .. ask, function()
      crowd(5000, { data = "web1:4711", ephemeral = true }, "-__READ__")
      local loop = new_scheduler()
      local session = connect { loop = loop.adapter }
      local codes = {}
      for _ = 1, 3 do
        loop:spawn(function()
          local _, _, code = session[ask](session, path)
          codes[#codes + 1] = code
        end)
      end
      local before = session:stats().requests
      support.wait_until(function()
        loop:turn(0)
        return session:stats().requests > before + 70
      end)
      session:close()
      loop:run()
      assert.same({ "closed", "closed", "closed" }, codes)
    end)
  end
end)

describe("A survey among strangers", function()
  before_each(support.start)
  after_each(support.finish)

  local path, session, zk
  before_each(function()
    path = support.path()
    session, zk = support.connect(), support.zk()
    zk:make(path)
  end)

  local function reader(number, options)
    return (zk:create(("%s/x-__READ__%010d"):format(path, number), options))
  end

  it("costs as many requests as doc/limits.md says", function()
    local function requests()
      return support.while_quiet({ session }, function(heartbeats, nudges)
        return session:stats().requests - heartbeats - nudges
      end)
    end
    local function cost_of(ask, ...)
      local before = requests()
      assert(session[ask](session, ...))
      return requests() - before
    end
    local nodes = {
      reader(1, { ephemeral = true, data = "d" }),
      reader(2, { ephemeral = true, data = "d" }),
      reader(3, { ephemeral = true }),
    }
    assert.equal(5, cost_of("contenders", path .. "-not-there"))
    assert.equal(5 + 1 + 3 + 2, cost_of("contenders", path))
    assert.equal(5 + 1 + 3 + 2 * 3, cost_of("revoke", path))
    assert.equal(5 + 1 + 3 + 3, cost_of("revoke", path)) -- they are marked
    for _, node in ipairs(nodes) do zk:delete(node) end
    zk:create(path .. "/locks")
    zk:create(path .. "/leases")
    zk:create(path .. "/holder", { data = "d" })
    assert.equal(5 + 3 + 1, cost_of("contenders", path))
    assert.equal(2, cost_of("stat", path))
    assert.equal(3, cost_of("children", path))
    assert.equal(2, cost_of("children", path .. "/holder"))
    assert.equal(2, cost_of("children", path .. "-not-there"))
    assert.equal(2, cost_of("stamp", path .. "/made"))
    assert.equal(1, cost_of("stamp", path .. "/made"))
    local contender = zk:create(path .. "/x-lock-0000000001")
    assert.equal(2 + 1, cost_of("evict", path, contender:match "[^/]*$"))
    assert.equal(2 + 2 + 1, cost_of("evict", path, "holder"))
    local guard = assert(support.connect():mutex(path,
      { fair = false, share_path = true }):acquire(30))
    assert.equal(2 + 3 + 1, cost_of("evict", path, "holder"))
    guard:release()
  end)

  it("shows who hides its data, without them", function()
    local hidden = { { perms = 30, scheme = "world", id = "anyone" } }
    local node = zk:create(path .. "/x-lock-0000000001",
      { ephemeral = true, acl = hidden, data = "secret" })
    local list = assert(session:contenders(path))
    assert.equal(1, #list)
    assert.is_true(list[1].holds)
    assert.is_nil(list[1].data)
    assert.equal(zk:sees(node) and 6 or nil, list[1].size)
    zk:delete(node)
  end)

  it("does not take what is nobody's for a holder", function()
    local persistent = zk:create(path .. "/a-lock-0000000000", { data = "p" })
    local node = zk:create(path .. "/b-lock-0000000001",
      { ephemeral = true, data = "e" })
    local list = assert(session:contenders(path))
    assert.equal("0x0", list[1].session)
    assert.is_false(list[1].holds)
    assert.is_true(list[2].holds)
    local holders = assert(session:mutex(path):holders())
    assert.equal(1, #holders)
    assert.equal("e", holders[1].data)
    assert.equal(1, session:revoke(path))
    assert.equal("p", (zk:get(persistent)))
    zk:delete(persistent)
    zk:delete(node)
  end)

  it("asks the others where one cannot be asked, and says who it is",
    function()
      local large = reader(1, { ephemeral = true,
        data = ("m"):rep(1000001) })
      local closed = reader(2, { ephemeral = true, data = "c",
        acl = { { perms = 29, scheme = "world", id = "anyone" } } })
      local open = reader(3, { ephemeral = true, data = "o" })
      local asked, message, code = session:revoke(path)
      assert.is_nil(asked)
      assert.equal("invalid", code)
      assert.equal(("zklock: 1 of 3 holders of %s was asked to let go, but not "
        .. '"x-__READ__0000000001": its path and data leave no room for a mark')
        :format(path), message)
      assert.equal("o\nzklock:revoke", (zk:get(open)))
      zk:delete(large)
      asked, message, code = session:revoke(path)
      assert.is_nil(asked)
      assert.equal("denied", code)
      assert.matches('1 of 2 holders of ' .. path .. ' was asked to let go, '
        .. 'but not "x-__READ__0000000002": ', message, 1, true)
      zk:delete(closed)
      assert.equal(1, session:revoke(path))
      zk:delete(open)
      assert.equal(0, session:stats().reconnects)
    end)

  it("marks the largest data that a lock may have, and no larger", function()
    for _, size in ipairs { 1000000, 1000001, 1040000 } do
      local node = reader(1, { ephemeral = true, data = ("m"):rep(size) })
      local asked, _, code = session:revoke(path)
      if size == 1000000 then
        assert.equal(1, asked)
        assert.equal(1, session:revoke(path)) -- it is marked
      else
        assert.is_nil(asked)
        assert.equal("invalid", code)
      end
      zk:delete(node)
    end
    assert.equal(0, session:stats().reconnects)
  end)
end)

-- Who contends for a path, in order, and who of them holds.
local kinds = require "integration.family.kinds"
local support = require "support"
local connect = support.connect
local wait_in, await, nobody = kinds.wait_in, kinds.await, kinds.nobody

-- What of the list can be foreseen: "mode data holds", a line for each.
local function lines(session, path)
  local list = {}
  for i, item in ipairs(assert(session:contenders(path))) do
    list[i] = ("%s %s %s"):format(item.mode, tostring(item.data),
      item.holds and "holds" or "waits")
  end
  return list
end

describe("contenders", function()
  before_each(function() kinds.start() end)
  after_each(support.finish)

  local path, session
  before_each(function()
    path = support.path()
    session = connect()
  end)

  -- The lock in a session of its own, which is called `data`.
  local function as(data, kind, name)
    return kinds.of[kind].make(connect(), name or path, { data = data })
  end
  local function queue(data, kind)
    return kinds.queue_in(as(data, kind), path)
  end

  it("is an empty list where nobody does", function()
    local function ask() return { session:contenders(path) } end
    assert.same({ {}, false }, ask()) -- containers vanish: it is no error
    support.zk():make(path)
    assert.same({ {}, true }, ask())
    local guard = as("a", "mutex"):acquire(30)
    assert.is_true(select(2, session:contenders(path)))
    guard:release { wait = true }
  end)

  it("tells all of each", function()
    local before = os.time()
    local holder = connect()
    local guard = holder:mutex(path):acquire(30)
    local list = session:contenders(path)
    assert.equal(1, #list)
    local item, stat = list[1], support.zk():exists(guard.node)
    assert.equal(guard.node, path .. "/" .. item.node)
    assert.equal("mutex", item.mode)
    assert.equal(tonumber(guard.node:sub(-10)), item.sequence)
    assert.equal(guard:token(), item.token)
    assert.equal(holder:id(), item.session)
    assert.equal(stat.owner:gsub("^0x0*", ""), (item.session:gsub("^0x0*", "")))
    assert.matches(":" .. support.pid() .. "$", item.data)
    assert.is_true(item.holds)
    assert.is_true(item.created >= before - 2
      and item.created <= os.time() + 2, item.created)
    local known = {}
    for key in pairs(item) do known[#known + 1] = key end
    table.sort(known)
    assert.same({ "created", "data", "holds", "mode", "node", "sequence",
      "session", "token" }, known)
    guard:release()
  end)

  for _, kind in ipairs { "mutex", "parent", "poll", "kazoo" } do
    it("shows the queue in order: " .. kind, function()
      local guard = as("a", kind):acquire(30)
      local b, c = queue("b", kind), queue("c", kind)
      assert.same({ "mutex a holds", "mutex b waits", "mutex c waits" },
        lines(session, path))
      guard:release { wait = true }
      await(b)
      assert.same({ "mutex b holds", "mutex c waits" }, lines(session, path))
      b.guard:release { wait = true }
      await(c):release { wait = true }
      assert.same({}, lines(session, path))
    end)
  end

  it("shows the one node of local turns, and no local waiter", function()
    local lock = as("a", "handoffs")
    local guard = lock:acquire(30)
    local waiter = wait_in(lock)
    local other = queue("b", "handoffs")
    assert.same({ "mutex a holds", "mutex b waits" }, lines(session, path))
    guard:release()
    await(waiter)
    assert.same({ "mutex a holds", "mutex b waits" }, lines(session, path))
    waiter.guard:release()
    await(other):release()
  end)

  it("shows the one node of an unfair mutex", function()
    local guard = as("a", "unfair"):acquire(30)
    local waiter = wait_in(as("b", "unfair"))
    nobody(0.03, waiter)
    assert.same({ "unfair a holds" }, lines(session, path))
    local item = session:contenders(path)[1]
    assert.equal("holder", item.node)
    assert.is_nil(item.sequence)
    assert.equal(guard:token(), item.token)
    guard:release()
    await(waiter):release()
  end)

  for _, layout in ipairs { "", "kazoo " } do
    local write_mode = layout == "" and "write" or "mutex"
    it("shows readers and writers: " .. layout .. "rwlock", function()
      local one = as("a", layout .. "read"):acquire(30)
      local two = as("b", layout .. "read"):acquire(30)
      local writer = queue("c", layout .. "write")
      local late = queue("d", layout .. "read")
      assert.same({ "read a holds", "read b holds", write_mode .. " c waits",
        "read d waits" }, lines(session, path))
      one:release { wait = true }
      two:release { wait = true }
      await(writer)
      assert.same({ write_mode .. " c holds", "read d waits" },
        lines(session, path))
      writer.guard:release { wait = true }
      await(late)
      assert.same({ "read d holds" }, lines(session, path))
      late.guard:release()
    end)

    it("shows a downgrade: " .. layout .. "rwlock", function()
      local kind = kinds.of[layout .. "read"]
      local side = connect():rwlock(path, kind.defaults)
      local write = side.write:acquire { data = "w", timeout = 5 }
      local read = side.read:acquire { data = "r", timeout = 5 }
      local writer = queue("c", layout .. "write")
      local reader = queue("d", layout .. "read")
      local list = lines(session, path)
      table.sort(list)
      local expected = { write_mode .. " w holds", "read r holds",
        write_mode .. " c waits", "read d waits" }
      table.sort(expected)
      assert.same(expected, list)
      write:release { wait = true }
      assert.same({ "read r holds", write_mode .. " c waits", "read d waits" },
        lines(session, path))
      read:release()
      await(writer):release()
      await(reader):release()
    end)
  end

  it("shows leases, and who waits for one", function()
    local one = connect():semaphore(path, 2, { data = "a" }):acquire(30)
    local two = connect():semaphore(path, 2, { data = "b" }):acquire(30)
    local third = wait_in(connect():semaphore(path, 2, { data = "c" }))
    kinds.wait_for_nodes(path, 4)
    local fourth = kinds.queue_in(
      connect():semaphore(path, 2, { data = "d" }), path)
    local counts = { holds = 0, waits = 0 }
    local holders = {}
    for _, item in ipairs(session:contenders(path)) do
      assert.equal("lease", item.mode)
      counts[item.holds and "holds" or "waits"] =
        counts[item.holds and "holds" or "waits"] + 1
      if item.holds then holders[#holders + 1] = path .. "/" .. item.node end
    end
    table.sort(holders)
    local expected = { one.node, two.node }
    table.sort(expected)
    assert.same(expected, holders)
    assert.equal(2, counts.holds)
    assert.is_true(counts.waits >= 2, counts.waits)
    one:release { wait = true }
    await(third)
    two:release()
    third.guard:release()
    await(fourth):release()
  end)

  it("shows data of every sort (T61)", function()
    local zk = support.zk()
    zk:make(path)
    local raw_node = zk:create(path .. "/x-lock-",
      { sequential = true, ephemeral = true })
    zk:set(raw_node, "")
    local all = { "", "\0\1\2\255", "größe", "a\nb", ("m"):rep(1000000) }
    local waiters = {}
    for i, data in ipairs(all) do
      waiters[i] = kinds.queue_in(as(data, "mutex"), path)
    end
    local list = session:contenders(path)
    assert.equal(#all + 1, #list)
    assert.is_true(list[1].data == nil or list[1].data == "")
    for i, data in ipairs(all) do
      assert.is_true((list[i + 1].data or "") == data, "data " .. i)
    end
    zk:delete(raw_node)
    for _, waiter in ipairs(waiters) do await(waiter):release() end
  end)

  it("shows a node whose data are null (T61)", function()
    local zk = support.zk()
    zk:make(path)
    local node = zk:create(path .. "/x-lock-",
      { sequential = true, ephemeral = true, null = true })
    local list = assert(session:contenders(path))
    assert.equal(1, #list)
    assert.is_true(list[1].data == nil or list[1].data == "")
    assert.is_true(list[1].holds)
    assert.equal(1, session:revoke(path))
    zk:delete(node)
  end)

  it("shows nobody who is no contender (T59, T60)", function()
    local zk = support.zk()
    zk:make(path)
    for _, name in ipairs { "a", "-lock-", "lock", "x-lock-1", "_c_",
      "x-lock-00000000001", "%d%s", "größe", "locks", "leases", "holders",
      "member_0000000001", "x-lease-0000000001", ("9"):rep(300) } do
      zk:create(path .. "/" .. name)
    end
    local guard = as("a", "mutex"):acquire(30)
    local item = session:contenders(path)[1]
    assert.equal(guard.node, path .. "/" .. item.node)
    assert.equal(1, #session:contenders(path))
    guard:release { wait = true }
  end)

  it("shows locks of other clients", function()
    local zk = support.zk()
    zk:make(path)
    local nodes = {}
    for i, prefix in ipairs {
      "_c_00000000-0000-4000-8000-000000000001-lock-", "0123-lock-",
    } do
      nodes[i] = zk:create(path .. "/" .. prefix,
        { sequential = true, data = "n" .. i, ephemeral = true })
    end
    assert.same({ "mutex n1 holds", "mutex n2 waits" }, lines(session, path))
    for _, node in ipairs(nodes) do zk:delete(node) end
  end)

  it("shows a thousand of them", function()
    local zk = support.zk()
    zk:make(path)
    for i = 1, 1000 do
      zk:create(path .. "/x-lock-", { sequential = true, data = "n" .. i })
    end
    local list = session:contenders(path)
    assert.equal(1000, #list)
    for i = 1, 1000 do assert.equal("n" .. i, list[i].data) end
    zk:delete_all(path)
  end)

  it("misses nobody who comes or goes meanwhile, and raises nothing",
    function()
      local lock = as("a", "mutex")
      local rw = connect():rwlock(path .. "/rw")
      for _ = 1, 50 do
        local one, two = wait_in(lock), wait_in(rw.read)
        local list = assert(session:contenders(path))
        assert.is_true(#list <= 2)
        assert.is_table(session:contenders(path .. "/rw"))
        await(one, two)
        one.guard:release()
        two.guard:release()
      end
    end)

  it("is disconnected without a server, and closed when it is closed",
    function()
      local proxy = require "support.proxy".start()
      local away = connect { hosts = proxy.hosts, session_timeout = 2 }
      proxy:refuse()
      support.until_state(away, "suspended")
      local begun = support.now()
      local list, message, code = away:contenders(path)
      assert.is_nil(list)
      assert.equal("disconnected", code)
      assert.matches("^zklock: no server could be asked", message)
      assert.equal("disconnected", select(3, away:revoke(path)))
      assert.is_true(support.now() - begun < 4 + support.slack)
      proxy:heal()
    end)

  it("is refused where it may not read", function()
    local zk = support.zk()
    zk:make(path:match "^/[^/]+")
    local acl = { { perms = 30, scheme = "world", id = "anyone" } }
    zk:create(path, { acl = acl })
    local list, message, code = session:contenders(path)
    assert.is_nil(list)
    assert.equal("denied", code)
    assert.matches("^zklock: ZooKeeper refused to say who contends for ",
      message)
    zk:delete(path)
  end)
end)

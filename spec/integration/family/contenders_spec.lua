-- Who contends for a path, in order, and who of them holds.  (Of readers and
-- writers: rwlock_spec.)
local kinds = require "integration.family.kinds"
local support = require "support"
local connect = support.connect
local await = kinds.await

describe("contenders", function()
  local path, session, zk
  before_each(function()
    path, session, zk = support.path(), connect(), support.zk()
  end)

  -- What of the list can be foreseen, in its order.
  local function shows(...)
    local list = {}
    for i, item in ipairs(assert(session:contenders(path))) do
      list[i] = ("%s %s %s"):format(item.mode, tostring(item.data),
        item.holds and "holds" or "waits")
    end
    assert.same({ ... }, list)
  end

  -- The lock in a session of its own, which is called `data`.
  local function as(data, kind)
    return kinds.of[kind].make(connect(), path, { data = data })
  end
  local function queue(data, kind)
    return kinds.queue_in(as(data, kind), path)
  end
  local function released(guard) guard:release { wait = true } end

  it("is an empty list where nobody does", function()
    local function ask() return { session:contenders(path) } end
    assert.same({ {}, false }, ask()) -- containers vanish: it is no error
    zk:make(path)
    assert.same({ {}, true }, ask())
    local guard = as("a", "mutex"):acquire(30)
    assert.is_true(select(2, session:contenders(path)))
    released(guard)
  end)

  it("tells all of each", function()
    local holder = connect()
    local guard = holder:mutex(path):acquire(30)
    local list = session:contenders(path)
    local stat = zk:exists(guard.node)
    assert.equal(1, #list)
    assert.matches(":" .. support.pid() .. "$", list[1].data)
    assert.equal(stat.owner:gsub("^0x0*", ""),
      (list[1].session:gsub("^0x0*", "")))
    assert.is_true(math.abs(list[1].created - os.time()) <= 1)
    assert.same({ node = guard.node:match "[^/]*$", mode = "mutex",
      sequence = tonumber(guard.node:sub(-10)), token = guard:token(),
      session = holder:id(), data = list[1].data, holds = true,
      created = list[1].created }, list[1])
    guard:release()
  end)

  for _, kind in ipairs { "mutex", "parent", "poll", "kazoo" } do
    it("shows the queue in order: " .. kind, function()
      local guard = as("a", kind):acquire(30)
      local b, c = queue("b", kind), queue("c", kind)
      shows("mutex a holds", "mutex b waits", "mutex c waits")
      released(guard)
      await(b)
      shows("mutex b holds", "mutex c waits")
      released(b.guard)
      released(await(c))
      shows()
    end)
  end

  it("shows data of every sort (T61)", function()
    zk:make(path)
    local raw_node = zk:create(path .. "/x-lock-",
      { sequential = true, ephemeral = true })
    zk:set(raw_node, "")
    local all = { "", "\0\1\2\255", "größe", "a\nb", ("m"):rep(1024) }
    local waiters = {}
    for i, data in ipairs(all) do waiters[i] = queue(data, "mutex") end
    local list = session:contenders(path)
    assert.equal(#all + 1, #list)
    assert.equal("", list[1].data)
    for i, data in ipairs(all) do
      assert.is_true(list[i + 1].data == data, "data " .. i)
    end
    zk:delete(raw_node)
    for _, waiter in ipairs(waiters) do await(waiter):release() end
  end)

  it("shows a node whose data are null (T61)", function()
    zk:make(path)
    local node = zk:create(path .. "/x-lock-",
      { sequential = true, ephemeral = true, null = true })
    shows "mutex  holds"
    assert.equal(1, session:revoke(path))
    zk:delete(node)
  end)

  it("shows nobody who is no contender (T59, T60)", function()
    zk:make(path)
    for _, name in ipairs { "a", "-lock-", "lock", "x-lock-1", "_c_",
      "x-lock-00000000001", "%d%s", "größe", "locks", "leases", "holders",
      "member_0000000001", "x-lease-0000000001", ("9"):rep(300) } do
      zk:create(path .. "/" .. name)
    end
    local guard = as("a", "mutex"):acquire(30)
    shows "mutex a holds"
    released(guard)
  end)
end)

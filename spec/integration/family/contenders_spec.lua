-- Who contends for a path, in order, and who of them holds: what contenders()
-- and holders() ask, and what a refusal says at no cost.  (Of readers and
-- writers: rwlock_spec.)
local kinds = require "integration.family.kinds"
local support = require "support"
local connect = support.connect
local queue_in, wait_in, await = kinds.queue_in, kinds.wait_in, kinds.await
local refused = kinds.refused

local path
before_each(function() path = support.path() end)

-- The lock, or what keeps it waiting, in a session of its own that calls itself
-- `data`.
local function lock(kind, data, session)
  return kinds.of[kind].make(session or connect(), path, { data = data })
end
local function rival(kind, data, session)
  return kinds.of[kind].rival(session or connect(), path, { data = data })
end

describe("contenders", function()
  local session, zk
  before_each(function() session, zk = connect(), support.zk() end)

  -- What of the list can be foreseen, in its order.
  local function shows(...)
    local list = {}
    for i, item in ipairs(assert(session:contenders(path))) do
      list[i] = ("%s %s %s"):format(item.mode, tostring(item.data),
        item.holds and "holds" or "waits")
    end
    assert.same({ ... }, list)
  end

  local function released(guard) guard:release { wait = true } end

  it("is an empty list where nobody does", function()
    local function ask() return { session:contenders(path) } end
    assert.same({ {}, false }, ask()) -- containers vanish: it is no error
    zk:make(path)
    assert.same({ {}, true }, ask())
    local guard = lock("mutex", "a"):acquire(30)
    assert.is_true(select(2, session:contenders(path)))
    released(guard)
  end)

  it("tells all of each", function()
    local holder = connect()
    local guard = holder:mutex(path):acquire(30)
    local list = session:contenders(path)
    assert.equal(1, #list)
    assert.matches(":" .. support.pid() .. "$", list[1].data)
    assert.near(os.time(), list[1].created, 1)
    assert.same({ node = guard.node:match "[^/]*$", mode = "mutex",
      sequence = tonumber(guard.node:sub(-10)), token = guard:token(),
      session = holder:id(), data = list[1].data, holds = true,
      created = list[1].created }, list[1])
    guard:release()
  end)

  it("shows data of every type, in the order of the queue (T61)", function()
    zk:make(path)
    local raw_node = zk:create(path .. "/x-lock-",
      { sequential = true, ephemeral = true })
    zk:set(raw_node, "")
    local all = { "", "\0\1\2\255", "größe", "a\nb", ("m"):rep(1024) }
    local waiters = {}
    for i, data in ipairs(all) do
      waiters[i] = queue_in(lock("mutex", data), path)
    end
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

  it("ignores nodes that are not named as contenders (T59, T60)", function()
    zk:make(path)
    for _, name in ipairs { "a", "-lock-", "lock", "x-lock-1", "_c_",
      "x-lock-00000000001", "%d%s", "größe", "locks", "leases", "holders",
      "member_0000000001", "x-lease-0000000001", ("9"):rep(300) } do
      zk:create(path .. "/" .. name)
    end
    local guard = lock("mutex", "a"):acquire(30)
    shows "mutex a holds"
    released(guard)
  end)
end)

describe("A refusal", function()
  -- In the parentheses at the end of what a wait is told in vain.
  local function tells(message)
    return message and (message:match "waiting for %S+ %((.*)%)$"
      or message:match " is taken %((.*)%)$")
  end
  -- What a wait of a second is told.
  local function times_out(waiting)
    return tells(refused("timeout", waiting:acquire(1)))
  end

  -- What is told of a rival; of that of some kinds no request has told.
  local HELD = '1 ahead; held by "web1:4711"'
  for kind, text in pairs { mutex = HELD, unfair = HELD, kazoo = HELD,
      read = HELD, write = HELD, ["kazoo read"] = HELD,
      ["kazoo write"] = HELD, parent = "1 ahead", poll = "1 ahead",
      semaphore = "1 ahead" } do
    it("names the holder if a request has told of it: " .. kind, function()
      local guard = rival(kind, "web1:4711"):acquire(30)
      assert.equal(text, times_out(lock(kind, "me")))
      guard:release()
    end)
  end

  it("names the holder of a multi's part", function()
    local guard = connect():mutex(path .. "/b", { data = "b1" }):acquire(30)
    assert.equal('1 ahead; held by "b1"', times_out(lock("multi", "me")))
    guard:release()
  end)

  it("names the holder with two ahead, and with more the nearest", function()
    local guard = rival("mutex", "first"):acquire(30)
    local second = queue_in(lock("mutex", "second"), path)
    assert.equal('2 ahead; held by "first"',
      times_out(lock("mutex", "-")))
    local third = queue_in(lock("mutex", "third"), path)
    assert.equal('3 ahead; just ahead is "third"',
      times_out(lock("mutex", "-")))
    guard:release()
    await(second):release()
    await(third):release()
  end)

  it("names who lets one in at a time before the permits: semaphore",
    function()
      local guard = lock("semaphore", "holder"):acquire(30)
      local inside = queue_in(lock("semaphore", "inside"), path)
      kinds.wait_for_nodes(path, 3)
      assert.equal('1 ahead; just ahead is "inside"',
        times_out(lock("semaphore", "-")))
      guard:release()
      await(inside):release()
    end)

  it("of a try names whom this session knows", function()
    local session = connect()
    for _, kind in ipairs { "mutex", "local_turns", "write", "kazoo" } do
      path = support.path()
      local guard = rival(kind, "one of us", session):acquire(30)
      local try = wait_in(lock(kind, "-", session),
        { timeout = 0, owner = "another" })
      local ahead = kind == "local_turns" and "" or "1 ahead; "
      assert.equal(ahead .. 'held by "one of us"',
        tells(refused("timeout", await(try))), kind)
      guard:release()
    end
    -- Nothing is asked for its sake.
    path = support.path()
    local guard = rival("mutex", "another"):acquire(30)
    local mutex = lock("mutex", "-", session)
    local taken = ("zklock: %s is taken"):format(path)
    assert.equal(taken, refused("busy", mutex:try_acquire()))
    -- Somebody of ours waits for him already, and has looked who is ahead.
    local waiting = queue_in(lock("mutex", "-", session), path)
    support.until_state(session, nil, { in_flight = 0 })
    assert.equal(taken .. ' (held by "another")',
      refused("busy", mutex:try_acquire()))
    guard:release()
    await(waiting):release()
  end)

  it("quotes a stranger's text, and not all of it", function()
    for data, quoted in pairs {
      [""] = "",
      ["Zoë's \"café\" \\ 日本"] = [["Zoë's \"café\" \\ 日本"]],
      [("x"):rep(100)] = ('"%s"'):format(("x"):rep(100)),
      [("x"):rep(101)] = ('"%s"...'):format(("x"):rep(100)),
      [("x"):rep(99) .. "é"] = ('"%s"...'):format(("x"):rep(99)),
      [("x"):rep(98) .. "é"] = ('"%sé"'):format(("x"):rep(98)),
      [("x"):rep(1024)] = ('"%s"...'):format(("x"):rep(100)),
    } do
      path = support.path()
      local guard = rival("mutex", data):acquire(30)
      assert.equal("1 ahead"
        .. (quoted ~= "" and "; held by " .. quoted or ""),
        times_out(lock("mutex", "-")))
      guard:release()
    end
  end)

  it("names who is asked to let go as before", function()
    local session = connect()
    local guard = rival("mutex", "web1"):acquire(30)
    assert.equal(1, session:revoke(path))
    assert.equal('1 ahead; held by "web1"',
      times_out(lock("mutex", "-", session)))
    support.zk():set(guard.node, "__REVOKE__") -- as Curator does
    assert.equal("1 ahead", times_out(lock("mutex", "-", session)))
    guard:release()
  end)
end)

describe("holders", function()
  local function names(list)
    local data = {}
    for i, item in ipairs(assert(list)) do
      assert.is_true(item.holds)
      data[i] = item.data
    end
    return data
  end

  kinds.each(it, "are nobody, or who holds and not who waits", function(kind)
    local mine, other = lock(kind.name, "me"), rival(kind.name, "other")
    assert.same({}, mine:holders())
    local guard = other:acquire(30)
    local waiting = kind.name == "unfair" and wait_in(mine) -- has no node
      or queue_in(mine, path)
    local list = mine:holders()
    local expected = kind.multi and { "other", "other" } or { "other" }
    assert.same(expected, names(list))
    assert.same(expected, names(other:holders()))
    if kind.multi then
      assert.same({ path .. "/a", path .. "/b" },
        { list[1].path, list[2].path })
    else
      assert.equal(guard.node:match "[^/]*$", list[1].node:match "[^/]*$")
      assert.equal(guard:token(), list[1].token)
      assert.is_nil(list[1].version)
    end
    guard:release()
    local granted = await(waiting)
    assert.same(kind.multi and { "me", "me" } or { "me" },
      names(mine:holders()))
    granted:release { wait = true }
    assert.same({}, mine:holders())
  end)

  it("are this lock's, not another kind's on its path", function()
    local reader = lock("read", "r"):acquire(30)
    local mutex = lock("mutex", "m")
    assert.same({}, mutex:holders())
    assert.equal(1, #mutex._session:contenders(path))
    reader:release()
  end)
end)

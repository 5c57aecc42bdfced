-- What tools ask of single nodes: what is there, what is below it, that it be
-- touched, and that a contender's be gone.
local kinds = require "integration.family.kinds"
local sessions = require "integration.sessions"
local raw = require "support.raw"
local support = require "support"
local connect, misuse = support.connect, support.misuse
local refused = kinds.refused

-- A contender's node, as it is spelled.
local NODE = "x-lock-0000000001"

-- Each with what it takes beside a path, and the request whose answer tells it.
local QUESTIONS = {
  stat = { nil, "exists" },
  children = { nil, "list_all" },
  touch = { "data", "set" },
  evict = { NODE, "delete" },
}

local function ask(session, name, path)
  return session[name](session, path, QUESTIONS[name][1])
end

-- All that an ACL can allow but some of it.
local READ, CREATE, ALL = 1, 4, 31
local function without(permission)
  return { { perms = ALL - permission, scheme = "world", id = "anyone" } }
end

local path, session, zk

before_each(function()
  path, session, zk = support.path(), connect(), support.zk()
end)

describe("stat", function()
  it("is false where nothing is, which is no error", function()
    assert.same({ 1, false }, { select("#", session:stat(path)),
      (session:stat(path)) })
    assert.is_false(session:stat(path, true))
  end)

  it("tells all of a node", function()
    zk:make(path)
    support.advance(5)
    zk:set(path, "four")
    zk:create(path .. "/a")
    zk:create(path .. "/b")
    local stat = session:stat(path)
    assert.near(os.time(), stat.modified, 1)
    assert.near(5, stat.modified - stat.created, 0.1)
    stat.created, stat.modified = nil, nil
    assert.same({ kind = "persistent", session = "0x0", children = 2, size = 4,
      version = 1 }, stat)
  end)

  it("tells its data if they are wanted, and may be read", function()
    zk:make(path)
    for _, data in ipairs { "", "four", ("x"):rep(1000000) } do
      zk:set(path, data)
      assert.equal(data, session:stat(path, true).data)
      assert.is_nil(session:stat(path, false).data)
      assert.equal(#data, session:stat(path, true).size)
    end
    zk:set(path, ("x"):rep(1000001))
    local stat = session:stat(path, true)
    assert.same({ 1000001 }, { stat.size, stat.data })
    assert.matches("^with_data must be a boolean, got a ",
      misuse(function() session:stat(path, 1) end))
  end)

  -- (Servers since 3.8.4 and 3.9.2 refuse all of it: hidden_spec.lua.)
  it("tells no data of what may not be read", function()
    zk:make((path:match "^(.*)/"))
    zk:create(path, { data = "hidden", acl = without(READ) })
    for _, with_data in ipairs { false, true } do
      local stat = session:stat(path, with_data)
      assert.same({ 6, nil }, { stat.size, stat.data })
    end
    zk:set_acl(path, without(0))
  end)

  it("looks below the session's chroot, as the others do", function()
    local inside = connect { hosts = support.hosts .. path }
    assert.is_false(inside:stat "/a")
    zk:make(path .. "/a")
    assert.equal(0, inside:stat("/a").children)
    assert.same({}, (inside:children "/a"))
    assert.same({ "a" }, (inside:children "/"))
    assert.equal(1, inside:stat("/").children)
    assert.is_true(inside:touch("/a/b", "below"))
    assert.equal("below", (zk:get(path .. "/a/b")))
  end)
end)

describe("children", function()
  it("is an empty list where nothing is", function()
    assert.same({ {}, false }, { session:children(path) })
    zk:make(path)
    assert.same({ {}, true }, { session:children(path) })
  end)

  it("has the names of all, sorted, and not what is below them", function()
    local names = { "B", "a", "a b", "config", "x-lock-0000000002",
      "x-lock-0000000010", "z\195\164hler", ("n"):rep(500) }
    table.sort(names)
    zk:make(path)
    for i = #names, 1, -1 do zk:create(path .. "/" .. names[i]) end
    zk:create(path .. "/config/below")
    assert.same({ names, true }, { session:children(path) })
    zk:delete_all(path)
    zk:make(path .. "/locks") -- a semaphore's is gone when nobody asks
    local guard = assert(connect():semaphore(path, 2):acquire(30))
    assert.same({ "leases", "locks" }, (session:children(path)))
    assert.same({ guard.node:match "[^/]*$" },
      (session:children(path .. "/leases")))
  end)
end)

describe("touch", function()
  before_each(function()
    zk:make(path)
    path = path .. "/touched"
  end)

  it("makes the node, writes it anew, and the time goes on", function()
    assert.is_true(session:touch(path))
    assert.matches(":" .. support.pid() .. "$", (zk:get(path)))
    local first = session:stat(path)
    assert.same({ "persistent", 0, first.created },
      { first.kind, first.version, first.modified })
    support.advance(5)
    assert.is_true(session:touch(path, "again"))
    local again = session:stat(path)
    assert.equal("again", (zk:get(path)))
    assert.same({ first.created, 1 }, { again.created, again.version })
    assert.near(5, again.modified - first.modified, 0.1)
  end)

  it("makes no container, which would vanish when it is empty", function()
    local function fill_and_empty(node) zk:delete(zk:create(node .. "/a")) end
    assert.is_true(session:touch(path))
    fill_and_empty(path)
    for i = 1, 2 do -- (the second one is looked at later than it was touched)
      local container = zk:create(path .. "-c" .. i, { container = true })
      fill_and_empty(container)
      support.wait_until(function() return not zk:exists(container) end, 20)
    end
    assert.is_table(session:stat(path))
  end)

  it("is invalid where there is no parent, and makes none", function()
    assert.same({ nil, "zklock: ZooKeeper refused the write to " .. path
      .. "/a/b: there is no node above it", "invalid" },
      { session:touch(path .. "/a/b") })
    assert.is_false(session:stat(path .. "/a"))
  end)

  it("is invalid where a session owns the node, or the one above", function()
    local unfair = assert(connect():mutex(path, { fair = false }):acquire(30))
    assert.matches("a session owns that node, and its end deletes it",
      refused("invalid", session:touch(unfair.node)), 1, true)
    refused("invalid", session:touch(unfair.node .. "/a"))
    unfair:release { wait = true }
  end)

  it("has the session's ACL, and is denied to who may not write", function()
    local auth = { scheme = "digest", credential = "alice:secret" }
    local alice = connect { auth = auth, acl = "creator" }
    assert.is_true(alice:touch(path))
    assert.matches("the write to " .. path .. ": an ACL forbids it",
      refused("denied", session:touch(path)), 1, true)
    assert.is_true(connect { auth = auth }:touch(path, "third"))
    assert.equal(5, alice:stat(path).size)
    zk:delete(path)
    zk:set_acl((path:match "^(.*)/"), without(CREATE))
    refused("denied", session:touch(path))
    assert.is_false(session:stat(path))
  end)

  it("takes no path that reads as a contender's, or is ZooKeeper's own, and "
    .. "no data that are none", function()
    for node, words in pairs { [path .. "/" .. NODE] = "reads as a contender's",
        ["/zookeeper/a"] = "must not be /zookeeper or below it" } do
      assert.matches(words, misuse(function() session:touch(node) end), 1, true)
    end
    assert.equal("data must be a string, got a number",
      misuse(function() session:touch(path, 5) end))
  end)
end)

describe("evict", function()
  -- A hold that hears of it at once, and not with the next heartbeat.
  local function hold(lock)
    local guard = assert(lock:acquire(30))
    guard:on_revoke(function() end)
    return guard
  end

  local function await_loss(guard, holder)
    support.step_until(holder, function() return not guard:is_held() end)
    assert.equal("node_deleted", guard:reason())
    refused("lost", guard:release())
  end

  local function token_at(node)
    for _, row in ipairs(session:contenders(path)) do
      if row.node == node then return row.token end
    end
  end

  -- Those who wait first: each of them comes again, and has the lock later.
  kinds.each(it, "takes each row of contenders away", function(kind)
    local holder = connect()
    local guard = hold(kind.make(holder, path))
    local waiter, rows = kinds.wait_in(kind.rival(connect(), path)), nil
    support.wait_until(function()
      rows = session:contenders(path)
      return #rows > 1 or kind.name == "unfair" and #rows == 1
    end)
    for i = #rows, 1, -1 do
      assert.is_true(session:evict(path, rows[i].node), rows[i].node)
      local stat = zk:exists(path .. "/" .. rows[i].node)
      assert.is_true(not stat or stat.czxid ~= rows[i].token)
    end
    await_loss(guard, holder)
    kinds.await(waiter):release()
  end, function(kind) return not kind.multi end)

  it("with a token leaves another node alone that was made by the same name",
    function()
      for _, node in ipairs { "holder", "x-lock-0000000000",
          "locks/x-lock-0000000000" } do
        local full = path .. "/" .. node
        zk:make(full)
        local token = token_at(node)
        zk:delete(full)
        zk:make(full) -- no session owns it
        assert.is_false(session:evict(path, node, token), node)
        assert.is_not_nil(zk:exists(full), node)
        -- (The zeros of a token say nothing.)
        assert.is_true(session:evict(path, node,
          (token_at(node):gsub("^0+", ""))), node)
        assert.is_false(session:evict(path, node, token), node)
        assert.is_false(zk:exists(full), node)
      end
    end)

  it("takes a name that is longer than any path of ours", function()
    local node = ("n"):rep(3000) .. "-lock-0000000001"
    zk:make(path)
    zk:create(path .. "/" .. node)
    assert.equal(node, session:contenders(path)[1].node)
    assert.is_true(session:evict(path, node))
  end)

  it("refuses a node that has children, and deletes nothing", function()
    local node = "x-lock-0000000001"
    zk:make(path .. "/" .. node .. "/child", { data = "kept" })
    assert.same({ nil, ('zklock: ZooKeeper refused the eviction of "%s" from '
      .. "%s: not empty"):format(node, path), "invalid" },
      { session:evict(path, node) })
    assert.equal("kept", (zk:get(path .. "/" .. node .. "/child")))
    zk:delete_all(path .. "/" .. node)
  end)

  it("is auth where the directory's ACL forbids it", function()
    local auth = { scheme = "digest", credential = "alice:secret" }
    zk:make((path:match "^(.*)/"))
    local alice = connect { auth = auth, acl = "creator" }
    local guard = hold(alice:mutex(path))
    local node = guard.node:match "[^/]*$"
    assert.matches("from " .. path .. ": an ACL forbids it",
      refused("denied", session:evict(path, node)), 1, true)
    assert.is_true(guard:verify())
    assert.is_true(connect { auth = auth }:evict(path, node))
    await_loss(guard, alice)
    alice:close()
    local own = raw.connect(support.hosts, { auth = "alice:secret" })
    own:delete_all(path)
    own:close()
  end)

  it("accepts only the names of contenders' nodes", function()
    local foreign = { "", "config", "locks", "leases", "locks/", "leases/",
      "x-lock-1", "x-lock-00000000001", "x-lock-0000000001/child",
      "a/x-lock-0000000001", "/x-lock-0000000001", "../x-lock-0000000001",
      "./holder", "locks/holder", "locks/locks/x-lock-0000000001",
      "locks/../x-lock-0000000001", "locks//x-lock-0000000001",
      "locks/x-lease-0000000001", "leases/x-lock-0000000001",
      "locks/x-__READ__0000000001", "x-lease-0000000001", "holder/", "Holder",
      "x-lock-0000000001\0", "\0x-lock-0000000001", "holder\0",
      "x\n-lock-0000000001", "\255-lock-0000000001" }
    for _, node in ipairs(foreign) do
      local said = misuse(function() session:evict(path, node) end)
      assert.matches("^node must ", said)
      assert.is_nil(said:find "[%c\127-\255]", said)
    end
    for _, node in ipairs { "x-lock-0000000001", "x-lock--000000001",
        "x-lock--2147483648", "x-__READ__0000000001", "-__WRIT__0000000001",
        "x__lock__0000000001", "x__rlock__0000000001", "holder",
        "locks/x-lock-0000000001", "leases/x-lease-0000000001",
        "a b-lock-0000000001", "\195\164-lock-0000000001" } do
      assert.is_false(session:evict(path, node), node)
    end
    for _, text in ipairs { "", "x", "-1", "1.5", " 1", "0x1", ("1"):rep(20),
        "1\0" } do
      assert.matches("^token must be a fencing token, of at most 19 digits",
        misuse(function() session:evict(path, "holder", text) end))
    end
    support.misuses {
      { "node must be a string, got nil", function() session:evict(path) end },
      { "node must be a string, got a number",
        function() session:evict(path, 5) end },
      { "token must be a string, got a number",
        function() session:evict(path, "holder", 1) end },
    }
  end)
end)

for name, row in pairs(QUESTIONS) do
  it(name .. " is disconnected while there is no server, and where the answer "
    .. "is lost, done or not", function()
    local cut, proxy = sessions.behind_proxy()
    zk:make(path .. "/x")
    sessions.cut_off(cut, proxy)
    assert.matches(path, refused("disconnected", ask(cut, name, path)), 1,
      true)
    proxy:heal()
    support.until_state(cut, "connected")
    zk:create(path .. "/" .. NODE)
    proxy:lose_reply(row[2])
    assert.matches(path, refused("disconnected", ask(cut, name, path)), 1,
      true)
    assert.equal(name == "touch" and "data" or "", (zk:get(path)))
    assert.equal(name ~= "evict", zk:exists(path .. "/" .. NODE) ~= false)
    zk:delete(path .. "/" .. NODE)
    proxy:heal()
    support.until_state(cut, "connected")
    assert.is_not_nil((ask(cut, name, path)))
  end)
end

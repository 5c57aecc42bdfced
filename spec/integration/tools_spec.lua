-- What tools ask of single nodes: what is there, what is below it, that it be
-- touched, and that a contender's be gone.
local kinds = require "integration.family.kinds"
local sessions = require "integration.sessions"
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
    .. "no data that are none, or too many", function()
    for node, words in pairs { [path .. "/" .. NODE] = "reads as a contender's",
        ["/zookeeper/a"] = "must not be /zookeeper or below it" } do
      assert.matches(words, misuse(function() session:touch(node) end), 1, true)
    end
    assert.equal("data must be a string, got a number",
      misuse(function() session:touch(path, 5) end))
    assert.equal("data must be at most 1024 bytes, got 1025",
      misuse(function() session:touch(path, ("x"):rep(1025)) end))
  end)
end)

for name, row in pairs(QUESTIONS) do
  describe(name, function()
    local proxy, cut
    before_each(function()
      cut, proxy = sessions.behind_proxy()
      zk:make(path .. "/x")
    end)

    it("is disconnected while there is no server, and where the answer is "
      .. "lost, done or not", function()
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
  end)
end

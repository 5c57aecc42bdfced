-- What tools ask of single nodes: what is there, what is below it, that it be
-- stamped, and that a contender's be gone.
local new_scheduler = require "support.scheduler".new
local start_proxy = require "support.proxy".start
local support = require "support"
local connect, misuse = support.connect, support.misuse

-- A contender's node, as it is spelled.
local NODE = "x-lock-0000000001"

-- Each with what it takes beside a path.
local QUESTIONS = { stat = false, children = false, stamp = "data",
  evict = NODE }

local function ask(session, name, path)
  return session[name](session, path, QUESTIONS[name] or nil)
end

local function is_now(seconds)
  return seconds >= os.time() - 60 and seconds <= os.time() + 60
end

-- All that an ACL can allow but some of it.
local READ, CREATE, ALL = 1, 4, 31
local function without(permission)
  return { { perms = ALL - permission, scheme = "world", id = "anyone" } }
end

-- The name of a node below a lock's path.
local function name_of(guard) return guard.node:sub(#guard.path + 2) end

local path, session, zk

local function start()
  support.start()
  path, session, zk = support.path(), connect(), support.zk()
end

describe("stat", function()
  before_each(start)
  after_each(support.finish)

  it("is false where nothing is, which is no error", function()
    assert.equal(1, select("#", session:stat(path)))
    assert.is_false(session:stat(path))
  end)

  it("tells all of a node", function()
    zk:make(path)
    zk:set(path, "four")
    zk:create(path .. "/a")
    zk:create(path .. "/b")
    local stat = session:stat(path)
    assert.is_true(is_now(stat.created) and is_now(stat.modified))
    assert.is_true(stat.modified >= stat.created)
    stat.created, stat.modified = nil, nil
    assert.same({ kind = "persistent", session = "0x0", children = 2, size = 4,
      version = 1 }, stat)
  end)

  it("tells its data if they are wanted, and may be read", function()
    for _, data in ipairs { "", "four", ("x"):rep(1000000) } do
      zk:make(path)
      zk:set(path, data)
      assert.equal(data, session:stat(path, true).data)
      assert.is_nil(session:stat(path, false).data)
      assert.equal(#data, session:stat(path, true).size)
    end
    zk:set(path, ("x"):rep(1000001))
    local stat = session:stat(path, true)
    assert.same({ 1000001 }, { stat.size, stat.data })
    zk:set(path, "four")
    zk:set_acl(path, without(READ))
    -- (Servers since 3.8.4 and 3.9.2 refuse all of it.)
    local refusal, _
    stat, _, refusal = session:stat(path, true)
    assert.is_true(stat and (stat == true or stat.size == 4 and not stat.data)
      or refusal == "denied")
    zk:set_acl(path, without(0))
    assert.is_false(session:stat(path .. "/nothing", true))
    assert.matches("^with_data must be a boolean, got a ",
      misuse(function() session:stat(path, 1) end))
  end)

  it("tells whose an ephemeral one is, in the words of contenders", function()
    local guard = support.hold(path)
    local stat, row = session:stat(guard.node), session:contenders(path)[1]
    assert.equal("ephemeral", stat.kind)
    assert.equal(row.session, stat.session)
    assert.equal(row.created, stat.created)
    assert.equal(#row.data, stat.size)
  end)

  it("shows a container as persistent, as servers do", function()
    support.hold(path)
    assert.equal("persistent", session:stat(path).kind)
    assert.equal(1, session:stat(path).children)
  end)

  it("is denied where the server shows a node only to its readers", function()
    zk:make((path:match "^(.*)/"))
    zk:create(path, { data = "hidden", acl = without(READ) })
    local stat, message, code = session:stat(path)
    if zk:sees(path) then
      assert.equal(6, stat.size)
    else
      assert.equal("denied", code, message)
    end
    zk:delete(path)
  end)

  it("looks below the session's chroot", function()
    local inside = connect { hosts = support.hosts .. path }
    assert.is_false(inside:stat "/a")
    zk:make(path .. "/a")
    assert.equal(0, inside:stat("/a").children)
    assert.same({}, (inside:children "/a"))
    assert.same({ "a" }, (inside:children "/"))
    assert.equal(1, inside:stat("/").children)
    assert.is_true(inside:stamp("/a/b", "below"))
    assert.equal("below", (zk:get(path .. "/a/b")))
  end)
end)

describe("children", function()
  before_each(start)
  after_each(support.finish)

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
    for _, name in ipairs(names) do zk:delete_all(path .. "/" .. name) end
  end)

  it("has contenders and the directories of a semaphore", function()
    zk:make(path .. "/locks") -- ours is gone when nobody asks
    local guard = assert(connect():semaphore(path, 2):acquire(30))
    assert.same({ "leases", "locks" }, (session:children(path)))
    assert.same({ name_of(guard):match "[^/]*$" },
      (session:children(path .. "/leases")))
  end)

  it("is auth where they may not be read", function()
    zk:make((path:match "^(.*)/"))
    zk:create(path, { acl = without(READ) })
    if zk:sees(path) then -- and with it that there are none
      assert.same({ {}, true }, { session:children(path) })
    end
    local child = zk:create(path .. "/a")
    local names, message, code = session:children(path)
    assert.is_nil(names)
    assert.equal("denied", code)
    assert.equal("zklock: ZooKeeper refused to say what is below " .. path
      .. ": an ACL forbids it", message)
    zk:delete(child)
    zk:delete(path)
  end)
end)

describe("stamp", function()
  before_each(function()
    start()
    zk:make(path)
    path = path .. "/stamp"
  end)
  after_each(support.finish)

  it("makes the node, with the data that nodes have", function()
    assert.is_true(session:stamp(path))
    assert.matches(":" .. support.pid() .. "$", (zk:get(path)))
    local stat = session:stat(path)
    assert.equal("persistent", stat.kind)
    assert.equal(0, stat.version)
    assert.is_true(is_now(stat.modified))
    assert.equal(stat.created, stat.modified)
  end)

  it("writes it anew, and the time goes on", function()
    assert.is_true(session:stamp(path, "first"))
    local first = session:stat(path)
    support.wait_until(function()
      assert.is_true(session:stamp(path, "again"))
      return session:stat(path).modified > first.modified
    end)
    local again = session:stat(path)
    assert.equal("again", (zk:get(path)))
    assert.equal(first.created, again.created)
    assert.is_true(again.version > first.version)
  end)

  it("writes whatever data there are", function()
    for _, data in ipairs { "", "a\0b", ("m"):rep(1000000), "short" } do
      zk:delete(path)
      for _ = 1, 2 do
        assert.is_true(session:stamp(path, data))
        assert.is_true(zk:get(path) == data, #data)
        assert.equal(#data, session:stat(path).size)
      end
    end
  end)

  it("outlives its session", function()
    local other = connect()
    assert.is_true(other:stamp(path, "last will"))
    other:close()
    assert.equal("last will", (zk:get(path)))
  end)

  it("makes no container, which would vanish when it is empty", function()
    local function fill_and_empty(node) zk:delete(zk:create(node .. "/a")) end
    assert.is_true(session:stamp(path))
    fill_and_empty(path)
    for i = 1, 2 do -- (the second one is looked at later than the stamp was)
      local container = zk:create(path .. "-c" .. i, { container = true })
      fill_and_empty(container)
      support.wait_until(function() return not zk:exists(container) end, 20)
    end
    assert.is_table(session:stat(path))
  end)

  it("is invalid where there is no parent, and makes none", function()
    local done, message, code = session:stamp(path .. "/a/b")
    assert.is_nil(done)
    assert.equal("invalid", code)
    assert.equal("zklock: ZooKeeper refused the stamp of " .. path
      .. "/a/b: there is no node above it", message)
    assert.is_false(session:stat(path .. "/a"))
    assert.is_true(session:stamp(path))
    assert.is_true(session:stamp(path .. "/a"))
  end)

  it("is invalid where a session owns the node, or the one above", function()
    local unfair = assert(connect():mutex(path, { fair = false }):acquire(30))
    local _, message, code = session:stamp(unfair.node)
    assert.equal("invalid", code)
    assert.matches("a session owns that node, which goes with it", message, 1,
      true)
    assert.equal("invalid", select(3, session:stamp(unfair.node .. "/a")))
    unfair:release { wait = true }
  end)

  it("has the session's ACL, and is auth for who may not write", function()
    local auth = { scheme = "digest", credential = "alice:secret" }
    local alice = connect { auth = auth, acl = "creator" }
    assert.is_true(alice:stamp(path))
    assert.is_true(alice:stamp(path, "again"))
    local done, message, code = session:stamp(path)
    assert.is_nil(done)
    assert.equal("denied", code)
    assert.matches("the stamp of " .. path .. ": an ACL forbids it", message, 1,
      true)
    assert.is_true(connect { auth = auth }:stamp(path, "third"))
    assert.equal(5, alice:stat(path).size)
    zk:delete(path)
  end)

  it("is auth for who may not make the node", function()
    zk:set_acl((path:match "^(.*)/"), without(CREATE))
    assert.equal("denied", select(3, session:stamp(path)))
    assert.is_false(session:stat(path))
  end)

  it("is done by all of those who make it at the same time", function()
    local loop = new_scheduler()
    local sessions, done = {}, 0
    for i = 1, 8 do sessions[i] = connect { loop = loop.adapter } end
    for n = 1, 20 do
      for _, each in ipairs(sessions) do
        loop:spawn(function()
          assert.is_true(each:stamp(path .. n))
          done = done + 1
        end)
      end
    end
    loop:run()
    assert.equal(160, done)
    for n = 1, 20 do assert.is_table(session:stat(path .. n)) end
    for _, each in ipairs(sessions) do each:close() end
  end)

  it("takes no path that reads as a contender's, or is ZooKeeper's own",
    function()
      local node = path .. "/" .. NODE
      local said = misuse(function() session:stamp(node) end)
      assert.matches("reads as a contender's node", said, 1, true)
      said = misuse(function() session:stamp "/zookeeper/a" end)
      assert.matches("must not be /zookeeper or below it", said, 1, true)
    end)

  it("takes no data that are none, or too many", function()
    assert.equal("data must be a string, got a number",
      misuse(function() session:stamp(path, 5) end))
    assert.equal("data must be at most 1000000 bytes, got 1000001",
      misuse(function() session:stamp(path, ("x"):rep(1000001)) end))
  end)
end)

describe("What tools ask", function()
  before_each(start)
  after_each(support.finish)

  for name in pairs(QUESTIONS) do
    it("takes paths as contenders does: " .. name, function()
      for _, bad in ipairs { "", "a", "/a/", "//a", "/a/../b", "/a\0b", "/\255",
          ("/a"):rep(501) } do
        local said = misuse(function() session:contenders(bad) end)
        assert.equal(said, misuse(function() ask(session, name, bad) end))
      end
      assert.equal("path must be a string, got nil",
        misuse(function() ask(session, name) end))
    end)

    it("raises after close: " .. name, function()
      session:close()
      local said = misuse(function() session:contenders "/a" end)
      assert.equal(said, misuse(function() ask(session, name, "/a") end))
    end)

    it("is disconnected while there is no server: " .. name, function()
      local proxy = start_proxy()
      local cut = connect { hosts = proxy.hosts }
      proxy:refuse()
      support.step_until(cut, function() return cut:state() == "suspended" end)
      local result, message, code = ask(cut, name, path)
      assert.is_nil(result)
      assert.equal("disconnected", code)
      assert.matches(path, message, 1, true)
      proxy:heal()
      support.step_until(cut, function() return cut:state() == "connected" end)
      zk:make((path:match "^(.*)/"))
      assert.is_not_nil((ask(cut, name, path)))
      cut:close()
    end)

    it("is closed with the session: " .. name, function()
      local proxy, loop = start_proxy(), new_scheduler()
      local asking = connect { hosts = proxy.hosts, loop = loop.adapter }
      local asked, result, message, code
      proxy:freeze()
      loop:spawn(function()
        asked = true
        result, message, code = ask(asking, name, path)
      end)
      support.wait_until(function()
        loop:turn(0)
        return asked
      end)
      asking:close()
      loop:run()
      assert.is_nil(result)
      assert.equal("closed", code)
      assert.matches(path, message, 1, true)
      proxy:heal()
    end)
  end

  it("is disconnected where the answer is lost, done or not", function()
    local proxy = start_proxy()
    local cut = connect { hosts = proxy.hosts }
    local row = zk:make(path) and zk:create(path .. "/" .. NODE)
    local function loses(kind, ...)
      proxy:lose_reply(kind)
      assert.equal("disconnected", select(3, ask(cut, ...)))
      proxy:heal()
      support.step_until(cut, function() return cut:state() == "connected" end)
    end
    loses("exists", "stat", path)
    loses("list", "children", path)
    loses("set", "stamp", path)
    assert.equal("data", (zk:get(path)))
    loses("create", "stamp", path .. "/made")
    assert.equal("data", (zk:get(path .. "/made")))
    loses("delete", "evict", path)
    support.wait_until(function() -- (a heartbeat's answer may be what was lost)
      return cut:evict(path, NODE) ~= nil and not zk:exists(row)
    end)
    cut:close()
  end)
end)

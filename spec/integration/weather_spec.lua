-- Bad weather: servers that are not there, silent, or gone for a while.
local socket = require "socket"
local spawn = require "support.child".spawn
local start_proxy = require "support.proxy".start
local support = require "support"
local zklock = require "zklock"
local connect = support.connect

-- connect() that must fail: message, code; in time, with nothing left.
local function refused(hosts, options)
  options = options or {}
  options.connect_timeout = options.connect_timeout or 0.5
  local fds, threads = support.count_fds(), support.count_threads()
  local begun = support.now()
  local session, message, code = zklock.connect(hosts, options)
  local took = support.now() - begun
  assert.is_nil(session)
  assert.is_true(took < options.connect_timeout + support.slack, took)
  support.wait_until(function()
    return support.count_fds() <= fds and support.count_threads() <= threads
  end, 3, "no descriptor and no thread left")
  return message, code, took
end

describe("connect", function()
  before_each(support.start)
  after_each(support.finish)

  it("finds no server listening", function()
    local taken = socket.tcp() -- so that nobody else listens there
    assert(taken:bind("127.0.0.1", 0))
    local hosts = "127.0.0.1:" .. select(2, taken:getsockname())
    local message, code, took = refused(hosts)
    taken:close()
    assert.equal("disconnected", code)
    assert.matches("^zklock: no server of " .. hosts
      .. " answered within 0.5 s", message)
    assert.matches("Connection refused", message)
    assert.is_true(took >= 0.5) -- one may yet come up
  end)

  it("finds one that comes up while it waits", function()
    local proxy = start_proxy()
    proxy:refuse()
    local child = spawn([[
      local session, message = zklock.connect((...), { connect_timeout = 10 })
      say(session and session:state() or message)
      session:close()
    ]], proxy.hosts)
    support.sleep(0.3)
    proxy:heal()
    child:expect "connected"
  end)

  it("finds a silent server", function()
    local listener = socket.bind("127.0.0.1", 0)
    local _, port = listener:getsockname()
    local message, code = refused("127.0.0.1:" .. port)
    assert.equal("disconnected", code)
    assert.matches("answered within 0.5 s", message)
    listener:close()
  end)

  it("finds a server that talks nonsense", function()
    local child = spawn [[
      local listener = assert(socket.bind("127.0.0.1", 0))
      say((select(2, listener:getsockname())))
      while true do
        local client = listener:accept()
        client:send(("HTTP/1.0 400 Bad Request\r\n\r\n"):rep(10))
        client:close()
      end
    ]]
    local _, code = refused("127.0.0.1:" .. child:hear())
    assert.equal("disconnected", code)
  end)

  it("finds a host that nobody knows", function()
    local message, code = refused("nosuch.invalid:2181",
      { connect_timeout = 2 })
    assert.equal("disconnected", code)
    assert.matches("nosuch.invalid", message)
  end)

  it("is not held up by a resolver that hangs #stock", function()
    local names = require "support.names".new()
    names:set("host.example", "hang")
    local child = require "support.child".spawn_with(
      names.environment, [[
        local begun = socket.gettime()
        local session, message, code = zklock.connect("host.example",
          { connect_timeout = 0.3 })
        local took = socket.gettime() - begun
        say(session, code, took >= 0.3 and took < 5)
      ]])
    child:expect "nil\tdisconnected\ttrue"
    local begun = support.now()
    assert.equal(0, child:wait())
    assert.is_true(support.now() - begun < support.slack)
  end)

  it("is refused with an authentication scheme that nobody knows", function()
    local message, code = refused(support.hosts, { connect_timeout = 3,
      auth = { scheme = "nosuch", credential = "a:b" } })
    assert.equal("auth", code)
    assert.matches("^zklock: .*authentication", message)
  end)

  it("does not wait longer for the second of two silent servers", function()
    local a, b = socket.bind("127.0.0.1", 0), socket.bind("127.0.0.1", 0)
    local hosts = ("127.0.0.1:%d,127.0.0.1:%d"):format(
      select(2, a:getsockname()), select(2, b:getsockname()))
    local _, code = refused(hosts)
    assert.equal("disconnected", code)
    a:close()
    b:close()
  end)

  it("writes nothing to stdout or stderr whatever happens", function()
    local child = spawn([[
      local hosts = ...
      for _, bad in ipairs { "127.0.0.1:1", "nosuch.invalid" } do
        zklock.connect(bad, { connect_timeout = 0.3 })
      end
      zklock.connect(hosts, { connect_timeout = 2,
        auth = { scheme = "nosuch", credential = "a:b" } })
      local session = assert(zklock.connect(hosts))
      session:mutex("/zookeeper/x"):acquire(1)
      session:close()
      say "done"
    ]], support.hosts)
    child:expect "done"
    child:wait()
    assert.equal("", child:output())
  end)

  it("logs the client's words where there is a log", function()
    local lines = {}
    zklock.connect("127.0.0.1:1", {
      connect_timeout = 0.3,
      log = function(level, message)
        lines[#lines + 1] = message
        assert.is_true(level == "debug" or level == "warn" or level == "error")
      end,
    })
    if zklock.backend == "st" then assert.is_true(#lines > 0) end
  end)
end)

describe("Authentication", function()
  before_each(support.start)
  after_each(support.finish)

  local alice = { scheme = "digest", credential = "alice:secret" }
  local bob = { scheme = "digest", credential = "bob:secret" }

  -- A path whose parent is open to all.
  local function open_path()
    local path = support.path()
    support.zk():make((path:match("^(.*)/")))
    return path
  end

  -- The session that has made the directory, with acl = "creator".
  local function made_by_alice(path)
    local session = connect { auth = alice, acl = "creator" }
    assert(session:mutex(path):acquire(5)):release { wait = true }
    return session
  end

  it("lets its owner in", function()
    local path = open_path()
    local session = made_by_alice(path)
    assert.is_true(session:mutex(path):acquire(5):release { wait = true })
    local second = connect { auth = { alice }, acl = "creator" }
    assert.is_true(second:mutex(path):acquire(5):release { wait = true })
    session:close()
    second:close()
    local raw = require "support.raw".connect(support.hosts,
      { auth = "alice:secret" })
    raw:delete_all(path)
    raw:close()
  end)

  it("keeps others out: acquire returns auth", function()
    local path = open_path()
    local owner = made_by_alice(path)
    -- a hold keeps the directory, which the server would remove
    local hold = owner:mutex(path):acquire(5)
    for _, options in ipairs { {}, { auth = bob },
        { auth = bob, acl = "creator" } } do
      local begun = support.now()
      local mutex = connect(options):mutex(path)
      for _, name in ipairs { "acquire", "try_acquire" } do
        local guard, message, code = mutex[name](mutex)
        assert.is_nil(guard)
        assert.equal("auth", code)
        assert.matches("^zklock: ZooKeeper refused a node under "
          .. path:gsub("%-", "%%-"), message)
      end
      assert.is_true(support.now() - begun < support.slack)
    end
    assert.is_true(hold:is_held())
    assert.is_true(hold:release { wait = true })
    owner:close()
    local raw = require "support.raw".connect(support.hosts,
      { auth = "alice:secret" })
    raw:delete_all(path)
    raw:close()
  end)

  it("tells each of two that are refused its own reason", function()
    local zk, session = support.zk(), connect {}
    local unreadable, childless = open_path(), open_path()
    -- All but to read: a node can be made there, and no list be had.
    zk:create(unreadable, { acl = {
      { perms = 30, scheme = "world", id = "anyone" } } })
    zk:create(childless, { ephemeral = true })
    local told, count = {}, 0
    local function refuse(path)
      session:mutex(path):acquire_async(5, function(guard, message, code)
        assert.is_nil(guard)
        told[path], count = { code, message }, count + 1
      end)
    end
    for _, first in ipairs { unreadable, childless } do
      count = 0
      refuse(first)
      refuse(first == unreadable and childless or unreadable)
      support.step_until(session, function() return count == 2 end)
      assert.same({ "auth", ("zklock: ZooKeeper refused a node under %s: "
        .. "not authenticated"):format(unreadable) }, told[unreadable])
      assert.same({ "invalid", ("zklock: ZooKeeper cannot make a lock at %s: "
        .. "no children for ephemerals"):format(childless) },
        told[childless])
    end
    session:close()
    zk:delete(unreadable)
    zk:delete(childless)
  end)

  it("read lets others look, an ACL list is as it says", function()
    local path = open_path()
    local session = connect { auth = alice, acl = "read" }
    local guard = session:mutex(path):acquire(5)
    assert.equal(1, #support.zk():children(path))
    assert.is_string((support.zk():get(guard.node)))
    assert.is_false(pcall(support.zk().create, support.zk(), path .. "/x"))
    guard:release { wait = true }
    session:close()
    session = connect { acl = {
      { scheme = "world", id = "anyone", perms = "cdrwa" } } }
    path = open_path()
    assert.is_true(session:mutex(path):acquire(5):release { wait = true })
    support.zk():delete(path)
  end)
end)

describe("A cut shorter than the lease", function()
  before_each(support.start)
  after_each(support.finish)

  it("leaves a hold as it was: the same node (T13)", function()
    local path, events = support.path(), {}
    local proxy = start_proxy()
    local session = connect { hosts = proxy.hosts, session_timeout = 10,
      on_event = function(event) events[#events + 1] = event end }
    local id = session:id()
    local guard = session:mutex(path):acquire(5)
    local called = false
    guard:on_lost(function() called = true end)
    for i = 1, 3 do
      proxy:refuse()
      support.step_until(session, function()
        return session:state() == "suspended"
      end)
      assert.equal("suspended", guard:state())
      assert.is_true(guard:is_held()) -- its lease still stands
      assert.is_true(guard:lease() > 0)
      proxy:heal()
      support.step_until(session, function()
        return session:state() == "connected"
      end)
      assert.equal("held", guard:state())
      assert.equal(i, session:stats().reconnects)
    end
    assert.is_true(guard:verify())
    assert.same({ path:match("[^/]+$") and guard.node:match("[^/]+$") },
      support.zk():queue(path))
    assert.equal(id, session:id())
    assert.is_false(called)
    assert.same({ "connected", "suspended", "reconnected", "suspended",
      "reconnected", "suspended", "reconnected" }, events)
    assert.is_true(guard:release { wait = true })
  end)

  it("ends a hold whose node an operator has deleted meanwhile", function()
    local path = support.path()
    local proxy = start_proxy()
    local session = connect { hosts = proxy.hosts, session_timeout = 60 }
    local guard = session:mutex(path):acquire(5)
    proxy:refuse()
    support.step_until(session, function()
      return session:state() == "suspended"
    end)
    support.zk():delete(guard.node)
    assert.is_true(guard:is_held()) -- nobody can know
    proxy:heal()
    -- at once, and not with the next heartbeat
    support.wait_until(function() return guard:state() == "lost" end)
    assert.equal("lost", (select(3, guard:release())))
  end)

  it("ends a hold that is to be lost on suspension", function()
    local path = support.path()
    local proxy = start_proxy()
    local session = connect { hosts = proxy.hosts, session_timeout = 10 }
    local guard = session:mutex(path, { on_suspend = "lose" }):acquire(5)
    local code
    guard:on_lost(function(_, why) code = why end)
    local begun = support.now()
    proxy:refuse()
    support.step_until(session, function() return code end)
    assert.is_true(support.now() - begun < support.slack)
    assert.is_false(guard:is_held())
    assert.equal("lost", guard:state())
    proxy:heal()
    support.wait_for_queue(path, 0) -- and its node is taken away
    assert.equal("lost", (select(3, guard:release())))
  end)

  it("keeps a waiter's node and its place in the queue (T21)", function()
    local path = support.path()
    local holder = support.hold(path)
    local proxy = start_proxy()
    local session = connect { hosts = proxy.hosts, session_timeout = 10 }
    local guard
    session:mutex(path):acquire_async(nil, function(mine) guard = mine end)
    support.wait_for_queue(path, 2)
    local behind = connect()
    behind:mutex(path):acquire_async(nil, function() end)
    local queue = support.wait_for_queue(path, 3)
    for _ = 1, 3 do
      proxy:cut()
      support.sleep(0.05)
    end
    support.step_until(session, function()
      return session:state() == "connected"
    end)
    assert.same(queue, support.zk():queue(path))
    holder:release()
    support.step_until(session, function() return guard end)
    assert.equal(path .. "/" .. queue[2], guard.node)
    assert.is_true(guard:is_held())
  end)

  it("grants a waiter whose turn came meanwhile", function()
    local path = support.path()
    local holder = support.hold(path)
    local proxy = start_proxy()
    local session = connect { hosts = proxy.hosts, session_timeout = 10 }
    local guard
    session:mutex(path):acquire_async(nil, function(mine) guard = mine end)
    local queue = support.wait_for_queue(path, 2)
    proxy:refuse()
    holder:release { wait = true }
    support.sleep(0.1)
    session:step()
    assert.is_nil(guard)
    proxy:heal()
    support.step_until(session, function() return guard end)
    assert.equal(path .. "/" .. queue[2], guard.node)
  end)

  it("does not make an owner wait for itself (T44)", function()
    local proxy = start_proxy()
    local session = connect { hosts = proxy.hosts, session_timeout = 10 }
    local mutex = session:mutex(support.path())
    local guard = mutex:acquire(5)
    proxy:cut()
    support.step_until(session, function()
      return session:stats().reconnects == 1
    end)
    local again = assert(mutex:acquire(1))
    assert.equal(guard:token(), again:token())
  end)
end)

describe("A reply that is lost", function()
  before_each(support.start)
  after_each(support.finish)

  local function wait_in(session, path, options)
    local result = {}
    session:mutex(path):acquire_async(options, function(guard, message, code)
      result.done, result.guard = true, guard
      result.message, result.code = message, code
    end)
    return result
  end

  it("to a create leaves one node, which is granted (T16, T22)", function()
    local path = support.path()
    support.zk():make(path)
    local proxy = start_proxy()
    local session = connect { hosts = proxy.hosts, session_timeout = 10 }
    proxy:lose_reply "create"
    local result = wait_in(session, path)
    proxy:await_loss()
    local queue = support.wait_for_queue(path, 1)
    proxy:heal()
    support.step_until(session, function() return result.done end)
    assert.equal(path .. "/" .. queue[1], result.guard.node)
    assert.equal(1, #support.zk():queue(path))
    assert.equal(support.zk():exists(result.guard.node).czxid,
      result.guard:token())
    assert.is_true(result.guard:release { wait = true })
    assert.equal(0, #support.zk():queue(path))
  end)

  it("to a create leaves nothing if the wait ends meanwhile (T16)", function()
    local path = support.path()
    support.zk():make(path)
    local proxy = start_proxy()
    local session = connect { hosts = proxy.hosts, session_timeout = 10 }
    proxy:lose_reply "create"
    local result = wait_in(session, path, 0.3)
    proxy:await_loss()
    support.wait_for_queue(path, 1)
    support.step_until(session, function() return result.done end)
    assert.equal("disconnected", result.code)
    assert.equal(1, session:stats().pending_releases)
    proxy:heal()
    support.wait_for_queue(path, 0)
    support.wait_until(function()
      return session:stats().pending_releases == 0
    end)
    assert.is_true(session:mutex(path):acquire(5):release())
  end)

  it("to the list after it does no harm (T19)", function()
    local path = support.path()
    support.zk():make(path)
    local proxy = start_proxy()
    local session = connect { hosts = proxy.hosts, session_timeout = 10 }
    proxy:lose_reply "list"
    local result = wait_in(session, path)
    proxy:await_loss()
    proxy:lose_reply "list"
    proxy:heal()
    proxy:await_loss()
    proxy:heal()
    support.step_until(session, function() return result.done end)
    assert.equal(1, #support.zk():queue(path))
    assert.is_true(result.guard:is_held())
  end)

  it("to a delete does not bring the lock back (T24)", function()
    local path = support.path()
    local proxy = start_proxy()
    local session = connect { hosts = proxy.hosts, session_timeout = 10 }
    local mutex = session:mutex(path)
    local guard = mutex:acquire(5)
    proxy:lose_reply "delete"
    assert.is_true(guard:release())
    proxy:await_loss()
    assert.equal("released", guard:state())
    proxy:heal()
    support.wait_for_queue(path, 0)
    assert.is_true(mutex:acquire(5):release())
  end)

  it("does not matter to a release made while there is no server (T24)",
    function()
      local path = support.path()
      local proxy = start_proxy()
      local session = connect { hosts = proxy.hosts, session_timeout = 10 }
      local mutex = session:mutex(path)
      local guard = mutex:acquire(5)
      proxy:refuse()
      support.step_until(session, function()
        return session:state() == "suspended"
      end)
      assert.is_true(guard:release())
      assert.equal("released", guard:state())
      assert.equal(1, #support.zk():queue(path))
      support.wait_until(function()
        return session:stats().pending_releases == 1
      end)
      proxy:heal()
      support.wait_for_queue(path, 0)
      -- nor does its next acquire wait behind its own ghost
      assert.is_true(mutex:acquire(2):release())
    end)

  it("to a read makes its waiter look again", function()
    local path = support.path()
    local holder = support.hold(path)
    local proxy = start_proxy()
    local session = connect { hosts = proxy.hosts, session_timeout = 10 }
    proxy:lose_reply "get"
    local result = wait_in(session, path)
    proxy:await_loss()
    proxy:heal()
    support.step_until(session, function()
      return session:state() == "connected"
    end)
    holder:release()
    support.step_until(session, function() return result.done end)
    assert.is_true(result.guard:is_held())
  end)
end)

describe("Without a server", function()
  before_each(support.start)
  after_each(support.finish)

  local function cut_off(options)
    local proxy = start_proxy()
    options = options or {}
    options.hosts = proxy.hosts
    options.session_timeout = options.session_timeout or 10
    local session = connect(options)
    return session, proxy, function()
      proxy:refuse()
      support.step_until(session, function()
        return session:state() == "suspended"
      end)
    end
  end

  it("acquire says disconnected at its deadline", function()
    local session, proxy, cut = cut_off()
    local path = support.path()
    cut()
    local begun = support.now()
    local guard, message, code = session:mutex(path):acquire(0.4)
    local took = support.now() - begun
    assert.is_nil(guard)
    assert.equal("disconnected", code)
    assert.matches("^zklock: no server of .* answered within 0.4 s, "
      .. "waiting for /", message)
    assert.is_true(took >= 0.4 and took < 0.4 + support.slack, took)
    proxy:heal()
  end)

  it("try_acquire and a timeout of 0 say so at once", function()
    local session, _, cut = cut_off()
    local mutex = session:mutex(support.path())
    cut()
    local begun = support.now()
    assert.equal("disconnected", (select(3, mutex:try_acquire())))
    assert.equal("disconnected", (select(3, mutex:acquire(0))))
    assert.is_true(support.now() - begun < support.slack)
  end)

  it("try_acquire waits one session timeout for a silent one", function()
    local session, proxy = cut_off { session_timeout = 1 }
    local mutex = session:mutex(support.path())
    proxy:freeze()
    local begun = support.now()
    local _, _, code = mutex:try_acquire()
    assert.equal("disconnected", code)
    assert.is_true(support.now() - begun < 1 + support.slack)
    proxy:heal()
  end)

  it("a waiter for ever is granted when one comes back", function()
    local session, proxy, cut = cut_off()
    local path, guard = support.path(), nil
    cut()
    session:mutex(path):acquire_async(nil, function(mine) guard = mine end)
    support.sleep(0.2)
    session:step()
    assert.is_nil(guard)
    proxy:heal()
    support.step_until(session, function() return guard end)
  end)

  it("verify says disconnected, a release that waits goes on", function()
    local session, proxy, cut = cut_off()
    local path = support.path()
    local guard = session:mutex(path):acquire(5)
    cut()
    local ok, message, code = guard:verify()
    assert.is_nil(ok)
    assert.equal("disconnected", code)
    assert.matches("^zklock: no server could be asked", message)
    assert.is_true(guard:is_held())
    proxy:heal()
    assert.is_true(guard:release { wait = true })
    assert.equal(0, #support.zk():queue(path))
  end)

  it("a hold is lost by the local clock, before the server's (T58)",
    function()
      local session, proxy = cut_off { session_timeout = 3 }
      local path = support.path()
      local guard = session:mutex(path):acquire(5)
      local lost
      guard:on_lost(function(_, code) lost = code end)
      -- (A young connection has a longer lease, which ends just before.)
      support.wait_until(function() return guard:lease() < 0.6 * 3 end)
      proxy:freeze()
      local begun = support.now()
      support.wait_until(function() return not guard:is_held() end)
      assert.is_true(support.now() - begun < 0.6 * 3 + support.slack)
      assert.equal(1, #support.zk():queue(path))
      support.step_until(session, function() return lost end, 1)
      assert.equal("lost", guard:state())
      assert.equal("lost", (select(3, guard:release())))
      proxy:heal()
      support.wait_for_queue(path, 0)
      assert.is_true(session:mutex(path):acquire(5):release())
    end)

  it("longer than its timeout a session expires, and a new one begins",
    function()
      local events = {}
      local session, proxy, cut = cut_off { session_timeout = 1,
        on_event = function(event) events[#events + 1] = event end }
      local path, id = support.path(), session:id()
      local mutex = session:mutex(path)
      local guard = mutex:acquire(5)
      local calls = {}
      guard:on_lost(function(_, code) calls[#calls + 1] = code end)
      cut()
      support.wait_for_queue(path, 0)
      proxy:heal()
      support.step_until(session, function() return events[4] end)
      assert.are_not.equal(id, session:id())
      assert.same({ "connected", "suspended", "expired", "connected" }, events)
      assert.equal(1, #calls)
      assert.equal("lost", (select(3, mutex:acquire(1))))
      assert.equal("lost", (select(3, guard:release())))
      local fresh = mutex:acquire(5)
      assert.is_true(fresh:is_held())
      assert.is_true(fresh:token() > guard:token())
    end)

  it("a waiter whose session expires is granted with a new node", function()
    local path = support.path()
    local holder = support.hold(path)
    local session, proxy, cut = cut_off { session_timeout = 1 }
    local guard
    session:mutex(path):acquire_async(20, function(mine) guard = mine end)
    local old = support.wait_for_queue(path, 2)[2]
    cut()
    support.wait_for_queue(path, 1)
    local behind, other = connect(), nil
    behind:mutex(path):acquire_async(nil, function(mine) other = mine end)
    support.wait_for_queue(path, 2)
    proxy:heal()
    local queue = support.wait_for_queue(path, 3) -- at the tail
    assert.are_not.equal(old, queue[3])
    holder:release()
    support.step_until(behind, function() return other end)
    session:step()
    assert.is_nil(guard)
    other:release()
    support.step_until(session, function() return guard end)
    assert.equal(path .. "/" .. queue[3], guard.node)
  end)

  it("a waiter keeps its deadline across the expiry", function()
    local path = support.path()
    support.hold(path)
    local session, proxy, cut = cut_off { session_timeout = 1 }
    local code
    local begun = support.now()
    session:mutex(path):acquire_async(2.5, function(_, _, why) code = why end)
    support.wait_for_queue(path, 2)
    cut()
    support.wait_for_queue(path, 1)
    proxy:heal()
    support.step_until(session, function() return code end)
    assert.equal("timeout", code)
    local took = support.now() - begun
    assert.is_true(took >= 2.5 and took < 2.5 + support.slack, took)
  end)

  it("close is quick, and the nodes go with the session's timeout", function()
    local session, proxy, cut = cut_off { session_timeout = 1 }
    local path = support.path()
    session:mutex(path):acquire(5)
    cut()
    local begun = support.now()
    session:close()
    assert.is_true(support.now() - begun < 2 + support.slack)
    support.wait_for_queue(path, 0)
    proxy:heal()
  end)

  it("close of a silent one takes two seconds at most", function()
    local session, proxy = cut_off { session_timeout = 3 }
    session:mutex(support.path()):acquire(5)
    proxy:freeze()
    local begun = support.now()
    session:close()
    assert.is_true(support.now() - begun < 2 + support.slack)
    proxy:heal()
    proxy:cut()
  end)

  it("and with it again a hundred times nothing is left (T18)", function()
    local session, proxy = cut_off()
    local path, done = support.path(), 0
    for i = 1, 100 do
      session:mutex(path):acquire_async({ timeout = 0 }, function(guard)
        done = done + 1
        if guard then guard:release() end
      end)
      if i % 10 == 0 then proxy:cut() end
    end
    support.step_until(session, function() return done == 100 end, 10)
    support.wait_for_queue(path, 0)
  end)
end)

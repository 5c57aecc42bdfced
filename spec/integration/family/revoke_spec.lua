-- Asking holders to let go.
local kinds = require "integration.family.kinds"
local spawn = require "support.child".spawn
local support = require "support"
local connect, misuse = support.connect, support.misuse
local wait_in, await, nobody = kinds.wait_in, kinds.await, kinds.nobody

-- The path below which a kind's holder has its node.
local function path_of(kind, path)
  return kind.multi and path .. "/a" or path
end

-- A guard, how often it was asked, and its session; its watch is armed.
local function listening(lock, options)
  local heard = { n = 0 }
  local guard = assert(lock:acquire(options or 5))
  guard:on_revoke(function(mine)
    heard.n = heard.n + 1
    heard.guard = mine
  end)
  local session = lock._session
  support.wait_until(function() return session:stats().watches > 0 end)
  support.sleep(0.02)
  return guard, heard, session
end

local function step_until_heard(session, heard)
  support.step_until(session, function() return heard.n > 0 end, 5,
    "a revocation")
end

describe("revoke", function()
  before_each(function() kinds.start() end)
  after_each(support.finish)

  local path
  before_each(function() path = support.path() end)

  kinds.each(it, "asks the holder, once", function(kind)
    local guard, heard, session = listening(kind.make(connect(), path))
    local where, other = path_of(kind, path), connect()
    assert.equal(1, other:revoke(where))
    step_until_heard(session, heard)
    assert.equal(guard, heard.guard)
    assert.equal(1, other:revoke(where))
    assert.equal(1, session:revoke(where)) -- itself
    support.sleep(0.05)
    session:step()
    assert.equal(1, heard.n)
    assert.is_true(guard:is_held())
    assert.is_true(guard:verify())
    guard:release()
  end)

  kinds.each(it, "by Curator's word is heard", function(kind)
    local guard, heard, session = listening(kind.make(connect(), path))
    support.zk():set(guard.node:match "^[^,]+", "__REVOKE__")
    step_until_heard(session, heard)
    support.sleep(0.02)
    session:step()
    assert.equal(1, heard.n)
    assert.is_true(guard:is_held())
    guard:release()
  end)

  kinds.each(it, "lets nobody in before the holder has let go", function(kind)
    local guard = kind.make(connect(), path):acquire(30)
    local where = path_of(kind, path)
    local waiter = wait_in(kind.rival(connect(), path))
    nobody(0.03, waiter)
    local other = connect()
    local asked = other:revoke(where)
    assert.equal(1, asked, "the hold is " .. tostring(guard:state()))
    assert.equal(1, other:revoke(where))
    support.zk():set(guard.node:match "^[^,]+", "__REVOKE__")
    nobody(0.1, waiter)
    assert.is_true(guard:verify())
    guard:release()
    await(waiter):release()
  end)

  it("returns how many were asked", function()
    local other = connect()
    assert.equal(0, other:revoke(path))
    local sides, guards = {}, {}
    for i = 1, 3 do
      sides[i] = connect():rwlock(path)
      guards[i] = sides[i].read:acquire(30)
    end
    local writer = wait_in(connect():rwlock(path).write)
    nobody(0.03, writer)
    assert.equal(3, other:revoke(path))
    for i = 1, 3 do guards[i]:release { wait = true } end
    await(writer)
    assert.equal(1, other:revoke(path))
    writer.guard:release { wait = true }
    assert.equal(0, other:revoke(path))
    local of_two = support.path()
    local one = connect():semaphore(of_two, 2):acquire(30)
    local two = connect():semaphore(of_two, 2):acquire(30)
    local third = wait_in(connect():semaphore(of_two, 2))
    nobody(0.05, third)
    assert.equal(2, other:revoke(of_two))
    for _, guard in ipairs { one, two } do guard:release() end
    await(third):release()
  end)

  it("asks the holder and not those who wait", function()
    local guard, heard, session = listening(connect():mutex(path))
    local waiters = {}
    for i = 1, 3 do
      waiters[i] = kinds.queue_in(connect():mutex(path, { data = "w" .. i }),
        path)
    end
    assert.equal(1, connect():revoke(path))
    step_until_heard(session, heard)
    for i = 1, 3 do
      assert.equal("w" .. i, (support.zk():get(waiters[i].node)))
    end
    guard:release()
    for i = 1, 3 do await(waiters[i]):release() end
  end)

  it("keeps the holder's data", function()
    for _, data in ipairs { "host:1", "", "\0\255binary\n", ("x"):rep(1e5) } do
      local guard, heard, session =
        listening(connect():mutex(path), { data = data, timeout = 5 })
      assert.equal(1, connect():revoke(path))
      step_until_heard(session, heard)
      assert.equal(1, connect():revoke(path))
      local stored = support.zk():get(guard.node)
      assert.equal(data, stored:sub(1, #data))
      assert.is_true(#stored > #data and #stored < #data + 40)
      local list = connect():contenders(path)
      assert.is_true((list[1].data or "") == data)
      guard:release { wait = true }
    end
  end)

  it("is heard by who begins to listen afterwards", function()
    for _, seconds in ipairs { 0, 0.5 } do
      local session = connect { session_timeout = 2 }
      local guard = session:mutex(path):acquire(30)
      support.sleep(seconds) -- its watch is armed by a heartbeat, or not
      assert.equal(1, connect():revoke(path))
      support.sleep(0.05)
      session:step()
      local asked = 0
      guard:on_revoke(function() asked = asked + 1 end)
      support.step_until(session, function() return asked == 1 end)
      guard:on_revoke(function() asked = asked + 1 end)
      support.step_until(session, function() return asked == 2 end)
      guard:release { wait = true }
    end
  end)

  it("is heard by every listener of every guard of the hold", function()
    local session = connect()
    local mutex = session:mutex(path)
    local one, two = mutex:acquire(30), mutex:acquire(30)
    local heard = {}
    one:on_revoke(function(guard) heard[#heard + 1] = guard end)
    one:on_revoke(function(guard) heard[#heard + 1] = guard end)
    two:on_revoke(function(guard) heard[#heard + 1] = guard end)
    support.sleep(0.05)
    connect():revoke(path)
    support.step_until(session, function() return #heard == 3 end)
    assert.same({ one, one, two }, heard)
    one:release()
    two:release()
  end)

  it("is not heard after the release, nor after the loss", function()
    local guard, heard, session = listening(connect():mutex(path))
    connect():revoke(path)
    guard:release()
    support.sleep(0.05)
    session:step()
    assert.equal(0, heard.n)
    guard:on_revoke(function() heard.n = heard.n + 1 end)
    session:step()
    assert.equal(0, heard.n)
  end)

  it("is heard again by the next hold, and only then", function()
    local mutex = connect():mutex(path)
    for _ = 1, 3 do
      local guard, heard, session = listening(mutex)
      session:step()
      assert.equal(0, heard.n)
      connect():revoke(path)
      step_until_heard(session, heard)
      guard:release { wait = true }
    end
  end)

  it("is not heard for other data", function()
    local guard, heard, session = listening(connect():mutex(path))
    for _, data in ipairs { "", "__REVOKE", "__REVOKE__x", "x__REVOKE__",
      "\n__REVOKE__", "__revoke__", "zklock:revoke", "\nzklock:revoke\n",
      ("x"):rep(100000) } do
      support.zk():set(guard.node, data)
    end
    support.sleep(0.05)
    session:step()
    assert.equal(0, heard.n)
    support.zk():set(guard.node, "__REVOKE__")
    step_until_heard(session, heard)
    guard:release()
  end)

  it("is heard though the connection broke", function()
    local proxy = require "support.proxy".start()
    local guard, heard, session = listening(connect { hosts = proxy.hosts,
      session_timeout = 10 }:mutex(path))
    proxy:refuse()
    assert.equal(1, connect():revoke(path))
    proxy:heal()
    step_until_heard(session, heard)
    assert.is_true(guard:verify())
    guard:release()
  end)

  it("lets a holder stop at its next safe point", function()
    local child = spawn([[
      local session = assert(zklock.connect(hosts))
      local parts = 0
      assert(session:mutex((...)):with_lock(function(guard)
        local stop = false
        guard:on_revoke(function() stop = true end)
        say "working"
        while not stop do
          parts = parts + 1
          socket.sleep(0.01)
          session:step()
        end
      end))
      say "stopped"
      session:close()
    ]], path)
    child:expect "working"
    local session = connect()
    local waiter = wait_in(session:mutex(path))
    nobody(0.05, waiter)
    assert.equal(1, session:revoke(path))
    await(waiter)
    child:expect "stopped"
    waiter.guard:release()
  end)

  it("may release in its callback", function()
    local session = connect()
    local guard = session:mutex(path):acquire(30)
    guard:on_revoke(function(mine) mine:release() end)
    support.sleep(0.03)
    local waiter = wait_in(connect():mutex(path))
    waiter.session:revoke(path)
    support.wait_until(function()
      session:step()
      waiter.session:step()
      return waiter.guard
    end)
    waiter.guard:release()
  end)

  it("is refused where an ACL does not let it write", function()
    local owner = connect { auth = { scheme = "digest", credential = "u:p" },
      acl = "read" }
    local guard = owner:mutex(path):acquire(30)
    local asked, message, code = connect():revoke(path)
    assert.is_nil(asked)
    assert.equal("denied", code)
    assert.matches("^zklock: ", message)
    assert.equal(1, owner:revoke(path))
    guard:release { wait = true }
    support.zk() -- the directory is not ours to delete
    owner:close()
    local zk = require "support.raw".connect(support.hosts, { auth = "u:p" })
    zk:delete_all(path:match "^/[^/]+")
    zk:close()
  end)

  it("keeps data as big as they may be", function()
    local data = ("d"):rep(1000000)
    local guard, heard, session =
      listening(connect():mutex(path), { data = data, timeout = 5 })
    assert.equal(1, connect():revoke(path))
    step_until_heard(session, heard)
    assert.is_true((support.zk():get(guard.node)):sub(1, #data) == data)
    guard:release()
  end)

  it("is misuse of a bad path, or of no function", function()
    local session = connect()
    for _, call in ipairs { "revoke", "contenders" } do
      for _, bad in ipairs { "", "a", "/a/", "/a//b", "/a/../b" } do
        assert.matches("^path ",
          misuse(function() session[call](session, bad) end))
      end
      assert.equal("path must be a string, got nil",
        misuse(function() session[call](session) end))
    end
    local guard = session:mutex(path):acquire(30)
    assert.equal("argument 1 of on_revoke must be a function, got nil",
      misuse(function() guard:on_revoke() end))
    session:close()
    assert.equal("the session is closed",
      misuse(function() session:revoke(path) end))
    assert.equal("the session is closed",
      misuse(function() session:contenders(path) end))
  end)
end)

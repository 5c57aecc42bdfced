-- Asking holders to let go.
local kinds = require "integration.family.kinds"
local sessions = require "integration.sessions"
local support = require "support"
local connect = support.connect
local wait_in, await, nobody = kinds.wait_in, kinds.await, kinds.nobody

-- A guard, and how often it was asked. Its session's heartbeats are too seldom
-- to tell of it.
local function listening(lock)
  local heard = { n = 0 }
  local guard = assert(lock:acquire(5))
  guard:on_revoke(function(mine)
    heard.n = heard.n + 1
    heard.guard = mine
  end)
  return guard, heard
end

local function slow_session() return connect { session_timeout = 60 } end

-- Within a moment, unless it was heard before.
local function hears(session, heard, n)
  local begun = support.now()
  support.step_until(session, function() return heard.n >= (n or 1) end)
  assert.is_true(support.now() - begun < 0.05)
  assert.equal(n or 1, heard.n)
end

local function hears_nothing(session, heard)
  support.advance(1)
  session:step()
  assert.equal(0, heard.n)
end

describe("revoke", function()
  local path
  before_each(function() path = support.path() end)

  kinds.each(it, "asks the holder, at once and once, and lets nobody in before "
    .. "it has let go", function(kind)
    local session, other = slow_session(), connect()
    local where = kind.multi and path .. "/a" or path
    local guard, heard = listening(kind.make(session, path))
    local waiter = wait_in(kind.rival(connect(), path))
    nobody(0.03, waiter)
    assert.equal(1, other:revoke(where))
    hears(session, heard)
    assert.equal(guard, heard.guard)
    assert.equal(1, other:revoke(where))
    assert.equal(1, session:revoke(where)) -- itself
    support.zk():set(guard.node:match "^[^,]+", "__REVOKE__")
    nobody(0.1, waiter)
    session:step()
    assert.equal(1, heard.n)
    assert.is_true(guard:verify())
    guard:release()
    await(waiter):release()
  end)

  it("returns how many were asked", function()
    local other, guards = connect(), {}
    assert.equal(0, other:revoke(path))
    for i = 1, 3 do
      guards[i] = connect():rwlock(path).read:acquire(30)
    end
    local writer = wait_in(connect():rwlock(path).write)
    nobody(0.03, writer)
    assert.equal(3, other:revoke(path))
    for i = 1, 3 do guards[i]:release { wait = true } end
    await(writer)
    assert.equal(1, other:revoke(path))
    writer.guard:release { wait = true }
    assert.equal(0, other:revoke(path))
    path = support.path()
    local one = connect():semaphore(path, 2):acquire(30)
    local two = connect():semaphore(path, 2):acquire(30)
    local third = wait_in(connect():semaphore(path, 2))
    nobody(0.05, third)
    assert.equal(2, other:revoke(path))
    for _, guard in ipairs { one, two } do guard:release() end
    await(third):release()
  end)

  it("marks what was written while it was under way", function()
    local proxy, asked = require "support.proxy".start(), nil
    local guard = connect():mutex(path, { data = "old" }):acquire(30)
    local session, scheduler = sessions.in_loop { hosts = proxy.hosts,
      session_timeout = 60 }
    proxy:delay(0.5)
    scheduler:spawn(function() asked = session:revoke(path) end)
    local function requests()
      scheduler:run(0.01)
      local stats = session:stats()
      return stats.requests - stats.heartbeats
        - stats.internal.nudges
    end
    local before = requests()
    -- Two lists, a read, and then the mark is on its way.
    support.wait_until(function() return requests() == before + 4 end)
    support.zk():set(guard.node, "new")
    support.wait_until(function() return requests() and asked end)
    assert.equal(1, asked)
    assert.equal("new\nzklock:revoke", (support.zk():get(guard.node)))
    assert.equal(before + 6, requests()) -- read and marked once more
    guard:release()
  end)

  it("is heard by one that begins to listen afterwards", function()
    for _, seconds in ipairs { 0, 0.5 } do
      local session = connect { session_timeout = 2 }
      local guard, heard = session:mutex(path):acquire(30), { n = 0 }
      local function count() heard.n = heard.n + 1 end
      support.advance(seconds) -- its watch is armed by a heartbeat, or not
      assert.equal(1, connect():revoke(path))
      hears_nothing(session, heard)
      guard:on_revoke(count)
      hears(session, heard)
      guard:on_revoke(count)
      hears(session, heard, 2)
      guard:release { wait = true }
    end
  end)

  it("is heard by every listener of every guard of the hold", function()
    local mutex, heard = connect():mutex(path), {}
    local one, two = mutex:acquire(30), mutex:acquire(30)
    for _, guard in ipairs { one, one, two } do
      guard:on_revoke(function(mine) heard[#heard + 1] = mine end)
    end
    connect():revoke(path)
    support.step_until(mutex._session, function() return #heard == 3 end)
    assert.same({ one, one, two }, heard)
    one:release()
    two:release()
  end)

  it("is not heard after the release, and by the next hold again", function()
    local session = slow_session()
    for _ = 1, 2 do
      local guard, heard = listening(session:mutex(path))
      connect():revoke(path)
      guard:release { wait = true }
      hears_nothing(session, heard)
      guard:on_revoke(function() heard.n = heard.n + 1 end)
      hears_nothing(session, heard)
      guard, heard = listening(session:mutex(path))
      hears_nothing(session, heard)
      connect():revoke(path)
      hears(session, heard)
      guard:release { wait = true }
    end
  end)

  it("is not heard for other data", function()
    local session = slow_session()
    local guard, heard = listening(session:mutex(path))
    for _, data in ipairs { "", "__REVOKE", "__REVOKE__x", "x__REVOKE__",
      "\n__REVOKE__", "__revoke__", "zklock:revoke", "\nzklock:revoke\n",
      ("x"):rep(100000) } do
      support.zk():set(guard.node, data)
      hears_nothing(session, heard)
    end
    support.zk():set(guard.node, "__REVOKE__")
    hears(session, heard)
    guard:release()
  end)
end)

--- How much one session may have at once, and what happens at the limits.
local start_proxy = require "support.proxy".start
local support = require "support"

-- `waits` of one session on `paths` paths of another one, all ended.
local function wait_for(session, prefix, paths, waits)
  local other = support.connect { session_timeout = 30 }
  local guards, granted = {}, 0
  for i = 1, paths do
    guards[i] = assert(other:mutex(prefix .. i):acquire(10))
  end
  for i = 1, waits do
    session:mutex(prefix .. i % paths + 1):acquire_async(function(guard, why)
      assert(guard, why)
      granted = granted + 1
      guard:release()
    end)
  end
  return {
    release = function() for i = 1, paths do guards[i]:release() end end,
    are_over = function() return granted == waits end,
  }
end

-- Nothing is sent any more.
local function settle(session)
  local last
  support.step_until(session, function()
    local stats = session:stats()
    local is_settled = last == stats.requests and stats.waiting > 0
    last = stats.requests
    support.advance(0.2)
    return is_settled
  end)
end

describe("A session with many waits", function()
  local function survives(paths, waits, length)
    local proxy = start_proxy()
    local session = support.connect { hosts = proxy.hosts,
      session_timeout = 30 }
    local prefix = support.path(("x"):rep(length))
    local all = wait_for(session, prefix, paths, waits)
    settle(session)
    proxy:cut()
    support.until_state(session, "connected", { reconnects = 1 })
    settle(session)
    assert.equal(1, session:stats().reconnects)
    all.release()
    support.step_until(session, all.are_over, 200, "all granted")
  end

  it("survives a reconnection: long paths", function()
    survives(3, 1500, 800) -- 1.3 MB of nodes, were there no limit
  end)

  it("survives a reconnection: many waits", function()
    survives(20, 20000, 10)
  end)

  it("is told when there is no room for one more path", function()
    local session = support.connect { session_timeout = 30 }
    local prefix = support.path(("x"):rep(800))
    local granted, refused, guards = 0, 0, {}
    for i = 1, 1400 do
      session:mutex(prefix .. i):acquire_async(function(guard, why, code)
        if guard then
          granted = granted + 1
          guards[granted] = guard
          return
        end
        assert(code == "invalid", why)
        assert(why:find "too many locks and waits at once", why)
        refused = refused + 1
      end)
    end
    support.step_until(session, function()
      return granted + refused == 1400
    end, 60)
    assert.is_true(granted > 1000, granted)
    assert.is_true(refused > 100, refused)
    for _, guard in ipairs(guards) do guard:release() end
    assert(session:mutex(prefix .. 0):acquire(20)):release { wait = true }
  end)
end)

describe("A session that has all it may have", function()
  local zk, session, paths, guards

  before_each(function()
    zk, session = support.zk(), support.connect { session_timeout = 40 }
    local prefix = support.path(("x"):rep(880))
    paths, guards = setmetatable({}, { __index = function(_, i)
      return prefix .. i
    end }), {}
  end)

  local function begin(lock, i)
    local wait = {}
    wait.ticket = lock:acquire_async({ owner = {} }, function(guard, why, code)
      wait.code, wait.why, guards[i or wait] = code, why, guard
    end)
    return wait
  end

  -- Holds these paths, until one is refused, if there are so many.
  local function hold(first, last)
    for i = first, last do
      local wait = begin(session:mutex(paths[i]), i)
      support.step_until(session, function() return guards[i] or wait.code end)
      if wait.code then return wait, i - 1 end
    end
  end

  local function nodes(i) return #(zk:children(paths[i]) or {}) end

  local function release(i)
    guards[i]:release { wait = true }
    guards[i] = nil
    session:step()
    support.until_state(session, nil, { in_flight = 0 })
  end

  after_each(function()
    for _, guard in pairs(guards) do guard:release() end
  end)

  it("has a thousand nodes at a path, and the next ones in order", function()
    local path = support.path()
    local lock = session:rwlock(path).read
    for i = 1, 1002 do begin(lock, i) end
    support.step_until(session, function() return guards[1000] end)
    support.advance(1)
    session:step()
    assert.equal(1000, #guards)
    assert.equal(1000, #zk:children(path))
    assert.equal("busy", select(3, lock:try_acquire { owner = {} }))
    guards[500]:release()
    support.step_until(session, function() return guards[1001] end)
    assert.is_nil(guards[1002])
    guards[501]:release()
    support.step_until(session, function() return guards[1002] end)
  end)

  it("keeps a fifth of its room for the first of each path", function()
    local refused, n = hold(1, 2000)
    assert.equal("invalid", refused.code)
    assert.is_true(n > 1000 and n < 1100, n)
    local second, left = begin(session:mutex(paths[1])), 1
    assert.equal("busy", select(3, session:mutex(paths[1])
      :try_acquire { owner = {} }))
    while nodes(1) == 1 do
      left = left + 1
      release(left)
    end
    assert.is_true(left > 200 and left < 300, left)
    second.ticket:cancel()
  end)

  it("gives a waiter another node in the room of the first", function()
    local other = support.hold(paths[1])
    local wait = begin(session:mutex(paths[1]))
    local node = support.wait_for_queue(paths[1], 2)[2]
    assert.equal("invalid", hold(2, 2000).code)
    zk:delete(paths[1] .. "/" .. node)
    support.wait_for_queue(paths[1], 2)
    assert.is_nil(wait.code)
    wait.ticket:cancel()
    other:release()
  end)

  it("lets in first who has waited for longest, whatever the path", function()
    hold(1, 850)
    local waits, left = {}, 50
    for i = 1, 3 do waits[i] = begin(session:mutex(paths[i])) end
    waits[2].ticket:cancel()
    while nodes(3) == 1 do
      assert.equal(1, nodes(2))
      left = left + 1
      release(left)
    end
    assert.equal(2, nodes(1))
    for _, wait in ipairs(waits) do wait.ticket:cancel() end
  end)
end)

describe("What ZooKeeper would not take", function()
  it("is not refused at the limit", function()
    local session = support.connect()
    local path = support.path()
    path = path .. ("x"):rep(1000 - #path)
    local guard = assert(session:mutex(path, { data = ("d"):rep(1024) })
      :acquire(20))
    assert.is_true(guard:verify())
    guard:release { wait = true }
  end)
end)

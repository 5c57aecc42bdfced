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

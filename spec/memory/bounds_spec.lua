--- How much one session may have at once, and what happens at the limits.
local child = require "support.child"
local start_proxy = require "support.proxy".start
local support = require "support"
local zklock = require "zklock"

local full = os.getenv "ENDURANCE" == "full"

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
    granted = function() return granted end,
    are_over = function() return granted == waits end,
  }
end

-- Nothing is sent any more.
local function settle(session)
  local last
  support.step_until(session, function()
    local stats = session:stats()
    local settled = last == stats.requests and stats.waiting > 0
    last = stats.requests
    support.sleep(0.2)
    return settled
  end, 60, "a queue at rest")
end

before_each(support.start)
after_each(support.finish)

describe("A session with many waits", function()
  local function survives(paths, waits, length)
    local proxy = start_proxy()
    local session = support.connect {
      hosts = proxy.hosts,
      session_timeout = 30,
    }
    local prefix = support.path(("x"):rep(length))
    local all = wait_for(session, prefix, paths, waits)
    settle(session)
    local before = session:stats()
    proxy:cut()
    support.step_until(session, function()
      return session:stats().reconnects == 1
    end, 20)
    settle(session)
    assert.equal(1, session:stats().reconnects)
    all.release()
    local begun = support.now()
    support.step_until(session, all.are_over, 200, "all granted")
    if full then
      print(("%d waits on %d paths of %d bytes: %d nodes, %.0f s of handoffs")
        :format(waits, paths, #prefix, before.watches, support.now() - begun))
    end
  end

  it("survives a reconnection: long paths", function()
    survives(3, 1500, 800) -- 3.9 MB of watches, were there no limit
  end)

  if full then
    it("survives a reconnection: 20 000 waits #slow", function()
      survives(20, 20000, 10)
    end)
  end

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

describe("A server that closes each connection at once", function()
  it("is said to do so, with the likely reason", function()
    local process = child.spawn [[
      local listener = assert(socket.bind("127.0.0.1", 0))
      say((select(2, listener:getsockname())))
      while true do listener:accept():close() end
    ]]
    local session, message, code =
      zklock.connect("127.0.0.1:" .. process:hear(), { connect_timeout = 0.5 })
    assert.is_nil(session)
    assert.equal("disconnected", code)
    assert.matches("closed the connection", message)
    assert.matches("maxClientCnxns", message)
  end)

  it("has too many of us, by its own configuration", function()
    local server = support.closing(require "support.server".start(1,
      "--config maxClientCnxns=2"), function(self) self:stop() end)
    for _ = 1, 2 do support.connect { hosts = server.hosts } end
    local _, message, code = zklock.connect(server.hosts,
      { connect_timeout = 1 })
    assert.equal("disconnected", code)
    assert.matches("maxClientCnxns", message)
  end)
end)

describe("What ZooKeeper would not take", function()
  it("is refused before anything is sent", function()
    local session = support.connect()
    local before = session:stats().requests
    local mutex = session:mutex(support.path())
    local data, path = ("d"):rep(1000001), "/" .. ("x"):rep(1000)
    assert.matches("1000000",
      support.misuse(function() mutex:acquire { data = data } end))
    assert.matches("1000 bytes",
      support.misuse(function() session:mutex(path) end))
    assert.equal(before, session:stats().requests)
  end)

  it("is not refused at the limit", function()
    local session = support.connect()
    local path = support.path()
    path = path .. ("x"):rep(1000 - #path)
    local guard = assert(session:mutex(path, { data = ("d"):rep(1000000) })
      :acquire(20))
    assert.is_true(guard:verify())
    guard:release { wait = true }
  end)
end)

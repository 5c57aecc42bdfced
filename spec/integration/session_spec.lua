local lfs = require "lfs"
local support = require "support"
local new_scheduler = require "support.scheduler".new
local zklock = require "zklock"
local connect, misuse = support.connect, support.misuse

describe("connect", function()
  before_each(support.start)
  after_each(support.finish)

  it("returns a connected session", function()
    local session = connect()
    assert.equal("connected", session:state())
    assert.matches("^0x%x+$", session:id())
    assert.equal(10, session:timeout())
  end)

  it("asks for a session timeout and tells what was negotiated", function()
    assert.equal(4, connect { session_timeout = 4 }:timeout())
    assert.equal(2.5, connect { session_timeout = 2.5 }:timeout())
    assert.equal(1, connect { session_timeout = 0.1 }:timeout())
    assert.equal(60, connect { session_timeout = 86400 }:timeout())
  end)

  it("takes one server, or several, or the same twice", function()
    local port = support.hosts:match(":(%d+)$")
    local lists = {
      support.hosts, support.hosts .. "," .. support.hosts,
      " " .. support.hosts .. " , " .. support.hosts .. "  ",
      support.hosts .. "/", "localhost:" .. port,
      "127.0.0.1:1," .. support.hosts, support.hosts .. ",127.0.0.1:1",
      "[::1]:" .. port .. "," .. support.hosts,
      "nosuch.invalid:2181," .. support.hosts,
    }
    for _, hosts in ipairs(lists) do
      local session = connect { hosts = hosts }
      assert.equal("connected", session:state())
      session:close()
    end
  end)

  it("may be done often in one process, each with its own session", function()
    local ids = {}
    for i = 1, 10 do
      local id = connect():id()
      assert.is_nil(ids[id], i)
      ids[id] = true
    end
  end)

  it("makes a chroot that does not exist, with its parents", function()
    local chroot = support.path "chroot" .. "/a/b"
    local session = connect { hosts = support.hosts .. chroot }
    local guard = session:mutex("/orders"):acquire(5)
    assert.is_true(guard:is_held())
    assert.equal("/orders", guard.path)
    assert.matches("^/orders/_c_", guard.node)
    assert.equal(1, #support.zk():queue(chroot .. "/orders"))
    -- the same lock without the chroot
    local other = connect():mutex(chroot .. "/orders")
    assert.equal("busy", (select(3, other:try_acquire())))
    assert.is_true(guard:verify())
    guard:release { wait = true }
    assert.is_table((other:try_acquire()))
  end)

  it("does not touch the chroot before it is used", function()
    local chroot = support.path "chroot"
    connect { hosts = support.hosts .. chroot }
    support.sleep(0.05)
    assert.is_false(support.zk():exists(chroot))
  end)

  if zklock.backend == "st" then -- mt's own are out of our reach
    it("lets no descriptor out to child processes", function()
      local before = {}
      for fd in lfs.dir "/proc/self/fd" do before[fd] = true end
      connect():mutex(support.path()):acquire()
      for fd in lfs.dir "/proc/self/fd" do
        local file = io.open("/proc/self/fdinfo/" .. fd)
        if file and not before[fd] then
          local flags = file:read("*a"):match("flags:%s*(%d+)")
          assert.is_true(#flags >= 7, fd .. " has the flags " .. flags)
        end
        if file then file:close() end
      end
    end)
  end
end)

describe("Sessions", function()
  before_each(support.start)
  after_each(support.finish)

  it("have a readable tostring, and so have locks", function()
    local session = connect()
    local name = "zklock session to " .. support.hosts
    assert.equal(name .. " (connected)", tostring(session))
    assert.equal("zklock mutex /a", tostring(session:mutex "/a"))
    session:close()
    assert.equal(name .. " (closed)", tostring(session))
  end)

  it("do not count as held what has been given back", function()
    local path = support.path()
    local session = connect()
    for _ = 1, 200 do
      assert(session:with_lock(path, function()
        assert.equal(1, session:stats().holding)
      end))
      assert.equal(0, session:stats().holding)
    end
    local semaphore = session:semaphore(support.path(), 1)
    local guard = assert(semaphore:acquire(5))
    assert.equal(1, session:stats().holding)
    guard:release()
    assert.equal(0, session:stats().holding)
    guard = assert(session:mutex(path):acquire { max_hold = 0.01 })
    support.wait_until(function() return guard:state() == "lost" end)
    assert.equal(0, session:stats().holding)
  end)

  it("tell what they were when they are closed", function()
    local session = connect()
    assert(session:mutex(support.path()):acquire(5))
    local id = session:id()
    session:close()
    assert.equal(id, session:id())
    local stats = session:stats()
    assert.equal(1, stats.grants)
    assert.equal(0, stats.holding)
    assert.equal("table", type(stats.wait_histogram))
  end)

  it("count what they do", function()
    local path = support.path()
    local session = connect { session_timeout = 4 }
    local mutex = session:mutex(path)
    local guard = mutex:acquire()
    local stats = session:stats()
    assert.equal(1, stats.grants)
    assert.equal(1, stats.holding)
    assert.equal(0, stats.waiting)
    assert.equal(0, stats.lost)
    assert.is_true(stats.requests >= 2)
    guard:release { wait = true }
    support.hold(path)
    mutex:acquire(0.05)
    stats = session:stats()
    assert.equal(1, stats.timeouts)
    assert.equal(0, stats.holding)
    assert.equal(0, stats.reconnects)
    assert.equal("number", type(stats.pending_releases))
    assert.equal("number", type(stats.watches))
    assert.equal("number", type(stats.handoffs))
    local sum = 0
    for _, n in ipairs(stats.wait_histogram) do sum = sum + n end
    assert.equal(1, sum)
  end)

  it("keep the data of two callers apart", function()
    local a, b = connect(), connect()
    local path = support.path()
    assert.is_table((a:mutex(path):acquire()))
    assert.equal("busy", (select(3, b:mutex(path):try_acquire())))
    assert.is_table((b:mutex(support.path()):try_acquire()))
  end)
end)

describe("session:mutex", function()
  before_each(support.start)
  after_each(support.finish)

  it("is misuse with a bad path", function()
    local session = connect()
    for path, rule in pairs {
      ["locks"] = "absolute", [""] = "absolute", ["/"] = "root",
      ["/a/"] = "end with", ["/a//b"] = "empty component", ["/a/../b"] = "'..'",
      ["/a\0b"] = "NUL", ["/\255"] = "UTF", ["/a\nb"] = "control",
    } do
      local text = misuse(function() session:mutex(path) end)
      assert.matches("^path must ", text)
      assert.is_truthy(text:find(rule, 1, true), text)
    end
    for _, path in ipairs { 1, {}, true } do
      assert.equal("path must be a string, got a " .. type(path),
        misuse(function() session:mutex(path) end))
    end
    assert.equal("path must be a string, got nil",
      misuse(function() session:mutex() end))
  end)

  it("is misuse with bad options", function()
    local session = connect()
    local cases = {
      { "mutex options must be a table, got a number", 5 },
      { 'unknown option "reentrent" in mutex options', { reentrent = true } },
      { "option 'reentrant' must be a boolean, got a number",
        { reentrant = 1 } },
      { "option 'data' must be a string, got a number", { data = 1 } },
      { "option 'max_hold' must be a number, got a string",
        { max_hold = "1" } },
      { "option 'max_hold' must be a number of seconds, not negative, got -1",
        { max_hold = -1 } },
      { 'option \'on_suspend\' must be "keep" or "lose", got leave',
        { on_suspend = "leave" } },
      { 'option \'on_suspend\' must be "keep" or "lose", got 1',
        { on_suspend = 1 } },
    }
    for _, case in ipairs(cases) do
      assert.equal(case[1], misuse(function() session:mutex("/a", case[2]) end))
    end
    local long = ("x"):rep(1048577)
    assert.matches("^option 'data' must be at most %d+ bytes, got 1048577$",
      misuse(function() session:mutex("/a", { data = long }) end))
  end)

  it("sends nothing", function()
    local session = connect()
    local before = session:stats().requests
    session:mutex(support.path())
    support.sleep(0.02)
    assert.equal(before, session:stats().requests)
  end)
end)

describe("Events", function()
  before_each(support.start)
  after_each(support.finish)

  it("begin with connected, from within connect", function()
    local events = {}
    local session = connect {
      on_event = function(event, mine)
        events[#events + 1] = event
        assert.equal("connected", mine:state())
      end,
    }
    assert.same({ "connected" }, events)
    session:step()
    assert.same({ "connected" }, events)
  end)

  it("are misuse by another name, or without a function", function()
    local session = connect()
    for _, name in ipairs { "connect", "lost", "" } do
      assert.matches("argument 1 of on must be connected, suspended, ",
        misuse(function() session:on(name, print) end))
    end
    assert.matches("argument 1 of on must be a string, got a number",
      misuse(function() session:on(1, print) end))
    assert.matches("argument 2 of on must be a function, got nil",
      misuse(function() session:on("closed") end))
    for _, name in ipairs { "connected", "suspended", "reconnected", "expired",
        "closed" } do
      session:on(name, function() end)
    end
  end)

  it("come out of step() when a listener raises and there is no log",
    function()
      local problem = {}
      local session = connect()
      session:on("closed", function() error(problem) end)
      -- close must not be stopped by it
      pcall(session.close, session)
      assert.equal("closed", session:state())
    end)

  it("do not stop connect when a listener raises", function()
    local session = connect { on_event = function() error "ouch" end }
    assert.equal("connected", session:state())
    local ok, problem = pcall(session.step, session)
    assert.is_false(ok)
    assert.matches("ouch", problem)
    session:step()
  end)

  it("log what a listener raises, and survive a log that raises", function()
    local lines = {}
    connect {
      on_event = function() error "ouch" end,
      log = function(level, message)
        lines[#lines + 1] = level .. ": " .. message
        error "the log is full"
      end,
    }
    local text = table.concat(lines, "\n")
    assert.matches("error: an error in a callback: .*ouch", text)
  end)
end)

describe("The loop", function()
  before_each(support.start)
  after_each(support.finish)

  it("auto refuses to block a scheduler that it does not know", function()
    local session = connect()
    local mutex = session:mutex(support.path())
    local path = support.path()
    coroutine.wrap(function()
      local uses = {
        function() mutex:acquire() end,
        function() mutex:acquire(0) end,
        function() mutex:try_acquire() end,
        function() mutex:with_lock(print) end,
        function() session:with_lock(path, print) end,
        function() zklock.connect(support.hosts) end,
      }
      for _, use in ipairs(uses) do
        local text = misuse(use)
        assert.matches('loop = "poll"', text)
        assert.matches("adapter", text)
      end
    end)()
    assert.equal(0, #support.zk():queue(path))
    assert.is_true(mutex:acquire():release())
  end)

  it("auto lets coroutines do what does not wait", function()
    local session = connect()
    local mutex = session:mutex(support.path())
    local guard = mutex:acquire()
    local granted
    coroutine.wrap(function()
      assert.is_true(guard:is_held())
      assert.is_true(guard:lease() > 0)
      assert.is_true(guard:release())
      mutex:acquire_async(nil, function(mine) granted = mine end)
      session:step()
    end)()
    support.step_until(session, function() return granted end)
  end)

  it("poll blocks, in coroutines too", function()
    local mutex = connect { loop = "poll" }:mutex(support.path())
    coroutine.wrap(function()
      assert.is_true(assert(mutex:acquire(5)):release { wait = true })
    end)()
  end)

  it("of one's own suspends only the calling coroutine", function()
    local path = support.path()
    local holder = support.hold(path)
    local scheduler = new_scheduler()
    local session = connect { loop = scheduler.adapter }
    local ticks, waited = 0, nil
    scheduler:spawn(function()
      local guard = assert(session:mutex(path):acquire(5))
      waited = ticks
      assert.is_true(guard:is_held())
      assert.is_true(guard:release { wait = true })
    end)
    scheduler:spawn(function()
      while not waited do
        ticks = ticks + 1
        if ticks == 20 then holder:release() end
        scheduler:sleep(0.002)
      end
    end)
    assert.is_true(scheduler:run())
    assert.is_true(waited >= 20)
  end)

  it("of one's own times out in time", function()
    local path = support.path()
    support.hold(path)
    local scheduler = new_scheduler()
    local session = connect { loop = scheduler.adapter }
    local took, code
    scheduler:spawn(function()
      local begun = support.now()
      code = select(3, session:mutex(path):acquire(0.2))
      took = support.now() - begun
    end)
    assert.is_true(scheduler:run())
    assert.equal("timeout", code)
    assert.is_true(took >= 0.2 and took < 0.2 + support.slack, took)
  end)

  it("may be a bare { wait =, wake = } that only sleeps", function()
    local path = support.path()
    local holder = support.hold(path)
    local scheduler = new_scheduler()
    local bare = {
      wait = function(_, timeout)
        scheduler:sleep(math.min(timeout or 1, 0.002))
      end,
      wake = function() end,
    }
    local waited
    scheduler:spawn(function()
      local session = support.closing(assert(zklock.connect(support.hosts,
        { loop = bare, connect_timeout = 2 })))
      local guard = assert(session:mutex(path):acquire(5))
      waited = true
      assert.is_true(guard:verify())
      assert.is_true(guard:release { wait = true })
    end)
    scheduler:spawn(function()
      scheduler:sleep(0.1)
      assert.is_nil(waited)
      holder:release()
    end)
    assert.is_true(scheduler:run())
    assert.is_true(waited)
  end)

  it("may connect in a coroutine", function()
    local scheduler = new_scheduler()
    local done
    scheduler:spawn(function()
      local session = support.closing(assert(zklock.connect(support.hosts,
        { loop = scheduler.adapter })))
      done = session:mutex(support.path()):acquire(5):release { wait = true }
    end)
    assert.is_true(scheduler:run())
    assert.is_true(done)
  end)

  it("serves hundreds of coroutines on one path (T52)", function()
    local scheduler = new_scheduler()
    local session = connect { loop = scheduler.adapter }
    local path = support.path()
    local mutex = session:mutex(path)
    local granted, inside = 0, false
    for _ = 1, 500 do
      scheduler:spawn(function()
        local guard = assert(mutex:acquire(60))
        assert.is_false(inside)
        inside = true
        granted = granted + 1
        inside = false
        guard:release()
      end)
    end
    assert.is_true(scheduler:run(60))
    assert.equal(500, granted)
    support.wait_for_queue(path, 0)
  end)

  it("wakes through fd() and step() alone", function()
    local socket = require "socket"
    local session = connect()
    local source = { getfd = function() return session:fd() end }
    local granted
    while #socket.select({ source }, nil, 0) > 0 do session:step() end
    session:mutex(support.path()):acquire_async(nil, function(guard)
      granted = guard
    end)
    local deadline = support.now() + 5
    while not granted and support.now() < deadline do
      if #socket.select({ source }, nil, 1) > 0 then session:step() end
    end
    assert.is_table(granted)
    granted:release()
  end)
end)

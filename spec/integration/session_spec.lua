-- What a session tells: of itself, of its locks, of what befalls it.
local support = require "support"
local connect, misuse = support.connect, support.misuse

before_each(support.start)
after_each(support.finish)

describe("Sessions", function()
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
    local guard = assert(semaphore:acquire(30))
    assert.equal(1, session:stats().holding)
    guard:release()
    assert.equal(0, session:stats().holding)
    guard = assert(session:mutex(path):acquire { max_hold = 0.01 })
    support.wait_until(function() return guard:state() == "lost" end)
    assert.equal(0, session:stats().holding)
  end)

  it("tell what they were when they are closed", function()
    local session = connect()
    assert(session:mutex(support.path()):acquire(30))
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
      { 'unknown option "reentrent" in mutex options (known: data, fair, '
        .. 'handoffs, layout, max_hold, on_suspend, poll_interval, reentrant, '
        .. 'share_path, wait)', { reentrent = true } },
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
    local function requests()
      return support.while_quiet({ session }, function(heartbeats, nudges)
        return session:stats().requests - heartbeats - nudges
      end)
    end
    local before = requests()
    session:mutex(support.path())
    support.sleep(0.02)
    assert.equal(before, requests())
  end)
end)

describe("Events", function()
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

-- connect, and what a session tells: of itself, of its locks, of what befalls
-- it.  (What no model has, such as sockets: spec/server/connect_spec.lua.)
local kinds = require "integration.family.kinds"
local support = require "support"
local zklock = require "zklock"
local connect, misuse = support.connect, support.misuse

describe("connect", function()
  it("asks for a session timeout and tells what was negotiated", function()
    assert.equal(10, connect():timeout())
    for asked, granted in pairs { [4] = 4, [2.5] = 2.5, [0.1] = 1,
        [86400] = 60 } do
      assert.equal(granted, connect { session_timeout = asked }:timeout())
    end
  end)

  it("makes a chroot that does not exist, when it is used", function()
    local chroot, zk = support.path "chroot", support.zk()
    local below = chroot .. "/a/b"
    local session = connect { hosts = support.hosts .. below }
    support.advance(1)
    assert.is_false(zk:exists(chroot))
    local guard = session:mutex("/orders"):acquire(30)
    assert.equal("/orders", guard.path)
    assert.matches("^/orders/%w+%-lock%-", guard.node)
    local other = connect():mutex(below .. "/orders") -- the same lock
    assert.equal("busy", (select(3, other:try_acquire())))
    guard:release()
  end)

  it("is refused with an authentication scheme that nobody knows", function()
    assert.matches("^zklock: ZooKeeper at .* does not accept the credentials$",
      kinds.refused("auth", zklock.connect(support.hosts,
        { auth = { scheme = "nosuch", credential = "a:b" } })))
  end)
end)

describe("Sessions", function()
  it("have a readable tostring, and so have locks", function()
    local session = connect()
    local name = "zklock session to " .. support.hosts
    assert.equal(name .. " (connected)", tostring(session))
    assert.equal("zklock mutex /a", tostring(session:mutex "/a"))
    session:close()
    assert.equal(name .. " (closed)", tostring(session))
  end)

  -- Of a lock that is free, then taken, in a session that is two seconds old:
  -- all that is counted, but for the waits.
  it("count what they do, and tell that when they are closed", function()
    local path, session = support.path(), connect { session_timeout = 30 }
    local mutex = session:mutex(path)
    local function counts(expected)
      support.until_state(session, nil, { in_flight = 0 })
      local stats = session:stats()
      for name, value in pairs(expected) do
        assert.equal(value, stats[name] or stats.internal[name], name)
      end
    end
    local guard = mutex:acquire()
    counts { grants = 1, holding = 1, waiting = 0, losses = 0, lists = 2,
      watches = 0, requests = 7, timeouts = 0 }
    guard:release { wait = true }
    support.hold(path)
    assert.equal("busy", select(3, mutex:try_acquire()))
    assert.equal("timeout", select(3, mutex:acquire(0)))
    counts { grants = 1, holding = 0, timeouts = 0 } -- none has waited
    mutex:acquire_async(1, function() end)
    support.advance(0.5)
    counts { waiting = 1, watches = 2, pending_releases = 0 }
    support.advance(0.6)
    session:step()
    assert.equal("busy", select(3, mutex:try_acquire()))
    local last = { waiting = 0, watches = 0, timeouts = 1, grants = 1,
      holding = 0, losses = 0, reconnects = 0, expirations = 0, handoffs = 0,
      local_turns = 0, pending_releases = 0, refused_releases = 0, orphans = 0 }
    counts(last)
    local id, histogram = session:id(), session:stats().wait_histogram
    session:close()
    assert.equal(id, session:id())
    counts(last)
    assert.same(histogram, session:stats().wait_histogram)
  end)
end)

describe("Events", function()
  it("are misuse by another name, or without a function", function()
    local session = connect()
    for _, name in ipairs { "connect", "lost", "" } do
      assert.matches('argument 1 of on must be "connected", "suspended", ',
        misuse(function() session:on(name, print) end))
    end
    assert.matches("argument 2 of on must be a function, got nil",
      misuse(function() session:on("closed") end))
  end)

  it("stop neither connect nor close when a listener raises, and come out of "
    .. "step() when there is no log", function()
    local session = connect { on_event = function(event) error(event, 0) end }
    assert.equal("connected", session:state())
    local ok, problem = pcall(session.step, session)
    assert.is_false(ok)
    assert.matches("^connected", problem)
    session:step()
    pcall(session.close, session)
    assert.equal("closed", session:state())
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
    assert.matches("error: an error in a callback: .*ouch",
      table.concat(lines, "\n"))
  end)
end)

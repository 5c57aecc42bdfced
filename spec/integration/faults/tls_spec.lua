-- TLS that delays, refuses, breaks off and fails, while sessions have locks. In
-- place of OpenSSL there is a fake (src/virtual/fake_tls.h): what OpenSSL does
-- is tested by spec/unit/tls.c and spec/server/tls_spec.lua.
local kinds = require "integration.family.kinds"
local start_hostile = require "support.hostile".start
local support = require "support"
local zklock = require "zklock"

local TLS = { ca = "/etc/ca.pem" }
local WHY = "its certificate is for zk2, not zk1"

describe("TLS", function()
  local path
  before_each(function() path = support.path() end)

  -- A server at `count` addresses; `tls`: as virtual.link_secure takes it.
  local function server(tls, count)
    local hostile = start_hostile { count = count }
    hostile:behave { kind = "pass", tls = tls }
    return hostile
  end

  local function options_of(options)
    local all = { tls = TLS }
    for key, value in pairs(options or {}) do all[key] = value end
    return all
  end

  local function connect(hosts, options)
    options = options_of(options)
    options.hosts = hosts
    return support.connect(options)
  end

  -- Fails to connect: the message, the code, and how long it takes.
  local function fail(hosts, options)
    local begun = support.now()
    local session, message, code = zklock.connect(hosts, options_of(options))
    assert.is_nil(session)
    return message, code, support.now() - begun
  end

  local function await_connection(session, guard)
    support.step_until(session, function()
      return session:state() == "connected" and guard:verify()
    end)
  end

  local function cycle(session)
    local guard = assert(session:mutex(path):acquire(30))
    assert.is_true(guard:verify())
    assert.is_true(guard:release())
  end

  it("delays a connection by its handshake, and nothing else", function()
    for _, delay in ipairs { 0, 0.3, 0.9 } do
      local begun = support.now()
      local session = connect(server { delay = delay }.hosts)
      assert.near(begun + delay, support.now(), 0.02)
      cycle(session)
      assert.near(begun + delay, support.now(), 0.1)
    end
  end)

  it("takes a slow handshake, if connect_timeout allows it", function()
    -- (An attempt lasts 1 s at first, then longer.)
    local slow = server { delay = 5 }
    assert.equal(select(2, fail(slow.hosts, { connect_timeout = 4 })),
      "disconnected")
    cycle(connect(slow.hosts, { connect_timeout = 60 }))
  end)

  it("takes records in parts", function()
    local session = connect(server { split = 0.02 }.hosts)
    for _ = 1, 3 do cycle(session) end
  end)

  -- The I/O thread takes some 256 in a turn. The others have left the socket by
  -- then, which is quiet.
  it("leaves no answer of hundreds that come at once", function()
    local one, done = server(), 0
    local session = connect(one.hosts)
    cycle(session)
    one:behave { kind = "frozen" }
    for _ = 1, 600 do
      session:mutex(path):acquire_async(60, function(guard, ...)
        assert(guard, ...)
        guard:release()
        done = done + 1
      end)
    end
    support.advance(0.1)
    one:behave { kind = "pass" }
    local begun = support.now()
    support.wait_for_queue(path, 600)
    while session:stats().in_flight > 0 do support.advance(0.001) end
    assert.near(begun, support.now(), 0.1)
    support.step_until(session, function() return done == 600 end, 30)
    assert.equal(0, session:stats().reconnects)
  end)

  it("costs connect_timeout if a server is silent, in any part of the "
    .. "handshake, and no lock of another session", function()
    local guard = support.hold(path, { session_timeout = 4 })
    local other = connect(server().hosts, { session_timeout = 4 })
    local second = assert(other:mutex(path .. "-2"):acquire(1))
    for _, stops_at in ipairs { -1, 1 } do
      local silent = server { stops_at = stops_at }
      local message, code, took = fail(silent.hosts, { connect_timeout = 6.5 })
      assert.equal("disconnected", code)
      assert.near(6.5, took, 0.05)
      assert.matches("it does not answer the TLS handshake", message)
      assert.is_true(guard:is_held() and second:is_held())
      assert.is_true(silent:count "connection" > 1)
      assert.equal(0, silent:count "session")
    end
    second:release()
  end)

  it("costs an attempt if one of three servers is silent, and no hold",
  function()
    local three = server(nil, 3)
    local session = connect(three.hosts, { session_timeout = 6,
      tick_time = 0.5 })
    local guard = assert(session:mutex(path):acquire(1))
    for i = 1, 3 do
      three:behave({ kind = "pass", tls = { stops_at = -1 } }, i)
      three:cut()
      await_connection(session, guard)
      assert.is_true(guard:is_held())
      three:behave({ kind = "pass" }, i)
    end
    guard:release()
  end)

  it("ends nothing if one of three servers is refused", function()
    local three = server(nil, 3)
    three:behave({ kind = "pass",
      tls = { fails_at = 1, is_refusal = true, text = WHY } }, 2)
    for _ = 1, 6 do
      cycle(connect(three.hosts, { connect_timeout = 1 }))
    end
    local session = connect(three.hosts)
    local guard = assert(session:mutex(path):acquire(1))
    for _ = 1, 10 do
      three:cut()
      await_connection(session, guard)
    end
    assert.is_true(guard:is_held())
    assert.is_true(guard:release())
  end)

  it("ends with auth and the reason if all servers are refused", function()
    local three = server({ fails_at = 1, is_refusal = true, text = WHY }, 3)
    local message, code, took = fail(three.hosts, { connect_timeout = 30 })
    assert.equal("auth", code)
    assert.is_true(took < 1)
    assert.matches(WHY, message, 1, true)
    assert.equal(0, three:count "session")
    -- Of a session that had a connection: its waits, and not the session.
    three:behave { kind = "pass" }
    local session = connect(three.hosts)
    three:behave { kind = "pass",
      tls = { fails_at = 1, is_refusal = true, text = WHY } }
    three:cut()
    message, code = select(2, session:mutex(path):acquire(60))
    assert.equal("auth", code)
    assert.matches("TLS fails with each server", message, 1, true)
    assert.matches(WHY, message, 1, true)
    three:behave { kind = "pass" }
    support.until_state(session, "connected")
    cycle(session)
  end)

  it("is not refused by an alert that no certificate has caused", function()
    local failing = server { fails_at = 1, text = "TLS fails: internal error" }
    local message, code, took = fail(failing.hosts, { connect_timeout = 2 })
    assert.equal("disconnected", code)
    assert.near(2, took, 0.05)
    assert.matches("TLS fails: internal error", message, 1, true)
  end)

  it("loses the connection, and not the hold, if it fails in the middle",
  function()
    for fails_at = 1, 6 do
      local failing = server()
      local session = connect(failing.hosts)
      local guard = assert(session:mutex(path):acquire(1))
      local seen = failing:count "connection"
      failing:behave { kind = "pass",
        tls = { fails_at = fails_at, text = "TLS fails: bad record mac" } }
      if fails_at > 1 then failing:cut() end -- else now, and handshakes
      support.step_until(session, function()
        return failing:count "connection" > seen + 1
      end)
      failing:behave { kind = "pass" }
      await_connection(session, guard)
      assert.is_true(guard:is_held())
      assert.is_true(guard:release { wait = true })
      session:close()
    end
  end)

  -- The server still receives heartbeats, which keep the session alive, but
  -- what it answers is half a record; and new handshakes hang.
  it("ends the lease on time if it hangs in the middle of a record", function()
    local T = 6
    local hanging = server()
    local session = connect(hanging.hosts, { session_timeout = T })
    local guard = assert(session:mutex(path):acquire(1))
    local handover = kinds.watch_handover(guard, support.connect(), path)
    support.advance(T)
    hanging:behave { kind = "pass", tls = { stops_at = 1 } }
    local begun, ends = support.now(), 0
    while guard:is_held() do
      ends = math.max(ends, support.now() + guard:lease())
      support.advance(0.001)
    end
    assert.near(ends, support.now(), 0.003)
    assert.is_true(support.now() - begun < T)
    handover(3 * T)
    hanging:behave { kind = "pass" }
    support.until_state(session, "connected")
    assert.equal("lost", (select(3, guard:release())))
    cycle(session)
  end)
end)

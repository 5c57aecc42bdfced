-- A server has the last word on the session's timeout, and at a reconnection it
-- may say another than before: it was restarted with other settings, or the
-- servers' settings differ.
local start_hostile = require "support.hostile".start
local start_server = require "support.server".start
local support = require "support"

local LONG, SHORT = 40, 4

-- Until `other` has the lock of `guard`: at no instant may both believe.
local function watch_handover(guard, other, path, seconds)
  local granted
  other:mutex(path):acquire_async(nil, function(mine) granted = mine end)
  support.wait_for_queue(path, 2, other.hosts)
  return function()
    local begun, both = support.now(), nil
    support.step_until(other, function()
      if granted and granted:is_held() and guard:is_held() then
        both = both or support.now()
      end
      -- (Until it is over: by how much, the failure tells.)
      return granted and not guard:is_held()
        or support.now() > begun + seconds
    end, seconds + 5)
    assert.is_truthy(granted, "the witness was not granted")
    assert.is_nil(both, both and ("two believers for %.1f s")
      :format(support.now() - both))
    assert.equal("lost", (select(3, guard:release())))
    granted:release()
  end
end

local function reconnected(session, n)
  support.step_until(session, function()
    return session:state() == "connected" and session:stats().reconnects >= n
  end, 15, "a reconnection")
end

before_each(support.start)
after_each(support.finish)

describe("A session whose timeout falls at a reconnection #once", function()
  local function connect(hostile, options)
    options = options or {}
    options.hosts, options.session_timeout = hostile.hosts, LONG
    local session = support.connect(options)
    assert.equal(LONG, session:timeout())
    return session
  end

  it("has lost its holds when others get them", function()
    local path, hostile = support.path(), start_hostile()
    local session, other = connect(hostile), support.connect()
    local guard = assert(session:mutex(path):acquire(30))
    local handover = watch_handover(guard, other, path, LONG)
    hostile:behave { kind = "pass", asks = SHORT }
    hostile:cut()
    reconnected(session, 1)
    assert.equal(SHORT, session:timeout())
    assert.is_true(guard:is_held())
    hostile:behave { kind = "frozen" }
    handover()
  end)

  it("keeps its holds and its waits while it is connected", function()
    local path, hostile = support.path(), start_hostile()
    local session = connect(hostile)
    local guard = assert(session:mutex(path):acquire(30))
    hostile:behave { kind = "pass", asks = SHORT }
    hostile:cut()
    reconnected(session, 1)
    local begun = support.now()
    support.step_until(session, function()
      assert.is_true(guard:is_held())
      assert.is_true(guard:lease() < SHORT)
      return support.now() > begun + 1.5 * SHORT
    end, 2 * SHORT)
    assert.is_true(guard:verify())
    guard:release()
  end)

  it("has the long one again in a session of its own", function()
    local path, hostile = support.path(), start_hostile()
    local session = connect(hostile)
    hostile:behave { kind = "pass", asks = SHORT }
    hostile:cut()
    reconnected(session, 1)
    hostile:behave { kind = "pass", forgets = "always" }
    hostile:cut()
    support.step_until(session, function()
      return session:state() == "connected" and session:stats().expiries == 1
    end, 15, "a new session")
    assert.equal(LONG, session:timeout())
    local guard = assert(session:mutex(path):acquire(30))
    support.step_until(session, function()
      return guard:lease() > SHORT
    end, 5, "a lease of the long timeout")
    guard:release()
  end)

  it("and rises again goes by the least that it has had", function()
    local path, hostile = support.path(), start_hostile()
    local session = connect(hostile)
    local guard = assert(session:mutex(path):acquire(30))
    for i, seconds in ipairs { SHORT, LONG } do
      hostile:behave { kind = "pass", asks = seconds }
      hostile:cut()
      reconnected(session, i)
      assert.equal(seconds, session:timeout())
      assert.is_true(guard:is_held())
      assert.is_true(guard:lease() < SHORT)
    end
    guard:release()
  end)

  it("has its new lease before its new connection is shown", function()
    local path, hostile, guards, seen = support.path(), start_hostile(), {}, nil
    local session = connect(hostile, { on_event = function(event)
      if event == "reconnected" then seen = guards[1]:lease() end
    end })
    -- (So many that a reconnection takes some time.)
    for i = 1, 1000 do
      session:mutex(path .. "/" .. i):acquire_async(nil, function(guard)
        guards[#guards + 1] = guard
      end)
    end
    support.step_until(session, function() return #guards == 1000 end, 60)
    hostile:behave { kind = "pass", asks = SHORT }
    hostile:cut()
    support.step_until(session, function() return seen end, 15)
    assert.is_true(seen < SHORT, seen)
  end)

  it("and hears no reply to it has lost its holds when others get them, if it "
    .. "was told the least that servers grant", function()
    local path, hostile = support.path(), start_hostile()
    local session = connect(hostile, { least_session_timeout = SHORT })
    local other = support.connect()
    local guard = assert(session:mutex(path):acquire(30))
    local handover = watch_handover(guard, other, path, LONG + 20)
    hostile:behave { kind = "pass", asks = SHORT,
      lose_connect = "always" }
    hostile:cut()
    support.wait_until(function()
      return hostile:count "return" > 0
    end, 5, "an attempt to reconnect")
    hostile:behave { kind = "silent" } -- the next ones say nothing
    handover()
  end)
end)

describe("A server restarted with a smaller maxSessionTimeout #once", function()
  local server

  setup(function()
    server = start_server(1, "--config maxSessionTimeout=60000")
  end)
  teardown(function() server:stop() end)
  it("gives no lock to two", function()
    local path = support.path()
    local hostile = start_hostile { hosts = server.hosts }
    local session = support.connect { hosts = hostile.hosts,
      session_timeout = LONG }
    assert.equal(LONG, session:timeout())
    local guard = assert(session:mutex(path):acquire(30))
    server:configure("maxSessionTimeout", SHORT * 1000)
    server:restart()
    reconnected(session, 1)
    assert.equal(SHORT, session:timeout())
    local other = support.connect { hosts = server.hosts }
    local granted
    other:mutex(path):acquire_async(nil, function(mine) granted = mine end)
    support.sleep(0.3)
    hostile:behave { kind = "frozen" }
    local both
    support.step_until(other, function()
      both = both or granted and granted:is_held() and guard:is_held()
      return granted and not guard:is_held()
    end, LONG)
    assert.is_falsy(both)
    other:close()
    session:close()
  end)
end)

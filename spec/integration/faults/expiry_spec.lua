-- Sessions that somebody else ends, or makes shorter.  Who knows a session's id
-- and password may close it, and its client learns of it afterwards.  A server
-- has the last word on the timeout, and at a reconnection it may say another
-- than before: it was restarted with other settings, or the servers' settings
-- differ.
local kinds = require "integration.family.kinds"
local start_hostile = require "support.hostile".start
local seize = require "support.seizure".seize
local sessions = require "integration.sessions"
local exploration = require "virtual.exploration"
local support = require "support"
local virtual = require "zklock.virtual"

local function expire(session)
  assert.is_true(seize(support.hosts, session:id()))
end

local function has_another(session)
  support.until_state(session, "connected", { expirations = 1 })
end

-- It is a hold, at a node of this session.
local function is_owned(guard, session)
  assert.is_true(guard:verify())
  assert.equal(session:id(), support.zk():exists(guard.node).owner)
end

local path
before_each(function() path = support.path() end)

describe("A session that another client closes", function()
  it("repeats its waits at the tail, with nodes of its new session", function()
    local holder = support.hold(path)
    local session, other = support.connect(), support.connect()
    local first = kinds.queue_in(session:mutex(path), path)
    local second = kinds.queue_in(other:mutex(path), path)
    expire(session)
    has_another(session)
    support.wait_for_queue(path, 3)
    holder:release()
    assert.is_true(kinds.await(second):is_held())
    kinds.nobody(0.2, first)
    second.guard:release()
    local guard = kinds.await(first)
    assert.are_not.equal(first.node, guard.node)
    is_owned(guard, session)
    guard:release()
  end)

  it("while a create's reply is lost uses no node of the old session (T1)",
    function()
      local session, proxy = sessions.behind_proxy()
      support.zk():make(path)
      proxy:lose_reply "create"
      local waiter = kinds.wait_in(session:mutex(path))
      proxy:await_loss()
      local old = support.wait_for_queue(path, 1)[1]
      expire(session)
      proxy:heal()
      local guard = kinds.await(waiter)
      assert.are_not.equal(path .. "/" .. old, guard.node)
      assert.same({ guard.node }, kinds.nodes(path))
      is_owned(guard, session)
      guard:release()
    end)

  it("at the moment of a grant never holds without a node (T9)",
    function()
      for i = 1, 20 do
        local session, here = support.connect(), path .. "/" .. i
        local holder = support.hold(here)
        local waiter = kinds.queue_in(session:mutex(here), here)
        holder:release()
        support.advance(i * 0.0001)
        expire(session)
        local guard = kinds.await(waiter)
        has_another(session)
        -- Granted before or after: what it believes now is true.
        local held = guard:is_held()
        assert.equal(held, support.zk():exists(guard.node) ~= false)
        local released, _, code = guard:release()
        assert.equal(held and "true" or "lost", code or tostring(released))
        support.wait_for_queue(here, 0)
      end
    end)
end)

for how, step in pairs {
  ["with steps in between"] = function(session) session:step() end,
  ["in a single step at the end"] = function() end,
} do
  it("A session that expires reports each of its states, " .. how, function()
    local events = {}
    local session = support.connect { on_event = function(event)
      events[#events + 1] = event
    end }
    session:step()
    expire(session)
    support.wait_until(function()
      step(session)
      return session:stats().expirations == 1
        and session:state() == "connected"
    end)
    session:step()
    assert.same({ "connected", "suspended", "expired", "connected" }, events)
  end)
end

local LONG, SHORT = 40, 4

describe("A session whose timeout falls at a reconnection", function()
  local hostile, session
  before_each(function() hostile = start_hostile() end)

  local function connect(options)
    options = options or {}
    options.hosts, options.session_timeout = hostile.hosts, LONG
    session = support.connect(options)
    assert.equal(LONG, session:timeout())
  end

  local function hold()
    return assert(session:mutex(path):acquire(30))
  end

  -- The nth one.
  local function reconnects(n, seconds)
    hostile:behave { kind = "pass", asks = seconds }
    hostile:cut()
    support.until_state(session, "connected", { reconnects = n })
    assert.equal(seconds, session:timeout())
  end

  it("loses its holds before other sessions acquire the locks", function()
    connect()
    local guard = hold()
    local handover = kinds.watch_handover(guard, support.connect(), path)
    reconnects(1, SHORT)
    assert.is_true(guard:is_held())
    hostile:behave { kind = "frozen" }
    handover(LONG)
  end)

  it("has the long one again in a session of its own", function()
    connect()
    reconnects(1, SHORT)
    hostile:behave { kind = "pass", forgets = "always" }
    hostile:cut()
    support.until_state(session, "connected", { expirations = 1 })
    assert.equal(LONG, session:timeout())
    local guard = hold()
    support.step_until(session, function() return guard:lease() > SHORT end)
    guard:release()
  end)

  it("has its new lease before its new connection is shown", function()
    local guards, seen = {}, nil
    connect { on_event = function(event)
      if event == "reconnected" then seen = guards[1]:lease() end
    end }
    -- (So many that a reconnection takes some time.)
    for i = 1, 1000 do
      session:mutex(path .. "/" .. i):acquire_async(nil, function(guard)
        guards[#guards + 1] = guard
      end)
    end
    support.step_until(session, function() return #guards == 1000 end)
    exploration.during({ switches = 2 }, function()
      reconnects(1, SHORT)
      support.step_until(session, function() return seen end)
    end)
    assert.is_true(seen < SHORT, seen)
  end)

  it("has its shorter lease before a server receives an attempt", function()
    connect { min_session_timeout = SHORT }
    local guard = hold()
    hostile:behave { kind = "pass", mute_connect = 1 }
    -- Stalls the I/O thread, sometimes right after it has sent the attempt.
    exploration.during({ switches = 2, stalls = 4, stall = 1 }, function()
      hostile:cut()
      repeat virtual.sleep(1e-6) until hostile:count "return" > 0
      assert.is_true(guard:lease() < SHORT)
    end)
    support.until_state(session, "connected", { reconnects = 1 })
    guard:release()
  end)

  it("without a reply loses its holds before other sessions acquire the "
    .. "locks, with min_session_timeout", function()
    connect { min_session_timeout = SHORT }
    local guard = hold()
    local handover = kinds.watch_handover(guard, support.connect(), path)
    hostile:behave { kind = "pass", asks = SHORT, lose_connect = 1 }
    hostile:cut()
    support.wait_until(function() return hostile:count "return" > 0 end)
    hostile:behave { kind = "silent" } -- the next ones say nothing
    handover(LONG + 20)
  end)
end)

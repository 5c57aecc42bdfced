-- When a session sends what it sends by itself: renewals of its lease, nudges,
-- reads of what it holds, and the next session.
local answers = require "integration.answers"
local kinds = require "integration.family.kinds"
local seize = require "support.seizure".seize
local sessions = require "integration.sessions"
local start_hostile = require "support.hostile".start
local support = require "support"

local path
before_each(function() path = support.path() end)

local is_write = { multi = true, create2 = true, delete = true }

-- The longest and shortest time between renewals within so many seconds: each
-- write is one.
local function pace(seconds)
  local log, last, longest, shortest = answers.log(), nil, 0, seconds
  support.advance(seconds)
  for _, entry in ipairs(log) do
    if is_write[entry.op] then
      longest = math.max(longest, entry.at - (last or entry.at))
      shortest = math.min(shortest, last and entry.at - last or seconds)
      last = entry.at
    end
  end
  return longest, shortest
end

local function has_pace(expected)
  support.advance(20)
  local longest, shortest = pace(30)
  assert.near(expected, longest, 0.01)
  assert.near(expected, shortest, 0.01)
end

describe("Renewals", function()
  it("are more frequent for a waiter, and most frequent for a holder",
    function()
      local session = support.connect { session_timeout = 10 }
      has_pace(3)
      local ahead = path .. "/x-lock-0000000000"
      support.zk():make(ahead)
      local waiter = kinds.wait_in(session:mutex(path))
      has_pace(10 / 6)
      support.zk():delete(ahead)
      kinds.await(waiter)
      has_pace(11 / 12)
      waiter.guard:release()
    end)

  it("are on time while another contender pauses", function()
    local session = support.connect { session_timeout = 1 }
    local guard = assert(session:mutex(path .. "-other"):acquire(30))
    local writer = support.connect():rwlock(path).write:acquire(30)
    local waiter = kinds.wait_in(session:mutex(path))
    assert.is_true(pace(0.4) < 0.095)
    kinds.refused("conflict", kinds.await(waiter))
    writer:release()
    guard:release()
  end)

  local function connect(hostile)
    return support.connect { hosts = hostile.hosts, session_timeout = 20,
      auth = { scheme = "digest", credential = "u:p" } }
  end

  -- The session ends.  Its server refuses the next one's credentials once.
  local function refuse_next(session, hostile, manners)
    manners.kind, manners.refuse_auth = "pass", 1
    hostile:behave(manners)
    assert.is_true(seize(support.hosts, session:id()))
    support.wait_until(function() return hostile:count "session" == 2 end)
  end

  it("count with the least that any server may have granted", function()
    local hostile = start_hostile()
    hostile:behave { kind = "pass", asks = 10 }
    local session = connect(hostile)
    refuse_next(session, hostile, { asks = 20 })
    support.until_state(session, "connected", { expirations = 1 })
    assert.equal(20, session:timeout())
    has_pace(3)
  end)

  it("forget a session that was not accepted", function()
    local hostile = start_hostile()
    local session = connect(hostile)
    refuse_next(session, hostile, { asks = 5 })
    hostile:behave { kind = "pass", asks = 20, forgets = 1 }
    support.until_state(session, "connected", { expirations = 1 })
    has_pace(6)
  end)
end)

it("A request that is not answered for 250 ms gets one nudge", function()
  local session, proxy = sessions.behind_proxy { session_timeout = 10 }
  proxy:freeze()
  local waiter = kinds.wait_in(session:mutex(path))
  local function nudges_after(seconds)
    support.advance(seconds)
    return session:stats().internal.nudges
  end
  assert.equal(0, nudges_after(0.245))
  assert.equal(1, nudges_after(0.01))
  assert.equal(1, nudges_after(1))
  proxy:heal()
  kinds.await(waiter):release()
end)

it("The node of a hold is watched after a sixth of the timeout", function()
  local session = support.connect { session_timeout = 10 }
  local log, guard = answers.log(), session:mutex(path):acquire(30)
  support.advance(1.6)
  assert.same({}, log:times "get")
  support.advance(0.1)
  assert.equal(1, #log:times("get", guard.node))
  guard:release()
end)

it("The next session begins at once after one that has lived", function()
  local session = support.connect()
  for i = 1, 6 do
    seize(support.hosts, session:id())
    assert.is_true(support.timed(function()
      support.until_state(session, "connected", { expirations = i })
    end) < 0.1)
    support.advance(60)
  end
end)

-- Its node may be deleted by no other session, and its attempts keep it alive.
it("A session that has something to delete is given up if no attempt is "
  .. "answered for one and a half timeouts", function()
  for _, seconds in ipairs { 13, 20 } do
    local hostile = start_hostile()
    local session = support.connect { hosts = hostile.hosts,
      session_timeout = 10 }
    local id, guard = session:id(), session:mutex(path):acquire(30)
    hostile:behave { kind = "pass", mute_connect = "always" }
    hostile:cut()
    support.until_state(session, "suspended")
    guard:release()
    support.advance(seconds)
    hostile:behave { kind = "pass" }
    support.until_state(session, "connected", { pending_releases = 0 })
    assert.equal(seconds < 15, session:id() == id)
  end
end)

-- A server has the last word on the session's timeout, and at a reconnection it
-- may say another than before: it was restarted with other settings, or the
-- servers' settings differ.
local kinds = require "integration.family.kinds"
local start_hostile = require "support.hostile".start
local support = require "support"

local LONG, SHORT = 40, 4

describe("A session whose timeout falls at a reconnection", function()
  local path, hostile, session
  before_each(function() path, hostile = support.path(), start_hostile() end)

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

  it("has lost its holds when others get them", function()
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
    reconnects(1, SHORT)
    support.step_until(session, function() return seen end)
    assert.is_true(seen < SHORT, seen)
  end)

  it("and hears no reply to it has lost its holds when others get them, if it "
    .. "was told the least that servers grant", function()
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

-- Servers that take connections and do no good with them are not stormed, and
-- do not keep a session from the others.
local seize = require "support.seizure".seize
local start_hostile = require "support.hostile".start
local support = require "support"
local zklock = require "zklock"

-- Attempts in so many seconds. The threads of `mt` connect again by themselves
-- until ours hears of a loss, and on a busy machine it hears late.
local SECONDS, MOST = 3, zklock.backend == "mt" and 20 or 10
local ways = {}

-- `hidden`: how long such a server may hide a good one beside it from a
-- session with a timeout of 6 s.
local function way(name, manners, hidden)
  ways[#ways + 1] = { name = name, manners = manners, hidden = hidden }
end

local SOON = 0.5
-- Who is silent may be slow: as long as that is waited for.
local PATIENCE = 4.5

way("accepts and says nothing", { kind = "silent" }, PATIENCE)
way("accepts nothing", { kind = "frozen" }, PATIENCE)
way("closes at once", { kind = "close" }, SOON)
-- (Which the client library takes for the length of an answer, of gigabytes.)
way("answers nonsense #stock", { kind = "nonsense" }, SOON)
way("says that each session is over", { kind = "expire" }, SOON)
way("grants sessions and drops them", { kind = "handshake", drop_after = 0 },
  SOON)
way("grants sessions, drops them, and forgets them", { kind = "handshake",
  drop_after = 0, forgets = "always" }, SOON)
way("drops sessions after a moment", { kind = "handshake", drop_after = 0.2 },
  SOON)
way("drops sessions at the first request", { kind = "handshake", drop_at = 1 },
  SOON)
way("grants sessions and answers nothing more", { kind = "handshake" })
way("lets sessions go on and answers nothing more", { kind = "pass",
  mute = "true" }, PATIENCE)
way("grants sessions of no time at all", { kind = "handshake", grants = 0.001 },
  PATIENCE)
way("loses its connect replies", { kind = "pass", lose_connect = "always" },
  SOON)
way("keeps its connect replies", { kind = "pass", mute_connect = "always" },
  PATIENCE)
way("drops sessions at the first request of some size", { kind = "pass",
  largest = 80 })

-- A session that has something to do for a while, if it comes about.
local function be_busy(session, seconds)
  session:mutex(support.path()):acquire_async(nil, function() end)
  local ends = support.now() + seconds
  support.step_until(session, function()
    return support.now() > ends
  end, seconds + 1)
end

describe("A server that #once", function()
  before_each(support.start)
  after_each(support.finish)

  for _, this in ipairs(ways) do
    it(this.name .. " is not stormed", function()
      local hostile = start_hostile()
      hostile:behave(this.manners)
      local begun = support.now()
      local session = zklock.connect(hostile.hosts, {
        session_timeout = 20,
        connect_timeout = SECONDS,
      })
      if session then
        support.closing(session)
        be_busy(session, SECONDS)
      end
      assert.is_true(support.now() - begun < 2 * SECONDS + support.slack)
      local most = hostile:most("connection", SECONDS)
      assert.is_true(most <= MOST, most)
    end)

    it(this.name .. " is left alone by a session that had a good connection",
      function()
        local hostile = start_hostile()
        local session = support.connect { hosts = hostile.hosts,
          session_timeout = 20 }
        local guard = assert(session:mutex(support.path()):acquire(30))
        local begun, id = support.now(), session:id()
        hostile:behave(this.manners)
        hostile:cut()
        be_busy(session, SECONDS)
        local n = hostile:most("connection", SECONDS, 1, begun)
        assert.is_true(n <= MOST, n)
        hostile:behave { kind = "pass" }
        hostile:cut()
        support.step_until(session, function()
          return session:state() == "connected"
            and session:mutex(support.path()):try_acquire()
        end, 10, "a connection")
        guard:release()
        -- (What was only said to be over is over now.)
        if session:id() ~= id then seize(support.hosts, id) end
      end)

    if this.hidden then
      it(this.name .. " hides no good one", function()
        local hostile = start_hostile()
        hostile:behave(this.manners)
        for _ = 1, this.hidden == SOON and 6 or 3 do
          local begun = support.now()
          local session, message = zklock.connect(
            hostile.hosts .. "," .. support.hosts,
            { session_timeout = 6, connect_timeout = 10 })
          support.closing(assert(session, message))
          local guard = assert(session:mutex(support.path()):acquire(10))
          assert.is_true(guard:verify())
          local took = support.now() - begun
          assert.is_true(took < this.hidden + support.slack, took)
          session:close()
        end
      end)
    end
  end

  it("does not answer one attempt of a session is asked again soon", function()
    -- As one does that is just being started: some attempts it forgets.
    local hostile, path = start_hostile(), support.path()
    local session = support.connect { hosts = hostile.hosts,
      session_timeout = 30 }
    local guard = assert(session:mutex(path):acquire(30))
    local id = session:id()
    hostile:behave { kind = "pass", mute_connect = 1 }
    hostile:cut()
    local begun = support.now()
    support.step_until(session, function()
      return session:state() == "connected"
        and session:stats().reconnects == 1
    end, 30, "a connection")
    local took = support.now() - begun
    assert.is_true(took < 5 + support.slack, took)
    assert.equal(id, session:id())
    assert.is_true(guard:verify())
    guard:release()
  end)
end)

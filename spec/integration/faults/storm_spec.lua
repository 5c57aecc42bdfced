-- Servers that take connections and do no good with them are not stormed, and
-- do not keep a session from the others.
local kinds = require "integration.family.kinds"
local start_hostile = require "support.hostile".start
local support = require "support"
local zklock = require "zklock"

-- Attempts in so many seconds.
local SECONDS, MOST = 3, 10

-- How long, in seconds, such a server may hide a good one beside it from a
-- session with a timeout of 6 s. A silent one may be slow: as long as that is
-- waited for.
local SOON, PATIENCE = 0.5, 4.5

local ways = {
  { "accepts and says nothing", PATIENCE, { kind = "silent" } },
  { "accepts nothing", PATIENCE, { kind = "frozen" } },
  { "closes at once", SOON, { kind = "close" } },
  { "says that each session is over", SOON, { kind = "expire" } },
  { "grants sessions and drops them", SOON,
    { kind = "handshake", drop_after = 0 } },
  { "grants sessions, drops them, and forgets them", SOON,
    { kind = "handshake", drop_after = 0, forgets = "always" } },
  { "drops sessions after a moment", SOON,
    { kind = "handshake", drop_after = 0.2 } },
  { "drops sessions at the first request", SOON,
    { kind = "handshake", drop_at = 1 } },
  { "grants sessions and answers nothing more", PATIENCE,
    { kind = "handshake" } },
  { "grants sessions of no time at all", PATIENCE,
    { kind = "handshake", grants = 0.001 } },
  { "loses its connect replies", SOON,
    { kind = "pass", lose_connect = "always" } },
  { "keeps its connect replies", PATIENCE,
    { kind = "pass", mute_connect = "always" } },
  { "drops sessions at the first request of some size", nil,
    { kind = "pass", largest = 80 } },
}

-- A session that has something to do, if it comes about.
local function is_not_stormed(hostile, session, before)
  local ends = support.now() + SECONDS
  if session then
    session:mutex(support.path()):acquire_async(nil, function() end)
    support.step_until(session, function() return support.now() >= ends end)
  end
  local attempts = hostile:count "connection" - before
  assert.is_true(attempts <= MOST, attempts)
end

describe("A server that", function()
  for _, way in ipairs(ways) do
    local name, hidden, manners = (unpack or table.unpack)(way, 1, 3)

    it(name .. " is not stormed", function()
      local hostile = start_hostile()
      hostile:behave(manners)
      local begun = support.now()
      local session = zklock.connect(hostile.hosts,
        { session_timeout = 20, connect_timeout = SECONDS })
      assert.is_true(support.now() - begun <= SECONDS + 0.01)
      if session then support.closing(session) end
      is_not_stormed(hostile, session, 0)
    end)

    it(name .. " is left alone by a session that had a good connection",
      function()
        local hostile = start_hostile()
        local session = support.connect { hosts = hostile.hosts,
          session_timeout = 20 }
        local guard = assert(session:mutex(support.path()):acquire(30))
        hostile:behave(manners)
        hostile:cut()
        is_not_stormed(hostile, session, 1)
        hostile:behave { kind = "pass" }
        hostile:cut()
        support.step_until(session, function()
          return session:state() == "connected"
            and session:mutex(support.path()):try_acquire()
        end)
        guard:release()
      end)

    if hidden then
      it(name .. " keeps no session from a good server", function()
        local hostile = start_hostile()
        hostile:behave(manners)
        for _ = 1, 6 do
          local begun = support.now()
          local session = support.connect { session_timeout = 6,
            connect_timeout = 10,
            hosts = hostile.hosts .. "," .. support.hosts }
          local guard = assert(session:mutex(support.path()):acquire(10))
          assert.is_true(guard:verify())
          local took = support.now() - begun
          assert.is_true(took < hidden, took)
          session:close()
        end
      end)
    end
  end

  -- As one does that is just being started: some attempts it forgets.
  for _, trouble in ipairs { "no", "much" } do
    it("does not answer one attempt of a session is asked again soon, after "
      .. trouble .. " trouble in the past", function()
      local hostile = start_hostile()
      local session = support.connect { hosts = hostile.hosts,
        session_timeout = 60 }
      local guard = assert(session:mutex(support.path()):acquire(30))
      local id, reconnects = session:id(), 0
      -- Until there is a connection again.
      local function suffers(manners)
        local begun = support.now()
        hostile:behave(manners)
        hostile:cut()
        reconnects = reconnects + 1
        support.until_state(session, "connected", { reconnects = reconnects })
        return support.now() - begun
      end
      if trouble == "much" then
        suffers { kind = "pass", lose_connect = 6 }
        suffers { kind = "pass", mute_connect = 3 }
        support.advance(3600)
      end
      local lost = suffers { kind = "pass", lose_connect = 1 }
      assert.is_true(lost < 0.1, lost)
      support.advance(60)
      local mute = suffers { kind = "pass", mute_connect = 1 }
      assert.is_true(mute > 1 and mute < 1.1, mute)
      assert.equal(id, session:id())
      assert.is_true(guard:verify())
      guard:release()
    end)
  end
end)

-- Whose jute.maxbuffer is smaller than one of our requests: it reads the length
-- and closes the connection, with earlier requests unanswered.
describe("A server that breaks the connection at a request", function()
  local LIMIT, WORKERS, LARGE = 700, 64, ("l"):rep(1024)

  local path, hostile, session
  before_each(function()
    path, hostile = support.path(), start_hostile()
    hostile:behave { kind = "pass", largest = LIMIT }
    session = support.connect { hosts = hostile.hosts, session_timeout = 20 }
  end)

  it("gets that request again after growing pauses; no other fails",
    function()
      local holder = assert(session:mutex(path .. "/held"):acquire(30))
      local rounds, goes_on = 0, true
      local function lost() error "a hold was lost" end
      holder:on_lost(lost)
      local large = kinds.wait_in(session:mutex(path .. "/large"),
        { data = LARGE, timeout = 6 })
      local ends = support.now() + 6
      for i = 1, WORKERS do
        local mutex = session:mutex(path .. "/small-" .. i)
        local function again(guard, ...)
          assert(guard, ...)
          guard:on_lost(lost)
          rounds = rounds + 1
          guard:release()
          if goes_on then mutex:acquire_async(nil, again) end
        end
        mutex:acquire_async(nil, again)
      end
      support.step_until(session, function() return support.now() > ends end)
      local _, _, code = kinds.await(large)
      assert.is_true(code == "timeout" or code == "disconnected", code)
      local cuts = session:stats().reconnects
      assert.is_true(cuts > 4 and cuts < 16, cuts)
      support.until_state(session, "connected")
      local after = rounds
      support.step_until(session, function()
        return rounds > after + 4 * WORKERS
      end)
      goes_on = false
      support.until_state(session, nil, { waiting = 0, holding = 1 })
      assert.is_true(session:stats().reconnects <= cuts + 1)
      assert.is_true(holder:release { wait = true })
    end)

  it("ends a revocation that it does not take with an error", function()
    hostile:behave { kind = "pass" }
    local guard = session:mutex(path, { data = LARGE }):acquire(30)
    hostile:behave { kind = "pass", largest = LIMIT }
    local asked, message, code = session:revoke(path)
    kinds.refused("disconnected", asked, message, code)
    assert.matches(path, message, 1, true)
    support.until_state(session, "connected", { reconnects = 1 })
    assert.is_true(guard:verify())
    assert.is_true(guard:release { wait = true })
  end)
end)

-- The nonce of a barrier's change (doc/dev/protocol.md), when it is used no
-- more and its delete fails.
local answers = require "integration.answers"
local seize = require "support.seizure".seize
local sessions = require "integration.sessions"
local support = require "support"

local THROTTLED, NO_AUTH = -127, -102

describe("A nonce that is used no more", function()
  local path, session, proxy

  before_each(function()
    path = support.path()
    support.zk():make(path .. "-gate")
    session, proxy = sessions.behind_proxy { session_timeout = 10 }
  end)

  -- Sets the barrier; the deletes of its nonce have this code, if there is one.
  local function set(code)
    local log = answers.log(function(reply, asked)
      if reply.op == "delete" and asked:find("-nonce-", 1, true) then
        return code and { rc = code }
      end
    end)
    assert.is_true(session:barrier(path):set())
    return log
  end

  local function deletes(log) return log:times("delete", "-nonce-") end

  -- What there is in a new connection, of five seconds.
  local function reconnect(log)
    local before = session:stats().reconnects
    log:clear()
    proxy:cut()
    support.until_state(session, "connected", { reconnects = before + 1 })
    local begun = support.now()
    support.advance(5)
    return begun
  end

  it("is deleted first of all in the next connection, once", function()
    session:barrier(path .. "-gate"):wait_async(60, function() end)
    support.until_state(session, nil, { watches = 1, in_flight = 0 })
    proxy:lose_reply "delete"
    local log = set()
    proxy:await_loss()
    log:clear()
    proxy:heal()
    support.until_state(session, "connected", { reconnects = 1 })
    log:await(1, "get")
    assert.equal(1, #deletes(log))
    assert.is_true(deletes(log)[1] <= log:times "get"[1])
    reconnect(log)
    assert.same({}, deletes(log))
  end)

  it("is deleted once more after each pause, and in a connection at once",
    function()
      local log = set(THROTTLED)
      log:await(5, "delete", "-nonce-")
      local times = deletes(log)
      for i = 2, #times do assert.is_true(times[i] - times[i - 1] >= 0.05) end
      local begun = reconnect(log)
      assert.near(begun, deletes(log)[1], 0.02)
      assert.is_true(#deletes(log) > 1)
    end)

  it("ends with its session", function()
    local log = set(THROTTLED)
    assert.is_true(seize(support.hosts, session:id()))
    support.until_state(session, "connected", { expirations = 1 })
    log:clear()
    support.advance(5)
    assert.same({}, deletes(log))
  end)

  it("stays where it may not be deleted", function()
    local log = set(NO_AUTH)
    log:await(1, "delete", "-nonce-")
    reconnect(log)
    assert.same({}, deletes(log))
  end)
end)

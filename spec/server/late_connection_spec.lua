-- A connection that comes about in the very moment in which it is given up.
local new_names = require "support.names".new
local start_actor = require "support.actor".start
local start_hostile = require "support.hostile".start
local support = require "support"

local NAME, TIMEOUT = "host.example", 8

-- The server keeps the session for longer than the client believes.  So the
-- session expires only if the client gives it up, however busy the machine is.
local function passing(holds)
  return { kind = "pass", asks = 60, says = TIMEOUT, hold_connect = holds }
end

describe("A session #stock", function()
  local function ask(this)
    local state, id, reconnects, expirations = this.actor:ask [[
      local stats = session:stats()
      return session:state(), session:id(), stats.reconnects, stats.expirations
    ]]:match "(%S+)\t(%S+)\t(%S+)\t(%S+)"
    return { state = state, id = id, expirations = tonumber(expirations),
      connections = tonumber(reconnects) + tonumber(expirations) }
  end

  local function begin()
    local this = { path = support.path(), names = new_names(),
      hostile = start_hostile { addresses = { "127.0.0.1", "127.0.0.2" } } }
    this.holder = support.hold(this.path, { session_timeout = 30 })
    this.hostile:behave(passing())
    this.names:set(NAME, "127.0.0.1")
    this.actor = start_actor { environment = this.names.environment,
      hosts = NAME .. ":" .. this.hostile.hosts:match ":(%d+)",
      session_timeout = TIMEOUT }
    this.actor:ask("begin('a', session:mutex %q)", this.path)
    this.queue = support.wait_for_queue(this.path, 2)
    this.id = ask(this).id
    return this
  end

  local function lives_on(this, before)
    local now
    this.hostile:behave(passing())
    this.hostile:release()
    support.wait_until(function()
      now = ask(this)
      return now.state == "connected" and now.connections > before.connections
    end, 10, "a connection")
    assert.equal(0, now.expirations)
    assert.equal(this.id, now.id)
    assert.same(this.queue, support.zk():queue(this.path))
  end

  local function finish(this)
    assert.is_true(this.holder:is_held())
    this.actor:finish()
    this.holder:release()
  end

  -- An attempt to connect begins, and its answer waits.
  local function attempt(this, begin_it)
    local returned = this.hostile:count "return"
    begin_it()
    support.wait_until(function()
      return this.hostile:count "return" > returned
    end, 10, "an attempt")
  end

  it("that is connected just when its timeout has passed lives on", function()
    local this = begin()
    for _ = 1, 2 do
      local before, lost = ask(this), support.now()
      this.hostile:behave { kind = "close" }
      this.hostile:cut()
      -- (In the middle: the server must be asked, and hear us again, in time.)
      support.sleep(0.45 * TIMEOUT)
      attempt(this, function() this.hostile:behave(passing "true") end)
      -- The server goes on with the session; the client finds its answer when
      -- it goes on, together with the time.
      this.actor.child:signal "STOP"
      this.hostile:release()
      support.sleep(lost + TIMEOUT + 0.1 - support.now()) -- its timeout
      this.actor.child:signal "CONT"
      lives_on(this, before)
    end
    finish(this)
  end)

  it("that is connected just when its name gets other addresses lives on",
    function()
      local this = begin()
      for round = 1, 4 do
        local before = ask(this)
        this.names:set(NAME, "127.0.0.1",
          round % 2 == 1 and "127.0.0.2" or nil)
        this.names:hold()
        this.hostile:behave(passing "true")
        attempt(this, function() this.hostile:cut() end)
        this.names:await_held()
        -- Both answers at once.
        this.actor.child:signal "STOP"
        this.hostile:release()
        this.names:let_go()
        support.sleep(0.02) -- until both have come
        this.actor.child:signal "CONT"
        lives_on(this, before)
      end
      finish(this)
    end)
end)

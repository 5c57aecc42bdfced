-- Names: a resolver that answers at first and hangs when the servers are gone;
-- addresses that move while there is no connection, and many of them; and
-- connections that come late.
local new_names = require "support.names".new
local spawn_with = require "support.child".spawn_with
local start_actor = require "support.actor".start
local start_hostile = require "support.hostile".start
local start_proxy = require "support.proxy".start
local support = require "support"

local NAME, TIMEOUT = "host.example", 8

local function port_of(it) return it.hosts:match ":(%d+)" end

local function start(names, hostile)
  return start_actor { environment = names.environment,
    hosts = NAME .. ":" .. port_of(hostile), session_timeout = TIMEOUT }
end

describe("A resolver that hangs while there is no server #stock", function()
  it("holds up no loss, no deadline, no release and no close", function()
    local path, proxy, names = support.path(), start_proxy(), new_names()
    names:set(NAME, "127.0.0.1")
    local child = spawn_with(names.environment, [[
      local now = require "zklock.core".now
      local hosts, path = ...
      local session = assert(zklock.connect(hosts, { session_timeout = 3 }))
      local guard = assert(session:mutex(path):acquire(30))
      local brief = assert(session:mutex(path .. "/b"):acquire {
        timeout = 5, max_hold = 60 })
      say "held"
      hear() -- and now there is neither a server nor a name
      local begun = now()
      while guard:is_held() and now() < begun + 9 do socket.sleep(0.01) end
      say("lost", now() - begun < 8)
      begun = now()
      local _, _, code = session:mutex(path .. "/c"):acquire(0.5)
      say("acquire", code, now() - begun < 8)
      say("release", select(3, brief:release()))
      begun = now()
      session:close()
      say("close", now() - begun < 8)
      os.exit(0)
    ]], NAME .. ":" .. port_of(proxy), path)
    child:expect "held"
    names:hold()
    proxy:refuse()
    names:await_held()
    child:say()
    child:expect "lost\ttrue"
    child:expect "acquire\tdisconnected\ttrue"
    child:expect "release\tlost"
    child:expect "close\ttrue"
    assert.equal(0, child:wait(5))
    proxy:heal()
    support.wait_for_queue(path, 0)
  end)
end)

describe("A host name #stock", function()
  -- A process that has lost the first of two addresses.
  local function begin()
    local this = { names = new_names(),
      hostile = start_hostile { addresses = { "127.0.0.1", "127.0.0.2" } } }
    this.names:set(NAME, "127.0.0.1")
    this.actor = start(this.names, this.hostile)
    this.actor:await("connected", "session:state()")
    this.hostile:behave({ kind = "close" }, 1)
    this.hostile:cut(1)
    this.actor:await("suspended", "session:state()")
    return this
  end

  local function goes_on(this)
    this.actor:await("connected", "session:state()")
    assert.is_true(this.hostile:count("handshake", 2) >= 1)
    this.actor:finish()
  end

  it("whose address changes seconds after the loss is looked up again",
    function()
      local this = begin()
      this.names:set(NAME)
      support.sleep(1.5) -- it is unknown, so long
      this.names:set(NAME, "again")
      support.sleep(1.5) -- no resolver answers, so long
      this.names:set(NAME, "127.0.0.2")
      goes_on(this)
    end)

  it("is not looked up all the time", function()
    local this = begin()
    support.sleep(4) -- in which it is looked up now and then
    local count = this.names:count()
    assert.is_true(count >= 2 and count <= 12, count)
    this.hostile:behave({ kind = "pass" }, 1)
    this.actor:await("connected", "session:state()")
    count = this.names:count()
    support.sleep(3) -- in which it is connected
    -- (One may be under way.)
    assert.is_true(this.names:count() <= count + 1)
    this.actor:finish()
  end)

  it("can have 99 addresses", function()
    local names, addresses = new_names(), {}
    for i = 1, 99 do addresses[i] = "127.0.1." .. i end
    for _, live in ipairs { "127.0.1.1", "127.0.1.50", "127.0.1.99" } do
      local hostile = start_hostile { addresses = { live } }
      names:set(NAME, (unpack or table.unpack)(addresses))
      start(names, hostile):finish()
    end
  end)
end)

-- A connection that comes about in the very moment in which it is given up.

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
    this.actor = start(this.names, this.hostile)
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

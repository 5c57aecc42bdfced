-- Credentials: their answer is lost, does not come, or is "no" for a while.
local kinds = require "integration.family.kinds"
local start_hostile = require "support.hostile".start
local start_proxy = require "support.proxy".start
local support = require "support"
local worlds = require "virtual.worlds"
local zklock = require "zklock"

local function open(hosts, seconds, patience)
  local session, message, code = zklock.connect(hosts, {
    session_timeout = seconds or 20,
    connect_timeout = patience or 10,
    auth = { scheme = "digest", credential = "ann:secret" },
  })
  if session then support.closing(session) end
  return session, message, code
end

local function use(session)
  local guard = assert(session:mutex(support.path()):acquire(30))
  assert.is_true(guard:verify())
  assert.is_true(guard:release { wait = true })
end

local hostile
before_each(function() hostile = start_hostile() end)

describe("The answer to a credential that", function()
  it("does not come is in the message of a connect that fails", function()
    hostile:behave { kind = "pass", mute_auth = "always" }
    local session, message = open(hostile.hosts, 6)
    assert.is_nil(session)
    assert.matches(hostile.hosts .. ": it does not answer the credentials",
      message, 1, true)
  end)

  -- What becomes of it, and how long a session with a timeout of 6 s is without
  -- it.
  for name, this in pairs {
    ["is lost with the connection"] = { "cut_auth", 0 },
    ["does not come"] = { "mute_auth", 4 },
  } do
    local what, seconds = this[1], this[2]
    local function takes(begun)
      local took = support.now() - begun
      assert.is_true(took >= seconds and took < seconds + 0.2, took)
    end

    it(name .. " does not end a session that connects", function()
      hostile:behave { kind = "pass", [what] = 1 }
      local begun = support.now()
      local session = assert(open(hostile.hosts, 6))
      takes(begun)
      assert.equal(2, hostile:count "connection")
      assert.equal(1, hostile:count "session")
      use(session)
    end)

    it(name .. " at a reconnection is requested again", function()
      local path = support.path()
      local session = assert(open(hostile.hosts, 6))
      local id, holder = session:id(), support.hold(path)
      local waiter = kinds.queue_in(session:mutex(path), path)
      local queue = support.wait_for_queue(path, 2)
      hostile:behave { kind = "pass", [what] = 1 }
      local begun = support.now()
      hostile:cut()
      support.until_state(session, "connected", { reconnects = 1 })
      takes(begun)
      -- For as long as a session lives nobody closes it.
      for _ = 1, 700 do
        support.advance(0.01)
        session:step()
        assert.equal("connected", session:state())
      end
      assert.equal(id, session:id())
      assert.same(queue, support.zk():queue(path))
      assert.equal(3, hostile:count "connection")
      holder:release()
      assert.equal(path .. "/" .. queue[2], kinds.await(waiter).node)
      waiter.guard:release()
    end)

    it(name .. ", ever, is no reason for a storm", function()
      hostile:behave { kind = "pass", [what] = "always" }
      assert.equal("disconnected", select(3, open(hostile.hosts, 20, 3)))
      assert.is_true(hostile:count "connection" <= 10)
      assert.equal(1, hostile:count "session")
    end)
  end
end)

describe("Credentials", function()
  it("are accepted by the one server among some that is there", function()
    local hosts = hostile.hosts
    for port = 1, 8 do hosts = hosts .. ",127.0.0.1:" .. port end
    for _ = 1, 4 do -- (in an order of its own each time)
      local begun = support.now()
      local session = assert(open(hosts))
      assert.is_true(support.now() - begun < 0.2)
      use(session)
    end
  end)

  it("are all accepted before a session is there", function()
    hostile:behave { kind = "pass", refuse_second = "always" }
    kinds.refused("auth", zklock.connect(hostile.hosts, {
      connect_timeout = 5,
      auth = { { scheme = "digest", credential = "ann:secret" },
        { scheme = "digest", credential = "bob:secret" } },
    }))
  end)
end)

it("A server that hides its root is as good as another", function()
  local hosts = worlds.free_address()
  worlds.start(hosts, { hides_nodes = true })
  support.zk(hosts):set_acl("/", support.everybody(30))
  assert.is_false(support.zk(hosts):sees "/")
  local proxy = start_proxy(hosts)
  local session = assert(open(proxy.hosts))
  local guard = assert(session:mutex(support.path()):acquire(30))
  for n = 1, 2 do
    proxy:cut()
    support.until_state(session, "connected", { reconnects = n })
    use(session)
  end
  assert.equal(0, session:stats().expirations)
  assert.is_true(guard:verify())
  assert.is_true(guard:release { wait = true })
end)

describe("Credentials that are refused at a reconnection", function()
  -- A holder and two who wait: for another's lock, and for its own.
  local function begin(seconds)
    local path = support.path()
    local this = { path = path, events = {}, lost = 0 }
    this.session = assert(open(hostile.hosts, seconds))
    for _, event in ipairs { "suspended", "reconnected", "expired" } do
      this.session:on(event, function() table.insert(this.events, event) end)
    end
    this.guard = assert(this.session:mutex(path):acquire(30))
    this.guard:on_lost(function() this.lost = this.lost + 1 end)
    this.holder = support.hold(path .. "/b")
    local mutex = this.session:mutex(path .. "/b")
    local waiter = kinds.queue_in(mutex, path .. "/b")
    this.id = this.session:id()
    hostile:behave { kind = "pass", refuse_auth = "always" }
    hostile:cut()
    kinds.refused("auth", kinds.await(waiter))
    assert.equal("suspended", this.session:state())
    assert.equal("suspended", this.events[1])
    local begun = support.now()
    local other = this.session:mutex(path .. "/c")
    assert.matches("^zklock: ", kinds.refused("auth", other:acquire(8)))
    kinds.refused("auth", other:try_acquire())
    assert.is_true(support.now() - begun < 0.01)
    return this
  end

  it("suspend the session, refuse its waiters, and are sent again: it keeps "
    .. "its "
    .. "holds", function()
    local this = begin(20)
    local session = this.session
    for _ = 1, 200 do
      support.advance(0.01)
      session:step()
      assert.equal("suspended", session:state())
    end
    assert.equal("suspended", this.guard:state())
    assert.is_true(this.guard:is_held())
    assert.equal(3, hostile:count "connection") -- the second try after 1 s
    hostile:behave { kind = "pass" }
    support.until_state(session, "connected")
    assert.equal(this.id, session:id())
    assert.is_true(this.guard:verify())
    use(session)
    -- After a while of peace one refusal is the first one again.
    support.advance(600)
    hostile:behave { kind = "pass", refuse_auth = 1 }
    hostile:cut()
    local begun = support.now()
    support.until_state(session, "connected", { reconnects = 2 })
    local took = support.now() - begun
    assert.is_true(took > 1 and took < 1.1, took)
    assert.is_true(this.guard:release { wait = true })
    assert.equal(0, this.lost)
    this.holder:release()
    -- Who was refused has left the queue.
    support.wait_for_queue(this.path .. "/b", 0)
  end)

  it("lose what it holds by the lease at the latest", function()
    local begun = support.now()
    local this = begin(4)
    local handover = kinds.watch_handover(this.guard, support.connect(),
      this.path)
    while this.guard:is_held() do support.advance(0.001) end
    assert.is_true(support.now() - begun < 4)
    support.step_until(this.session, function() return this.lost == 1 end)
    handover(15)
    hostile:behave { kind = "pass" }
    support.until_state(this.session, "connected", { expirations = 1 })
    assert.equal(1, this.lost)
    use(this.session)
    this.holder:release()
  end)
end)

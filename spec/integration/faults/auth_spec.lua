-- Credentials: their answer is lost, does not come, or is "no" for a while.
local start_hostile = require "support.hostile".start
local support = require "support"
local zklock = require "zklock"

local function open(hostile, seconds, patience)
  local session, message, code = zklock.connect(hostile.hosts, {
    session_timeout = seconds or 20,
    connect_timeout = patience or 10,
    auth = { scheme = "digest", credential = "ann:secret" },
  })
  if session then support.closing(session) end
  return session, message, code
end

local function await(session, state, seconds)
  support.step_until(session, function()
    return session:state() == state
  end, seconds or 10, state)
end

local function use(session)
  local guard = assert(session:mutex(support.path()):acquire(30))
  assert.is_true(guard:verify())
  assert.is_true(guard:release { wait = true })
end

before_each(support.start)
after_each(support.finish)

describe("The answer to a credential that #once", function()
  for name, what in pairs {
    ["is lost with the connection"] = "cut_auth",
    ["does not come"] = "mute_auth",
  } do
    it(name .. " leaves a session in the making to itself", function()
      local hostile = start_hostile()
      hostile:behave { kind = "pass", [what] = 1 }
      local begun = support.now()
      local session = assert(open(hostile, 6, 10))
      assert.is_true(support.now() - begun
        < (what == "cut_auth" and 1 or 6) + support.slack)
      assert.is_true(hostile:count "connection" <= 4)
      assert.equal(1, hostile:count "session")
      use(session)
    end)

    it(name .. " at a reconnection is asked for again", function()
      local path, hostile = support.path(), start_hostile()
      local session = assert(open(hostile, 6))
      local id = session:id()
      local holder = support.hold(path)
      local granted
      session:mutex(path):acquire_async(nil, function(mine) granted = mine end)
      local queue = support.wait_for_queue(path, 2)
      hostile:behave { kind = "pass", [what] = 1 }
      hostile:cut()
      support.step_until(session, function()
        return session:state() == "connected"
          and session:stats().reconnects == 1
      end, 6 + support.slack, "a connection")
      assert.equal(id, session:id())
      assert.same(queue, support.zk():queue(path))
      -- For as long as a session lives nobody closes it.
      local begun, connections = support.now(), hostile:count "connection"
      assert.is_true(connections <= 5, connections)
      support.step_until(session, function()
        assert.equal("connected", session:state())
        return support.now() > begun + 7
      end, 10)
      assert.equal(connections, hostile:count "connection")
      holder:release()
      support.step_until(session, function() return granted end)
      assert.equal(path .. "/" .. queue[2], granted.node)
      granted:release()
    end)

    it(name .. ", ever, is no reason for a storm", function()
      local hostile = start_hostile()
      hostile:behave { kind = "pass", [what] = "always" }
      local session, _, code = open(hostile, 20, 3)
      assert.is_nil(session)
      assert.equal("disconnected", code)
      local most = hostile:most("connection", 3)
      assert.is_true(most <= 10, most)
      assert.is_true(hostile:count "session" <= 1)
    end)
  end
end)

describe("Credentials", function()
  it("are accepted by the one server among some that is there", function()
    local hostile = start_hostile()
    -- Nobody listens at these ports.
    local hosts = hostile.hosts
    for port = 1, 8 do hosts = hosts .. ",127.0.0.1:" .. port end
    for _ = 1, 4 do -- (in an order of its own each time)
      local begun = support.now()
      local session = assert(open({ hosts = hosts }, 20))
      assert.is_true(support.now() - begun < 1 + support.slack)
      use(session)
    end
  end)

  it("are all accepted before a session is there", function()
    local hostile = start_hostile()
    hostile:behave { kind = "pass", refuse_second = true }
    for _ = 1, 3 do
      local session, _, code = zklock.connect(hostile.hosts, {
        connect_timeout = 5,
        auth = { { scheme = "digest", credential = "ann:secret" },
          { scheme = "digest", credential = "bob:secret" } },
      })
      if session then support.closing(session) end
      assert.is_nil(session)
      assert.equal("auth", code)
    end
  end)
end)

describe("A server that hides its root", function()
  it("is as good as another", function()
    local hostile = start_hostile()
    hostile:behave { kind = "pass", hides_root = true }
    local session = assert(open(hostile, 20))
    local guard = assert(session:mutex(support.path()):acquire(30))
    local id = session:id()
    for n = 1, 2 do
      hostile:cut()
      support.step_until(session, function()
        return session:stats().reconnects == n
      end, 5, "a reconnection")
      use(session)
    end
    assert.equal(id, session:id())
    -- (`mt` tries each lost one once more by itself.)
    assert.is_true(hostile:count "connection" <= 5)
    assert.is_true(guard:verify())
    assert.is_true(guard:release { wait = true })
  end)
end)

describe("Credentials that are refused at a reconnection #once", function()
  -- A holder and two who wait: for another's lock, and for its own.
  local function begin(hostile, seconds)
    local path = support.path()
    local this = { path = path, events = {}, lost = 0 }
    this.session = assert(open(hostile, seconds))
    for _, event in ipairs { "suspended", "reconnected", "expired" } do
      this.session:on(event, function() table.insert(this.events, event) end)
    end
    this.guard = assert(this.session:mutex(path):acquire(30))
    this.guard:on_lost(function() this.lost = this.lost + 1 end)
    this.holder = support.hold(path .. "/b")
    this.session:mutex(path .. "/b"):acquire_async(nil, function(_, _, code)
      this.code = code or "granted"
    end)
    support.wait_for_queue(path .. "/b", 2)
    this.id = this.session:id()
    hostile:behave { kind = "pass", refuse_auth = "always" }
    hostile:cut()
    return this
  end

  local function is_refused(this)
    local session = this.session
    support.step_until(session, function() return this.code end, 3)
    assert.equal("auth", this.code)
    assert.equal("suspended", session:state())
    assert.equal("suspended", this.events[1])
    local begun = support.now()
    local guard, message, code = session:mutex(this.path .. "/c"):acquire(8)
    assert.is_nil(guard)
    assert.equal("auth", code)
    assert.matches("^zklock: ", message)
    assert.is_true(support.now() - begun < support.slack)
    assert.equal("auth",
      (select(3, session:mutex(this.path .. "/c"):try_acquire())))
  end

  it("suspend the session, refuse who waits, and are tried again: what it "
    .. "holds is kept", function()
    local hostile = start_hostile()
    local this = begin(hostile, 20)
    is_refused(this)
    local begun = support.now()
    support.step_until(this.session, function()
      assert.equal("suspended", this.session:state())
      return support.now() > begun + 2
    end, 5)
    assert.equal("suspended", this.guard:state())
    assert.is_true(this.guard:is_held())
    local connections = hostile:most("connection", 3)
    assert.is_true(connections >= 2 and connections <= 10, connections)
    hostile:behave { kind = "pass" }
    await(this.session, "connected", 10)
    assert.equal(this.id, this.session:id())
    assert.is_true(this.guard:verify())
    assert.is_true(this.guard:release { wait = true })
    assert.equal(0, this.lost)
    use(this.session)
    this.holder:release()
    -- Who was refused has left the queue.
    support.wait_for_queue(this.path .. "/b", 0)
  end)

  it("lose what it holds by the lease at the latest", function()
    local hostile = start_hostile()
    local begun = support.now()
    local this = begin(hostile, 4)
    is_refused(this)
    local other = support.connect()
    local granted
    other:mutex(this.path):acquire_async(nil, function(mine) granted = mine end)
    support.wait_until(function()
      other:step()
      local held = this.guard:is_held()
      assert.is_false(held and granted ~= nil)
      return not held
    end, 10)
    assert.is_true(support.now() - begun < 4 + support.slack)
    support.step_until(this.session, function() return this.lost == 1 end)
    support.step_until(other, function() return granted end, 15)
    granted:release()
    hostile:behave { kind = "pass" }
    await(this.session, "connected", 35)
    assert.equal("lost", (select(3, this.guard:release())))
    assert.equal(1, this.lost)
    use(this.session)
    this.holder:release()
  end)

  it("hold up no close", function()
    local hostile = start_hostile()
    local this = begin(hostile, 20)
    is_refused(this)
    local begun = support.now()
    this.session:close()
    assert.is_true(support.now() - begun < 1 + support.slack)
    -- Nobody could tell the server: it finds out by itself, or we tell it.
    require "support.seizure".seize(support.hosts, this.id)
    this.holder:release()
  end)
end)

-- What each kind of lock costs: requests and events of each session, as the
-- model of a server counts them.  These numbers are pinned, so that a change
-- which makes a lock dearer is seen.
local kinds = require "integration.family.kinds"
local raw = require "support.raw"
local support = require "support"
local connect = support.connect
local wait_in, await = kinds.wait_in, kinds.await
local unpack = unpack or table.unpack

-- No heartbeat comes in between.
local function quiet() return connect { session_timeout = 60 } end

-- Packets that the server has received from a session, and sent to it, without
-- heartbeats and nudges.
local function count(session)
  local id, stats = session:id():gsub("^0x0*", ""), session:stats()
  local own = stats.heartbeats + stats.internal.nudges
  for line in raw.word(support.hosts, "cons"):gmatch "[^\n]+" do
    if line:match "sid=0x0*(%x+)" == id then
      return line:match "recved=(%d+)" - own, line:match "sent=(%d+)" - own
    end
  end
end

-- The requests and events of these sessions while fn runs, and until nothing
-- more comes of it; a list of both for each.
local function cost(sessions, fn)
  local asked, told, each = 0, 0, {}
  support.advance(1)
  for i, session in ipairs(sessions) do each[i] = { count(session) } end
  fn()
  support.advance(1)
  for i, session in ipairs(sessions) do
    local received, sent = count(session)
    local requests = received - each[i][1]
    local events = sent - each[i][2] - requests
    asked, told, each[i] = asked + requests, told + events, { requests, events }
  end
  return asked, told, each
end

-- The same must be these.
local function costs(requests, events, session, fn)
  local asked, told = cost({ session }, fn)
  assert.same({ requests, events }, { asked, told })
end

local path

before_each(function() path = support.path() end)

-- Of each kind: the requests of an acquire, a release, a try that is refused,
-- and a wait until it is quiet; the watches of who waits.
local prices = {
  mutex = { 2, 1, 3, 4, 2 }, -- create, list; delete; all of them; two reads
  unfair = { 2, 1, 1, 2, 1 }, -- create, a look that watches
  parent = { 2, 1, 3, 4, 1 },
  poll = { 2, 1, 3, nil, 0 },
  local_turns = { 2, 1, 3, 4, 2 },
  kazoo = { 2, 1, 3, 4, 2 },
  read = { 2, 1, 3, 4, 2 },
  write = { 2, 1, 3, 4, 2 },
  ["kazoo read"] = { 2, 1, 3, 4, 2 },
  ["kazoo write"] = { 2, 1, 3, 4, 2 },
  semaphore = { 5, 1, 6, 6, 1 }, -- the inner mutex's and the permit's
  multi = { 4, 2, 3, 4, 2 }, -- of two mutexes
}

describe("The cost", function()
  kinds.each(it, "of an uncontended lock is as in the table", function(kind)
    local session, price = quiet(), prices[kind.name]
    local lock = kind.make(session, path)
    kinds.keep(path, lock)
    local before, guard = session:stats(), nil
    costs(price[1], 0, session, function() guard = lock:acquire(30) end)
    if kind.name == "mutex" then -- one round trip is waited for
      local after = session:stats()
      assert.equal(1, after.internal.lists - before.internal.lists)
      assert.same({ 0, 0 }, { after.watches, after.heartbeats })
    end
    -- (The look watches, so that it is told of its own delete.)
    costs(price[2], kind.name == "unfair" and 1 or 0, session, function()
      guard:release { wait = true }
    end)
  end)

  it("of is_held, lease, token and state is nothing, of verify 2", function()
    local session = quiet()
    local guard = session:mutex(path):acquire(30)
    costs(0, 0, session, function()
      for _ = 1, 1000 do
        guard:is_held()
        guard:lease()
        guard:token()
        guard:state()
      end
    end)
    costs(2, 0, session, function() assert(guard:verify()) end)
  end)

  it("of the first use of a path is a container and one more try", function()
    support.zk():make(path)
    local session = quiet()
    local mutex = session:mutex(path .. "/new")
    costs(5, 0, session, function() mutex:acquire(30) end)
  end)

  it("of a downgrade is a look, a create and a list", function()
    local session = quiet()
    local side = session:rwlock(path)
    kinds.keep(path, side.write)
    costs(7, 1, session, function()
      local write = side.write:acquire(30)
      local read = side.read:acquire(30)
      write:release { wait = true }
      read:release { wait = true }
    end)
  end)

  kinds.each(it, "of a refused try_acquire is as in the table, without a watch "
    .. "(T27)", function(kind)
    local session, holder = quiet(), kind.rival(quiet(), path):acquire(30)
    kinds.keep(path)
    local lock = kind.make(session, path)
    lock:try_acquire()
    costs(10 * prices[kind.name][3], 0, session, function()
      for _ = 1, 10 do kinds.refused("busy", lock:try_acquire()) end
    end)
    assert.equal(0, session:stats().watches)
    holder:release()
  end)

  kinds.each(it, "of a wait is no request after the watches are set (T33)",
    function(kind)
    local session, price = quiet(), prices[kind.name]
    local holder = kind.rival(quiet(), path):acquire(30)
    local lock, waiter = kind.make(session, path), nil
    kinds.keep(path)
    local function begin() waiter = wait_in(lock) end
    if price[4] then
      costs(price[4], 0, session, begin)
      costs(0, 0, session, function() support.advance(5) end)
      assert.equal(price[5], session:stats().watches)
    else
      begin()
    end
    holder:release()
    await(waiter):release()
  end)

  it("of waits that time out includes no remaining watch (T20, T46, T47)",
    function()
    local holder = support.hold(path)
    local session, done = quiet(), 0
    local mutex = session:mutex(path)
    for i = 1, 300 do
      mutex:acquire_async(0.01 + i % 7 * 0.002, function(_, _, code)
        assert.equal("timeout", code)
        done = done + 1
      end)
      if i % 30 == 0 then
        support.step_until(session, function() return done == i end)
      end
    end
    support.until_state(session, nil, { pending_releases = 0, watches = 0 })
    support.wait_for_queue(path, 1)
    assert.equal(0, support.count_watches(path))
    holder:release()
  end)
end)

describe("Twelve waiters", function()
  -- Begin to wait in sessions of their own, in this order.
  local function twelve(kind)
    local waiters, sessions = {}, {}
    for i = 1, 12 do
      sessions[i] = quiet()
      waiters[i] = kinds.queue_in(kind.make(sessions[i], path), path)
    end
    return waiters, sessions
  end

  -- Of each kind: what each of the first waiters is asked and told by the first
  -- release, the rest nothing; all their hand-overs together.
  local rows = {
    { "mutex", { { 0, 1 }, { 0, 1 } }, { 22, 33 } },
    { "write", { { 1, 1 }, { 1, 1 } }, { 33, 33 } },
    { "kazoo write", { { 1, 1 }, { 1, 1 } }, { 33, 33 } },
    { "semaphore", { { 5, 1 }, { 4, 1 }, { 0, 1 } } },
  }

  it("get a constant number of events from each release (T53)",
    function()
      for _, row in ipairs(rows) do
        path = support.path()
        local name, first, all = row[1], row[2], row[3]
        local kind = kinds.of[name]
        local holder = kind.make(quiet(), path):acquire(30)
        local waiters, sessions = twelve(kind)
        local _, _, each = cost(sessions, function()
          holder:release { wait = true }
          await(waiters[1])
        end)
        for i, spent in ipairs(each) do
          assert.same(first[i] or { 0, 0 }, spent, name .. i)
        end
        for i = 2, 12 do
          waiters[i].session:step()
          assert.is_nil(waiters[i].guard)
        end
        local requests, events = cost(sessions, function()
          kinds.pass_on(waiters)
        end)
        if all then assert.same(all, { requests, events }, name) end
        assert.is_true(requests <= 12 * 11 and events <= 12 * 5, name)
      end
    end)

  it("get one event each as readers behind a writer, or one in all in one "
    .. "session",
    function()
      for _, layout in ipairs { "", "kazoo " } do
        path = support.path()
        local writer = kinds.of[layout .. "write"].make(quiet(), path)
        local guard = writer:acquire(30)
        local waiters, sessions = twelve(kinds.of[layout .. "read"])
        local _, _, each = cost(sessions, function()
          guard:release { wait = true }
          await(unpack(waiters))
        end)
        for i = 1, 12 do assert.same({ 0, 1 }, each[i], i) end
        kinds.pass_on(waiters)
      end
      path = support.path()
      local session = quiet()
      local guard = kinds.of.write.make(quiet(), path):acquire(30)
      local lock, waiters = session:rwlock(path).read, {}
      for i = 1, 12 do waiters[i] = wait_in(lock) end
      kinds.wait_for_nodes(path, 13)
      costs(0, 1, session, function()
        guard:release { wait = true }
        await(unpack(waiters))
      end)
      kinds.pass_on(waiters)
    end)

  it("send a list each if they watch the parent, and get no event if they "
    .. "poll", function()
    for name, expected in pairs { parent = { 13, 12 }, poll = { nil, 0 } } do
      path = support.path()
      local holder = kinds.of[name].make(quiet(), path):acquire(30)
      local waiters, sessions = twelve(kinds.of[name])
      local asked, told = cost(sessions, function()
        holder:release { wait = true }
        await(waiters[1])
      end)
      if name == "poll" then asked = nil end -- it depends on the pace
      assert.same(expected, { asked, told }, name)
      kinds.pass_on(waiters)
    end
  end)
end)

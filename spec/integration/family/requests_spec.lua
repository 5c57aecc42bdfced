-- What each kind costs, by the server's own count of packets (DESIGN §3):
-- these numbers are pinned, so that a change which makes a lock dearer is seen.
local kinds = require "integration.family.kinds"
local support = require "support"
local connect = support.connect
local wait_in, await = kinds.wait_in, kinds.await

local unpack = unpack or table.unpack

-- No heartbeat comes in between.
local function quiet() return connect { session_timeout = 60 } end

-- Until the sessions ask for nothing any more: what belongs to a connection
-- (`mt`: probes), the looks of those who wait.
local function rest(sessions)
  local before
  support.wait_until(function()
    local asked, told = kinds.traffics(sessions)
    local now = table.concat(asked, " ") .. "/" .. table.concat(told, " ")
    local rested = now == before
    before = now
    if not rested then support.sleep(0.1) end
    return rested
  end, 10, "sessions that ask for nothing")
end

-- What the server has received from and told `session` while fn ran:
-- requests, events.
local function cost(session, fn)
  rest { session }
  local received, sent = kinds.traffic(session)
  fn()
  local received_now, sent_now = kinds.traffic(session)
  local requests = received_now - received
  return requests, sent_now - sent - requests
end

local function cycle_cost(lock, path)
  local session = lock._session
  kinds.keep(path, lock)
  return cost(session, function()
    for _ = 1, 10 do lock:acquire(30):release { wait = true } end
  end)
end

before_each(function() kinds.start() end)
after_each(support.finish)

describe("An uncontended acquire and release cost #once", function()
  for name, requests in pairs {
    mutex = 3, -- create, list, delete
    parent = 3, poll = 3, handoffs = 3, kazoo = 3,
    read = 3, write = 3, ["kazoo read"] = 3, ["kazoo write"] = 3,
    unfair = 3, -- create, a look, delete
    semaphore = 6, -- the inner mutex's and the lease's
    multi = 6, -- two mutexes
  } do
    it(("%d requests: %s"):format(requests, name), function()
      local path = support.path()
      local asked, told = cycle_cost(kinds.of[name].make(quiet(), path), path)
      -- the look watches, so that it is told of its own delete
      assert.is_true(told <= (name == "unfair" and 10 or 0), told)
      assert.is_true(asked <= 10 * requests, asked / 10 .. " requests")
      kinds.wait_for_nodes(path, 0)
    end)
  end

  it("one more when a downgrade is in between: a look, its create and list",
    function()
      local session, path = quiet(), support.path()
      local side = session:rwlock(path)
      kinds.keep(path, side.write)
      local asked, told = cost(session, function()
        local write = side.write:acquire(30)
        local read = side.read:acquire(30)
        write:release { wait = true }
        read:release { wait = true }
      end)
      -- the look at the writer's node watches it
      assert.is_true(told <= 1, told .. " events")
      assert.is_true(asked <= 7, asked .. " requests")
    end)

  it("nothing for reentry", function()
    local session = quiet()
    for _, kind in ipairs(kinds.all) do
      if kind.reentrant then
        local lock = kind.make(session, support.path())
        local guard = lock:acquire(30)
        local asked, told = cost(session, function()
          for _ = 1, 10 do assert(lock:acquire(30)):release() end
        end)
        assert.equal(0, asked, kind.name)
        assert.is_true(told <= 0, kind.name)
        guard:release { wait = true }
      end
    end
  end)
end)

describe("A refused try_acquire costs #once", function()
  for name, requests in pairs {
    mutex = 3, handoffs = 3, read = 3, write = 3, ["kazoo read"] = 3,
    unfair = 2, -- a create, and perhaps a look
    semaphore = 6,
  } do
    it(("%d requests and no watch: %s"):format(requests, name), function()
      local path = support.path()
      local kind = kinds.of[name]
      local holder = kind.rival(quiet(), path):acquire(30)
      kinds.keep(path)
      local session = quiet()
      local lock = kind.make(session, path)
      local asked, told = cost(session, function()
        for _ = 1, 10 do
          assert.equal("busy", select(3, lock:try_acquire()))
        end
        support.wait_until(function()
          return session:stats().pending_releases == 0
        end)
      end)
      assert.is_true(asked <= 10 * requests, asked / 10 .. " requests")
      assert.is_true(told <= 0, told .. " events")
      assert.equal(0, session:stats().watches)
      holder:release()
    end)
  end
end)

local function sessions_of(waiters)
  local sessions = {}
  for i, waiter in ipairs(waiters) do sessions[i] = waiter.session end
  return sessions
end

-- `n` waiters in sessions of their own, in the queue of `path`.
local function waiters_of(kind, path, n)
  local waiters = {}
  for i = 1, n do
    local session = quiet()
    waiters[i] = kinds.queue_in(kind.make(session, path), path)
  end
  rest(sessions_of(waiters)) -- their watches are armed
  return waiters
end

-- For each: what the server has received from it, and told it.
local function traffic_of(waiters)
  local list = {}
  local asked, told = kinds.traffics(sessions_of(waiters))
  for i in ipairs(waiters) do list[i] = { asked[i], told[i] } end
  return list
end

-- Since `before`: requests and events of each.
local function since(before, waiters)
  local list, requests, events = {}, 0, 0
  for i, now in ipairs(traffic_of(waiters)) do
    local asked = now[1] - before[i][1]
    local told = now[2] - before[i][2] - asked
    list[i] = { requests = asked, events = told }
    requests, events = requests + asked, events + told
  end
  return list, requests, events
end

local function granted(waiters)
  local n = 0
  for _, waiter in ipairs(waiters) do
    waiter.session:step()
    if waiter.guard then n = n + 1 end
  end
  return n
end

local function release_all(waiters)
  support.wait_until(function()
    local done = true
    for _, waiter in ipairs(waiters) do
      waiter.session:step()
      if waiter.guard then waiter.guard:release() end
      done = done and waiter.guard
    end
    return done
  end, 20)
end

describe("Fifty who wait #once", function()
  for _, layout in ipairs { "", "kazoo " } do
    it(("cost one event each, as readers behind one writer: %srwlock")
      :format(layout), function()
      local path = support.path()
      local writer = kinds.of[layout .. "write"].make(quiet(), path):acquire(30)
      local waiters = waiters_of(kinds.of[layout .. "read"], path, 50)
      local before = traffic_of(waiters)
      writer:release { wait = true }
      support.wait_until(function() return granted(waiters) == 50 end)
      local list, requests, events = since(before, waiters)
      for i = 1, 50 do assert.equal(1, list[i].events, i) end
      assert.equal(50, events)
      assert.equal(0, requests)
      release_all(waiters)
    end)
  end

  it("for a mutex: a release grants one, and costs O(1) (T53)", function()
    local path = support.path()
    local holder = quiet():mutex(path):acquire(30)
    local waiters = waiters_of(kinds.of.mutex, path, 50)
    local before = traffic_of(waiters)
    holder:release { wait = true }
    await(waiters[1])
    rest(sessions_of(waiters))
    assert.equal(1, granted(waiters))
    local list, requests, events = since(before, waiters)
    assert.equal(1, list[1].events)
    assert.equal(0, list[1].requests) -- no round trip to the grant
    -- the next in line looks who is ahead now
    assert.is_true(events <= 2, events .. " events")
    assert.is_true(requests <= 2, requests .. " requests")
    for i = 3, 50 do
      assert.equal(0, list[i].events + list[i].requests, i)
    end
    release_all(waiters)
  end)

  it("for a mutex: each handoff costs as much as the first (T53)", function()
    local path = support.path()
    local holder = quiet():mutex(path):acquire(30)
    local waiters = waiters_of(kinds.of.mutex, path, 50)
    local before = traffic_of(waiters)
    holder:release { wait = true }
    release_all(waiters)
    kinds.wait_for_nodes(path, 0)
    local _, requests, events = since(before, waiters)
    -- a list or none, its delete; its predecessor, the one before, and the
    -- event of its own deletion or the end of its watches
    assert.is_true(requests <= 50 * 5, requests / 50 .. " requests each")
    assert.is_true(events <= 50 * 4, events / 50 .. " events each")
  end)

  it("for a write lock: a release grants one, and costs O(1)", function()
    local path = support.path()
    local holder = kinds.of.write.make(quiet(), path):acquire(30)
    local waiters = waiters_of(kinds.of.write, path, 50)
    local before = traffic_of(waiters)
    holder:release { wait = true }
    await(waiters[1])
    rest(sessions_of(waiters))
    assert.equal(1, granted(waiters))
    local _, requests, events = since(before, waiters)
    assert.is_true(events <= 2, events .. " events")
    -- a writer behind a writer lists
    assert.is_true(requests <= 6, requests .. " requests")
    release_all(waiters)
  end)

  it("for a permit: a release grants one, and costs O(1)", function()
    local path = support.path()
    local kind = kinds.of.semaphore
    local holder = kind.make(quiet(), path):acquire(30)
    local waiters = waiters_of(kind, path, 50)
    local before = traffic_of(waiters)
    holder:release { wait = true }
    await(waiters[1])
    rest(sessions_of(waiters))
    assert.equal(1, granted(waiters))
    local _, requests, events = since(before, waiters)
    -- the next goes inside, makes its lease and counts
    assert.is_true(events <= 6, events .. " events")
    assert.is_true(requests <= 14, requests .. " requests")
    release_all(waiters)
  end)

  it("in one session cost that session one event and one node's watch",
    function()
      local session, path = quiet(), support.path()
      local writer = kinds.of.write.make(quiet(), path):acquire(30)
      local lock, waiters = session:rwlock(path).read, {}
      for i = 1, 50 do waiters[i] = wait_in(lock) end
      kinds.wait_for_nodes(path, 51)
      local asked, told = cost(session, function()
        writer:release { wait = true }
        await(unpack(waiters))
      end)
      assert.equal(1, told)
      assert.equal(0, asked)
      release_all(waiters)
    end)
end)

describe("A wait in the queue costs #once", function()
  it("no request while nothing happens (T33)", function()
    local path = support.path()
    local holders, waiters = {}, {}
    for i, kind in ipairs(kinds.all) do
      if kind.name ~= "poll" then
        local session = quiet()
        holders[i] = kind.rival(quiet(), path .. "/" .. i):acquire(30)
        waiters[#waiters + 1] = wait_in(kind.make(session, path .. "/" .. i))
      end
    end
    rest(sessions_of(waiters))
    local before = traffic_of(waiters)
    support.sleep(0.7)
    local _, requests, events = since(before, waiters)
    assert.equal(0, requests)
    assert.equal(0, events)
    for _, holder in pairs(holders) do holder:release() end
    release_all(waiters)
  end)

  it("as many requests for a mutex as the contract says", function()
    local path = support.path()
    local holder = quiet():mutex(path):acquire(30)
    local first, session = waiters_of(kinds.of.mutex, path, 1), quiet()
    local lock, waiter = session:mutex(path), nil
    local asked = cost(session, function()
      waiter = kinds.queue_in(lock, path)
      rest { session }
    end)
    -- create, list, and the reads that watch: P, Q, its own
    assert.equal(5, asked)
    holder:release()
    release_all(first)
    release_all { waiter }
  end)
end)

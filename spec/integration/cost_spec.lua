-- What it costs, by the count of a server that nobody else talks to.
local start_server = require "support.server".start
local support = require "support"
local raw = require "support.raw"

describe("The cost, counted at the server, #once", function()
  local server
  local opened = {}

  setup(function()
    server = start_server(1, "--config maxSessionTimeout=1200000")
  end)
  teardown(function() server:stop() end)
  before_each(support.start)
  after_each(function()
    opened = {}
    support.finish()
  end)

  -- That it was asked it counts, too.
  local asked = 0
  local function counter(name)
    asked = asked + 1
    local answer = raw.word(server.hosts, "mntr")
    return tonumber(answer:match("zk_" .. name .. "%s+(%d+)"))
  end

  -- Nothing is asked for any more for so long (0.05 s): what belongs to a
  -- connection itself (`mt`: probes), what those who wait look at.
  local function settle(seconds)
    local last
    support.wait_until(function()
      local before = last
      last = counter "packets_received"
      support.sleep(seconds or 0.05)
      for _, session in ipairs(opened) do
        if session:stats().in_flight > 0 then return false end
      end
      return before and last == before + 1
    end, 10, "a server that nobody asks")
  end

  -- So that no heartbeat and no ping falls into a measurement.
  local function connect(options)
    options = options or {}
    options.hosts, options.session_timeout = server.hosts,
      options.session_timeout or 1200
    local session = support.connect(options)
    opened[#opened + 1] = session
    settle()
    return session
  end

  -- Packets that the server received while `fn` ran, but for nudges, which help
  -- a server that has not answered for a while.
  local function received()
    return support.while_quiet(opened, function(_, nudges)
      return counter "packets_received" - asked - nudges
    end)
  end

  local function requests_of(fn)
    local before = received()
    fn()
    return received() - before
  end

  local function sent_during(fn)
    local before = counter "packets_sent"
    fn()
    return counter "packets_sent" - before - 1
  end

  -- A path whose directory is there already.
  local function made_path()
    local path = support.path()
    local zk = raw.connect(server.hosts)
    zk:make(path)
    zk:close()
    return path
  end

  local function queue(path)
    local zk = raw.connect(server.hosts)
    local names = zk:queue(path)
    zk:close()
    return names
  end

  it("of nothing is nothing", function()
    assert.equal(0, requests_of(function() end))
    local session = connect()
    assert.equal(0, requests_of(function()
      session:mutex(support.path())
      support.sleep(0.5)
    end))
  end)

  it("of an uncontended lock is 2 requests, of its release 1", function()
    local mutex = connect():mutex(made_path())
    local guard
    for _ = 1, 5 do
      assert.equal(2, requests_of(function() guard = mutex:acquire(30) end))
      assert.equal(1, requests_of(function() guard:release { wait = true } end))
    end
  end)

  it("of an uncontended lock is one round trip that is waited for", function()
    local session = connect()
    local mutex = session:mutex(made_path())
    local before = session:stats()
    mutex:acquire(30):release { wait = true }
    local after = session:stats()
    assert.equal(3, after.requests - before.requests
      - (after.nudges - before.nudges))
    assert.equal(1, after.lists - before.lists)
    assert.equal(0, after.heartbeats - before.heartbeats)
    assert.equal(0, after.watches)
  end)

  it("of re-entry is nothing", function()
    local mutex = connect():mutex(made_path())
    local guard = mutex:acquire(30)
    assert.equal(0, requests_of(function()
      for _ = 1, 100 do
        local again = mutex:acquire()
        assert.is_true(again:is_held())
        again:release { wait = true }
        mutex:with_lock(function() end)
        mutex:try_acquire():release()
      end
    end))
    assert.is_true(guard:is_held())
  end)

  it("of is_held, lease, token and state is nothing", function()
    local guard = connect():mutex(made_path()):acquire(30)
    assert.equal(0, requests_of(function()
      for _ = 1, 1000 do
        guard:is_held()
        guard:lease()
        guard:token()
        guard:state()
      end
    end))
  end)

  it("of verify is a sync and a read", function()
    local guard = connect():mutex(made_path()):acquire(30)
    assert.equal(2, requests_of(function() assert(guard:verify()) end))
  end)

  it("of the first use of a path is a container and one more try", function()
    local mutex = connect():mutex(made_path() .. "/new")
    local n = requests_of(function() mutex:acquire(30) end)
    assert.is_true(n <= 5, n)
  end)

  it("of try_acquire on a taken lock is 3 requests and no watch", function()
    local path = made_path()
    local holder = connect()
    local guard = holder:mutex(path):acquire(30)
    local session = connect()
    local mutex = session:mutex(path)
    mutex:try_acquire()
    support.wait_until(function()
      return session:stats().pending_releases == 0
    end)
    local n = requests_of(function()
      for _ = 1, 20 do
        assert.equal("busy", (select(3, mutex:try_acquire())))
      end
      support.wait_until(function()
        return session:stats().pending_releases == 0
      end)
    end)
    assert.equal(60, n)
    assert.equal(0, counter "watch_count")
    guard:release()
  end)

  it("of waiting is nothing once the watches are set (T33)", function()
    local path = made_path()
    local holder, waiter = connect(), connect()
    local guard = holder:mutex(path):acquire(30)
    local n = requests_of(function()
      waiter:mutex(path):acquire_async(nil, function() end)
      support.wait_until(function() return counter "watch_count" == 2 end)
    end)
    assert.equal(4, n) -- create, list, and a read with a watch of two nodes
    assert.equal(2, counter "watch_count")
    assert.equal(0, requests_of(function() support.sleep(1) end))
    guard:release()
  end)

  it("of a hand-over is the delete alone", function()
    local path = made_path()
    local sessions, mutexes = {}, {}
    for i = 1, 2 do
      sessions[i] = connect()
      mutexes[i] = sessions[i]:mutex(path)
    end
    local guard = mutexes[1]:acquire(30)
    for turn = 1, 6 do
      local to = turn % 2 + 1
      local granted
      mutexes[to]:acquire_async(nil, function(mine) granted = mine end)
      support.wait_until(function() return counter "watch_count" >= 2 end)
      support.sleep(0.02)
      local n = requests_of(function()
        guard:release()
        support.step_until(sessions[to], function() return granted end)
      end)
      assert.equal(1, n)
      guard = granted
    end
    assert.equal(6, sessions[1]:stats().handoffs + sessions[2]:stats().handoffs)
    guard:release { wait = true }
  end)

  it("of hand-overs has no list on the way, in a steady queue", function()
    local path = made_path()
    local holder = connect()
    local guard = holder:mutex(path):acquire(30)
    local order, sessions = {}, {}
    for i = 1, 6 do
      sessions[i] = connect()
      sessions[i]:mutex(path):acquire_async(nil, function(mine)
        order[#order + 1] = mine
      end)
      support.wait_until(function() return #queue(path) == i + 1 end)
    end
    settle(0.3)
    for i = 1, 6 do
      guard:release()
      support.wait_until(function()
        for _, session in ipairs(sessions) do session:step() end
        return order[i]
      end)
      guard = order[i]
      settle(0.3) -- it holds for a while: time to look ahead
    end
    for i = 1, 6 do
      assert.equal(1, sessions[i]:stats().handoffs, i)
      assert.is_true(sessions[i]:stats().lists <= 2, i)
    end
    guard:release { wait = true }
  end)

  it("of a release does not grow with those who wait (T53)", function()
    local path = made_path()
    local holder = connect()
    local guard = holder:mutex(path):acquire(30)
    local waiter, granted = connect(), {}
    local others = {}
    for i = 1, 20 do
      others[i] = i <= 4 and connect() or others[i % 4 + 1]
      others[i]:mutex(path):acquire_async(nil, function(mine)
        granted[#granted + 1] = mine
      end)
    end
    support.wait_until(function() return #queue(path) == 21 end)
    settle(0.3)
    local n = sent_during(function()
      guard:release { wait = true }
      support.sleep(0.1)
    end)
    -- the delete's reply, an event for the next, one for the one after it,
    -- and that one's look at the queue
    assert.is_true(n <= 6, n)
    waiter:close()
  end)

  local function requests_per_second(seconds)
    local begun = support.now()
    local n = requests_of(function() support.sleep(seconds) end)
    return n / (support.now() - begun)
  end

  it("of holding is 11 heartbeats in a session timeout", function()
    local session = connect { session_timeout = 4 }
    local guard = session:mutex(made_path()):acquire(30)
    support.wait_until(function()
      return session:stats().heartbeats >= 1 -- and the watch on its own node
    end)
    local rate = requests_per_second(3)
    assert.is_true(rate > 0.5 and rate < 11 / 4 * 1.3, rate)
    assert.is_true(guard:is_held())
    guard:release { wait = true }
    local n = requests_of(function() support.sleep(1) end)
    assert.is_true(n <= 1, n)
  end)

  it("of an idle session is a heartbeat each three tenths of the timeout",
    function()
      -- committed ones: reads say nothing about the leader (doc/protocol.md)
      local session = connect { session_timeout = 4 }
      local begun, before = support.now(), session:stats()
      local n = requests_of(function()
        local sent = session:stats().heartbeats
        support.wait_until(function()
          return session:stats().heartbeats >= sent + 2
        end)
      end)
      local after = session:stats()
      local took = support.now() - begun
      local nudges = after.nudges - before.nudges
      local heartbeats = after.heartbeats - before.heartbeats
      assert.is_true(n >= 2, n)
      assert.is_true(heartbeats <= took / (0.3 * 4) + 1, heartbeats)
      assert.equal(heartbeats + nudges, after.requests - before.requests)
      -- (The C client pings a server after a third of the timeout without a
      -- request: between two heartbeats, if its thread is late.)
      local pings = n - heartbeats
      assert.is_true(pings <= took / (4 / 3), pings)
    end)

  it("of a thousand try_acquire is no node, watch or memory #stock", function()
    local path = made_path()
    local holder = connect()
    local guard = holder:mutex(path):acquire(30)
    local session = connect()
    local mutex = session:mutex(path)
    local function try(n)
      for _ = 1, n do
        local mine, _, code = mutex:try_acquire()
        assert.is_nil(mine)
        assert.equal("busy", code)
      end
      collectgarbage()
      collectgarbage()
    end
    try(500)
    local before, threads = support.memory(), support.count_threads()
    try(1000)
    local grown = support.memory() - before
    assert.is_true(grown < 4096, grown .. " KiB")
    assert.equal(threads, support.count_threads())
    support.wait_until(function() return #queue(path) == 1 end)
    assert.equal(0, counter "watch_count")
    support.wait_until(function()
      return session:stats().pending_releases == 0
    end)
    assert.equal(0, session:stats().watches)
    guard:release { wait = true }
  end)

  it("of waits that time out is no watch (T20, T46, T47)", function()
    local path = made_path()
    local holder = connect()
    local guard = holder:mutex(path):acquire(30)
    local session, done = connect(), 0
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
    support.wait_until(function()
      return counter "watch_count" == 0 and #queue(path) == 1
        and session:stats().watches == 0
    end)
    guard:release { wait = true }
  end)
end)

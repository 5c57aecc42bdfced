-- Three servers of these tests' own: the leader stops longer than sessions
-- live, followers stop and restart, all go and come back.
local kinds = require "integration.family.kinds"
local raw = require "support.raw"
local start_server = require "support.server".start
local support = require "support"

describe("Three servers #once #slow", function()
  local servers

  setup(function()
    servers = start_server(3, "--config maxSessionTimeout=60000")
  end)
  teardown(function() servers:stop() end)
  before_each(support.start)
  after_each(support.finish)

  local function connect(seconds, hosts)
    return support.connect { hosts = hosts or servers.hosts,
      session_timeout = seconds, connect_timeout = 20 }
  end

  local function follower()
    return servers:leader() % 3 + 1
  end

  -- (A client of its own: servers come and go.  Of one that is gone it hears
  -- nothing.)
  local function queue_of(path)
    local ok, zk = pcall(raw.connect, servers.hosts)
    if not ok then return {} end
    local found, queue = pcall(zk.queue, zk, path)
    zk:close()
    return found and queue or {}
  end

  -- Begins to wait, and stands in the queue, as the nth of it.
  local function queue_in(session, path, n)
    local waiter = kinds.wait_in(session:mutex(path))
    support.wait_until(function() return #queue_of(path) == n end, 30)
    return waiter
  end

  local function step(waiters, condition, seconds, what)
    return support.wait_until(function()
      for _, waiter in ipairs(waiters) do waiter.session:step() end
      return condition()
    end, seconds or 30, what)
  end

  -- True one after the other: then both at once (in the middle).
  local function check_alone(guards)
    for i, a in pairs(guards) do
      for k, b in pairs(guards) do
        assert.is_false(i ~= k and a:is_held() and b:is_held() and a:is_held())
      end
    end
  end

  it("whose leader stops for longer than sessions live never let two in",
    function()
      local path = support.path()
      local leader = servers:leader()
      local host = servers:host(leader % 3 + 1)
      local holder, waiting = connect(2, host), connect(2, host)
      local idle = connect(2, host)
      local guards, waiters = { holder:mutex(path):acquire(10) }, {}
      assert.is_true(guards[1]:is_held())
      waiters[1] = queue_in(waiting, path, 2)
      servers:pause(leader)
      local begun = support.now()
      waiters[2] = kinds.wait_in(idle:mutex(path))
      support.wait_until(function() return not guards[1]:is_held() end)
      assert.is_true(support.now() - begun < 2 + support.slack)
      support.sleep(math.max(0, begun + 3 - support.now()))
      servers:resume(leader)
      local done = {}
      step(waiters, function()
        for i, waiter in ipairs(waiters) do
          guards[i + 1] = waiter.guard
          if waiter.guard and not done[i] then
            check_alone(guards)
            waiter.guard:release()
            done[i] = true
          end
        end
        check_alone(guards)
        return done[1] and done[2]
      end, 30, "two grants")
      assert.equal("lost", (select(3, guards[1]:release())))
    end)

  it("whose leader stutters keep holds, and go on", function()
    local path = support.path()
    local session = connect(10)
    local guard = assert(session:mutex(path):acquire(20))
    local other = connect(10)
    local mutex, turns = other:mutex(path .. "/other"), 0
    local leader = servers:leader()
    for _ = 1, 8 do
      servers:pause(leader)
      support.sleep(0.15)
      servers:resume(leader)
      assert(mutex:acquire(20)):release()
      turns = turns + 1
    end
    assert.equal(8, turns)
    assert.is_true(guard:is_held())
    assert.is_true(guard:verify())
    guard:release()
  end)

  it("one of which stops lose nobody who can go to another", function()
    local path = support.path()
    local index = follower()
    -- The stopped one first: it is where the session is now.
    local session = connect(6, servers:host(index))
    session:close()
    local hosts = servers.hosts
    local waiting = connect(6, hosts)
    local holder = connect(60, hosts)
    local guard = assert(holder:mutex(path):acquire(20))
    local waiter = queue_in(waiting, path, 2)
    servers:pause(index)
    support.sleep(1)
    local fresh = connect(6, hosts)
    assert(fresh:mutex(path .. "/other"):acquire(20)):release()
    step({ waiter }, function()
      holder:step()
      return holder:state() == "connected" and waiting:state() == "connected"
    end)
    servers:resume(index)
    assert.is_true(guard:is_held())
    guard:release { wait = true }
    assert.is_true(kinds.await(waiter):is_held())
    waiter.guard:release()
  end)

  it("one of which lags do not answer questions with what was", function()
    local index = follower()
    local holding = connect(20, servers:host(servers:leader()))
    local asking = connect(20, servers:host(index))
    for _ = 1, 10 do
      local path = support.path()
      servers:pause(index)
      local guard = assert(holding:mutex(path):acquire(20))
      -- It goes on, and has to hear the question and what it has missed.
      local resumed = servers:resume_in(0.1, index)
      local list = assert(asking:contenders(path))
      assert.equal(1, #list)
      assert.equal(guard:token(), list[1].token)
      resumed:close()
      guard:release()
    end
  end)

  it("whose leader stops say nothing rather than what was", function()
    local leader = servers:leader()
    local asking = connect(4, servers:host(leader % 3 + 1))
    servers:pause(leader)
    local list, message, code = asking:contenders(support.path())
    servers:resume(leader)
    assert.is_nil(list)
    assert.equal("disconnected", code, message)
    step({}, function() return asking:contenders(support.path()) end)
  end)

  it("that are restarted one by one keep holds and places in the queue",
    function()
      local path = support.path()
      local holder = connect(60)
      local guard = assert(holder:mutex(path):acquire(20))
      local waiters, order = {}, {}
      for i = 1, 3 do waiters[i] = queue_in(connect(60), path, i + 1) end
      local queue = queue_of(path)
      for i = 1, 3 do
        servers:restart(i)
        servers:leader()
        assert.is_true(guard:is_held())
      end
      assert.equal(path .. "/" .. queue[1], guard.node)
      support.step_until(holder, function() return guard:verify() end, 30)
      guard:release()
      step(waiters, function()
        for i, waiter in ipairs(waiters) do
          if waiter.guard and waiter.guard:state() == "held" then
            order[#order + 1] = { i, waiter.guard.node }
            waiter.guard:release()
          end
        end
        return #order == 3
      end)
      for i = 1, 3 do
        assert.same({ i, path .. "/" .. queue[i + 1] }, order[i])
      end
    end)

  it("that are all killed and come back keep what they knew (T29, T36)",
    function()
      local path = support.path()
      local holder, waiting = connect(60), connect(60)
      local guard = assert(holder:mutex(path):acquire(20))
      local waiter = queue_in(waiting, path, 2)
      local queue = queue_of(path)
      for i = 1, 3 do servers:kill(i) end
      support.until_state(holder, "suspended")
      assert.is_true(guard:is_held()) -- its lease is 24 s long
      assert.equal("disconnected",
        (select(3, holder:mutex(path .. "/other"):acquire(0.3))))
      for i = 1, 3 do servers:begin_restart(i) end
      support.step_until(holder, function() return guard:verify() end, 60)
      assert.same(queue, support.wait_until(function()
        local left = queue_of(path)
        return #left > 0 and left
      end, 60))
      guard:release()
      step({ waiter }, function() return waiter.guard end)
      assert.equal(path .. "/" .. queue[2], waiter.guard.node)
      waiter.guard:release()
    end)

  it("that are all killed for longer than leases last free the lock once",
    function()
      local path = support.path()
      local holder, waiting = connect(3), connect(3)
      local guard = assert(holder:mutex(path):acquire(20))
      local waiter = queue_in(waiting, path, 2)
      for i = 1, 3 do servers:kill(i) end
      support.wait_until(function() return not guard:is_held() end)
      for i = 1, 3 do servers:begin_restart(i) end
      step({ waiter }, function()
        assert.is_false(waiter.guard ~= nil and guard:is_held())
        return waiter.guard
      end, 60, "a grant")
      assert.equal("lost", (select(3, guard:release())))
      waiter.guard:release()
      servers:leader()
      assert.is_true(assert(holder:mutex(path):acquire(30)):release())
    end)
end)

-- The wire between client and server: slow, deaf in one direction, dead in a
-- way that only one side knows of, and cut at every byte.
local kinds = require "integration.family.kinds"
local start_hostile = require "support.hostile".start
local start_proxy = require "support.proxy".start
local support = require "support"

-- (A connection that is only silent is given up after two thirds of it.)
local function connect(proxy, seconds)
  return support.connect { hosts = proxy.hosts, session_timeout = seconds }
end

local function is_back(session)
  support.step_until(session, function()
    return session:state() == "connected"
  end, 15, "a connection")
end

describe("A slow wire #once", function()
  before_each(support.start)
  after_each(support.finish)

  it("is waited for: locks are granted, kept, and passed on", function()
    local path, proxy = support.path(), start_proxy()
    local session = connect(proxy, 20)
    proxy:delay(0.2)
    local begun = support.now()
    local guard = assert(session:mutex(path):acquire(10))
    assert.is_true(support.now() - begun >= 0.4) -- there and back
    local other = support.connect()
    local waiter = kinds.queue_in(other:mutex(path), path)
    support.sleep(0.5)
    assert.is_true(guard:is_held())
    assert.is_true(guard:verify())
    assert.is_true(guard:release { wait = true })
    assert.is_true(kinds.await(waiter):is_held())
    waiter.guard:release()
    assert.equal("connected", session:state())
    proxy:heal()
  end)

  it("slower than the lease ends the hold before anybody else has it",
    function()
      local path, proxy = support.path(), start_proxy()
      local session = connect(proxy, 2)
      local guard = assert(session:mutex(path):acquire(30))
      local other = support.connect()
      local waiter = kinds.queue_in(other:mutex(path), path)
      proxy:delay(0.9) -- an answer is 1.8 s old, the last lease less than 2 s
      support.wait_until(function()
        other:step()
        local held = guard:is_held()
        assert.is_false(waiter.guard ~= nil and held)
        return not held
      end)
      proxy:heal()
      assert.equal("lost", (select(3, guard:release())))
      assert.is_true(kinds.await(waiter):is_held())
      waiter.guard:release()
      assert.is_true(assert(session:mutex(path):acquire(10)):release())
    end)
end)

describe("A wire on which #once", function()
  before_each(support.start)
  after_each(support.finish)

  local function deaf(what)
    it(what .. " vanish loses the hold in time, and recovers", function()
      local path, proxy = support.path(), start_proxy()
      local session = connect(proxy, 2)
      local guard = assert(session:mutex(path):acquire(30))
      proxy:drop(what)
      local begun = support.now()
      support.wait_until(function() return not guard:is_held() end)
      assert.is_true(support.now() - begun < 2 + support.slack)
      -- Its node goes with the session: requests do not arrive, or the session
      -- is given up, which attempts to reconnect have kept alive until then.
      support.wait_until(function() return #support.zk():queue(path) == 0 end,
        20, "the end of the node")
      proxy:heal()
      assert.equal("lost", (select(3, guard:release())))
      local fresh = assert(session:mutex(path):acquire(10))
      assert.is_true(fresh:verify())
      fresh:release()
    end)
  end
  deaf "requests"
  deaf "replies"

  it("the server has hung up is left by a waiter, who keeps its place",
    function()
      local path, proxy = support.path(), start_proxy()
      local holder = support.hold(path)
      local session = connect(proxy, 4)
      local waiter = kinds.queue_in(session:mutex(path), path)
      local behind = kinds.queue_in(support.connect():mutex(path), path)
      local queue = support.wait_for_queue(path, 3)
      proxy:half_open()
      support.step_until(session, function()
        return session:stats().reconnects == 1
      end, 10, "a reconnection")
      assert.same(queue, support.zk():queue(path))
      holder:release()
      assert.equal(path .. "/" .. queue[2], kinds.await(waiter).node)
      waiter.guard:release()
      kinds.await(behind):release()
    end)
end)

describe("A connection that breaks #once", function()
  before_each(function() kinds.start() end)
  after_each(support.finish)

  it("at any byte leaves one node for a hold, and none after it (T16, T57)",
    function()
      local path, proxy = support.path(), start_proxy()
      support.zk():make(path)
      local session = connect(proxy, 9)
      local mutex = session:mutex(path)
      -- The answers to an acquisition and its release are some 400 bytes.
      for bytes = 1, 481, 32 do
        proxy:cut_after(bytes)
        local guard = assert(mutex:acquire(40))
        assert.same({ guard.node }, kinds.nodes(path))
        assert.equal(session:id(), support.zk():exists(guard.node).owner)
        guard:release { wait = true }
        kinds.wait_for_nodes(path, 0, 10)
        proxy:disarm()
        is_back(session)
      end
    end)

  for _, what in ipairs { "create", "list", "delete" } do
    it(("right after the reply to a %s does every kind no harm"):format(what),
      function()
        local path, proxy = support.path(), start_proxy()
        local session = connect(proxy, 9)
        for i, kind in ipairs(kinds.all) do
          local here = path .. "/" .. i
          assert(kind.make(session, here):acquire(30)):release { wait = true }
          proxy:cut_after_reply(what)
          local guard = assert(kind.make(session, here):acquire(40), kind.name)
          guard:release { wait = true } -- (or lost: the wire may be silent)
          kinds.wait_for_nodes(here, 0, 15)
          proxy:disarm()
          is_back(session)
        end
      end)
  end

  kinds.each(it, "with the reply to a create leaves nothing of who gives up "
    .. "meanwhile (T16, T23)", function(kind)
    local path, proxy = support.path(), start_proxy()
    local session = connect(proxy, 9)
    assert(kind.make(session, path):acquire(30)):release { wait = true }
    for _ = 1, kind.name == "semaphore" and 2 or 1 do -- its second: a lease
      proxy:lose_reply(kind.name == "unfair" and "create_both" or "create")
      local waiter = kinds.wait_in(kind.make(session, path))
      proxy:await_loss()
      waiter.ticket:cancel()
      kinds.await(waiter)
      assert.equal("cancelled", waiter.code)
      proxy:heal()
      kinds.wait_for_nodes(path, 0)
      is_back(session)
      assert(kind.make(session, path):acquire(30)):release { wait = true }
    end
  end)

  it("right after the reply to a waiter's read wakes it all the same",
    function()
      local path, proxy = support.path(), start_proxy()
      local session = connect(proxy, 9)
      local holder = support.hold(path)
      proxy:cut_after_reply "get"
      local waiter = kinds.queue_in(session:mutex(path), path)
      proxy:await_cut()
      is_back(session)
      local queue = support.wait_for_queue(path, 2)
      holder:release()
      assert.equal(path .. "/" .. queue[2], kinds.await(waiter).node)
      waiter.guard:release()
    end)
end)

describe("A server that says it has failed at a request #once", function()
  before_each(support.start)
  after_each(support.finish)

  it("is left, and the session with its hold lives on elsewhere", function()
    local path, hostile = support.path(), start_hostile()
    local session = connect(hostile, 20)
    local guard = assert(session:mutex(path):acquire(30))
    local waiter = kinds.queue_in(support.connect():mutex(path), path)
    local queue, id = support.wait_for_queue(path, 2), session:id()
    for n = 1, 5 do
      hostile:behave { kind = "pass", fails = 1 }
      support.step_until(session, function()
        return session:stats().reconnects == n
      end, 15, "a reconnection")
      is_back(session)
      assert.equal(id, session:id())
      assert.is_true(guard:verify())
      assert.same(queue, support.zk():queue(path))
    end
    assert.is_nil(waiter.guard)
    guard:release()
    kinds.await(waiter):release()
  end)
end)

-- A server of these tests' own, which is killed, paused and started again.
local start_server = require "support.server".start
local support = require "support"
local raw = require "support.raw"

describe("A server that #once #slow", function()
  local server

  setup(function()
    server = start_server(1, "--config maxSessionTimeout=60000")
  end)
  teardown(function() server:stop() end)
  before_each(support.start)
  after_each(support.finish)

  local function connect(options)
    options.hosts = server.hosts
    return support.connect(options)
  end

  local function reconnected(session)
    return support.step_until(session, function()
      return session:state() == "connected"
    end, 20, "a connection")
  end

  local function queue(path)
    local zk = raw.connect(server.hosts)
    local names = zk:queue(path)
    zk:close()
    return names
  end

  it("is killed and comes back soon leaves holds and waits (T13, T21, T29)",
    function()
      local path = support.path()
      local holder = connect { session_timeout = 30 }
      local waiter = connect { session_timeout = 30 }
      local guard, granted = holder:mutex(path):acquire(30), nil
      waiter:mutex(path):acquire_async(nil, function(mine) granted = mine end)
      support.wait_until(function() return #queue(path) == 2 end)
      local before = queue(path)
      server:kill()
      support.until_state(holder, "suspended")
      assert.equal("suspended", guard:state())
      assert.is_true(guard:is_held())
      server:restart()
      reconnected(holder)
      reconnected(waiter)
      assert.same(before, queue(path))
      assert.equal("held", guard:state())
      assert.is_true(guard:verify())
      waiter:step()
      assert.is_nil(granted)
      guard:release()
      support.step_until(waiter, function() return granted end)
      assert.equal(path .. "/" .. before[2], granted.node)
      holder:close()
      waiter:close()
    end)

  it("is away for long ends holds by their lease and waits by their deadline",
    function()
      local path = support.path()
      local session = connect { session_timeout = 2 }
      local guard, lost = session:mutex(path):acquire(30), nil
      guard:on_lost(function(_, code) lost = code end)
      local code, message
      session:mutex(path):acquire_async(1.5, function(_, why, what)
        message, code = why, what
      end)
      server:kill()
      local begun = support.now()
      support.wait_until(function() return not guard:is_held() end)
      assert.is_true(support.now() - begun < 2 + support.slack)
      support.step_until(session, function() return lost and code end)
      assert.equal("disconnected", code)
      assert.matches("no server of", message)
      assert.equal("lost", (select(3, guard:release())))
      server:restart()
      local fresh = assert(session:mutex(path):acquire(20))
      assert.is_true(fresh:is_held())
      session:close()
    end)

  it("is stopped, not killed, is missed by the local clock (T58)", function()
    local path = support.path()
    local session = connect { session_timeout = 3 }
    local events = {}
    session:on("suspended", function() events[#events + 1] = "suspended" end)
    local guard = session:mutex(path):acquire(30)
    server:pause()
    support.wait_until(function() return not guard:is_held() end,
      3 + support.slack)
    support.step_until(session, function()
      return events[1] and guard:state() == "lost"
    end, 4)
    server:resume()
    assert.equal("lost", (select(3, guard:release())))
    assert.is_true(assert(session:mutex(path):acquire(20)):release())
    session:close()
  end)

  it("comes back empty makes a waiter begin again (T36)", function()
    -- Its directory was removed while nobody looked, as far as we can tell.
    local path = support.path()
    local holder = connect { session_timeout = 3 }
    local waiter = connect { session_timeout = 3 }
    local guard, granted = holder:mutex(path):acquire(30), nil
    waiter:mutex(path):acquire_async(nil, function(mine) granted = mine end)
    support.wait_until(function() return #queue(path) == 2 end)
    server:kill()
    local name = server.dir .. "/servers/1/data/version-2"
    os.execute("rm -rf '" .. name .. "'")
    server:restart()
    support.step_until(waiter, function() return granted end, 20)
    assert.is_true(granted:is_held())
    support.wait_until(function() return not guard:is_held() end)
    holder:close()
    waiter:close()
  end)
end)

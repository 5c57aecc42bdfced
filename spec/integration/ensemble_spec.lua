-- Three servers of a test's own: the leader stops longer than sessions live,
-- followers stop and lag, a majority goes away, all go and come back.
local kinds = require "integration.family.kinds"
local start_server = require "support.server".start
local support = require "support"

describe("Three servers", function()
  local servers, path

  local function connect(seconds, hosts)
    return support.connect { hosts = hosts or servers.hosts,
      session_timeout = seconds, connect_timeout = 20 }
  end

  local function hold(session)
    return assert(session:mutex(path):acquire(20))
  end

  before_each(function() servers, path = start_server(3), support.path() end)
  after_each(function()
    support.finish()
    servers:stop()
  end)

  it("whose leader stops for longer than the session timeout never allow two "
    .. "holders (T58)",
    function()
      local leader = servers:leader()
      local host = servers:host(leader % 3 + 1)
      local guard, late = hold(connect(2, host)), connect(2, host)
      local waiters = { kinds.wait_in(connect(2, host):mutex(path)) }
      support.wait_for_queue(path, 2, servers.hosts)
      servers:pause(leader)
      local begun = support.now()
      waiters[2] = kinds.wait_in(late:mutex(path))
      support.wait_until(function() return not guard:is_held() end)
      assert.is_true(support.now() - begun < 2)
      support.advance(begun + 3 - support.now())
      servers:resume(leader)
      local granted = 0
      support.wait_until(function()
        for i, waiter in ipairs(waiters) do
          waiter.session:step()
          if waiter.guard and waiter.guard:state() == "held" then
            assert.is_false(guard:is_held())
            local other = waiters[3 - i].guard
            assert.is_false(other ~= nil and other:is_held())
            granted = granted + 1
            waiter.guard:release()
          end
        end
        return granted == 2
      end)
      kinds.refused("lost", guard:release())
    end)

  it("whose leader stops for many short moments keep holds, and grant locks "
    .. "(T32)", function()
    local session, other = connect(10), connect(10)
    local guard, leader = hold(session), servers:leader()
    local mutex = other:mutex(path .. "/other")
    for _ = 1, 8 do
      servers:pause(leader)
      support.advance(0.15)
      servers:resume(leader)
      assert(mutex:acquire(20)):release()
    end
    assert.is_true(guard:is_held())
    assert.is_true(guard:verify())
  end)

  it("of which one lags never return outdated contenders", function()
    local index = servers:leader() % 3 + 1
    local holding = connect(20, servers:host(servers:leader()))
    local asking = connect(20, servers:host(index))
    for i = 1, 10 do
      local name = path .. i
      servers:pause(index)
      local guard = assert(holding:mutex(name):acquire(20))
      -- It goes on, and has to hear the question and what it has missed.
      local resumed = servers:resume_in(0.1, index)
      local list = assert(asking:contenders(name))
      assert.equal(1, #list)
      assert.equal(guard:token(), list[1].token)
      resumed:close()
      guard:release()
    end
  end)
end)

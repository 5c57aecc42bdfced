-- The servers fall silent: how long a hold lasts, and what becomes of its lock.
local start_proxy = require "support.proxy".start
local start_server = require "support.server".start
local support = require "support"

-- Waits in `other`; the function steps it until the lock has been passed on,
-- and looks that at no instant two believe to hold.
local function watch_handover(guard, other, path)
  local granted
  other:mutex(path):acquire_async(nil, function(mine) granted = mine end)
  support.wait_for_queue(path, 2, other._engine.hosts)
  return function(seconds)
    support.step_until(other, function()
      assert.is_false(granted ~= nil and granted:is_held() and guard:is_held())
      return granted
    end, seconds, "the lock is passed on")
    granted:release()
  end
end

before_each(support.start)
after_each(support.finish)

describe("Silence #once", function()
  it("of the servers ends a hold after half of the timeout at the earliest, "
    .. "and before they give its lock away", function()
    local T, path, proxy = 4, support.path(), start_proxy()
    local session = support.connect { hosts = proxy.hosts,
      session_timeout = T }
    local guard = assert(session:mutex(path):acquire(30))
    local handover = watch_handover(guard, support.connect(), path)
    -- Not what a young connection lends it: what the rounds prove.
    support.wait_until(function() return guard:lease() < 0.55 * T end)
    support.wait_until(function() return guard:lease() > 0.555 * T end, 10,
      "a lease of more than half of the timeout")
    local silent = support.now()
    proxy:freeze()
    support.wait_until(function()
      local held = guard:is_held()
      assert.is_true(held or support.now() > silent + 0.54 * T)
      return not held
    end)
    assert.is_true(support.now() < silent + T)
    handover(15)
    proxy:heal()
    assert.equal("lost", (select(3, guard:release())))
  end)

  it("in which requests are heard does not keep a lock that nobody holds",
    function()
      local path, proxy = support.path(), start_proxy()
      local session = support.connect { hosts = proxy.hosts,
        session_timeout = 2 }
      local guard = assert(session:mutex(path):acquire(30))
      local handover = watch_handover(guard, support.connect(), path)
      proxy:drop "replies"
      proxy:cut() -- without a connection the node cannot be deleted
      handover(20)
      proxy:heal()
      assert.equal("lost", (select(3, guard:release())))
      assert.is_true(assert(session:mutex(path):acquire(10)):release())
    end)
end)

describe("Who knows the tick #once", function()
  local server

  setup(function() server = start_server(1) end)
  teardown(function() server:stop() end)
  it("keeps a hold when its server falls silent and another is there",
    function()
      local T, path = 10, support.path()
      local first = start_proxy(server.hosts)
      local second = start_proxy(server.hosts)
      second:refuse()
      local session = support.connect { session_timeout = T, tick_time = 0.5,
        hosts = first.hosts .. "," .. second.hosts }
      local guard = assert(session:mutex(path):acquire(30))
      second:heal()
      support.wait_until(function() return guard:lease() < 0.78 * T end, 10)
      support.wait_until(function() return guard:lease() > 0.79 * T end, 10,
        "a lease that outlasts the library's patience")
      first:freeze()
      support.step_until(session, function()
        assert.is_true(guard:is_held())
        return session:stats().reconnects == 1
      end, T, "a connection to the other server")
      assert.is_true(guard:verify())
      assert.is_true(guard:release())
    end)
end)

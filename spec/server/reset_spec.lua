--- The library may notice a broken connection in the middle of a request.
local start_proxy = require "support.proxy".start
local support = require "support"
describe("A connection that breaks while requests are sent #once", function()
  before_each(support.start)
  after_each(support.finish)
  it("is replaced at once", function()
    local proxy = start_proxy()
    local session = support.connect {
      hosts = proxy.hosts,
      session_timeout = 12,
    }
    local running, slowest, rounds = true, 0, 0
    for i = 1, 40 do
      local lock = session:mutex(support.path(i))
      local function again(guard)
        rounds = rounds + 1
        if guard then guard:release() end
        if running then lock:acquire_async(again) end
      end
      lock:acquire_async(again)
    end
    for _ = 1, 25 do
      local before, n = session:stats().reconnects, rounds
      proxy:cut()
      local begun = support.now()
      support.step_until(session, function()
        return session:stats().reconnects > before and rounds > n + 40
      end, 20)
      slowest = math.max(slowest, support.now() - begun)
    end
    running = false
    -- Who is not told waits for two thirds of the session timeout.
    assert.is_true(slowest < 6, slowest)
  end)
end)

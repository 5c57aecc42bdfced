local kinds = require "integration.family.kinds"
local support = require "support"
local connect = support.connect
local queue_in, await = kinds.queue_in, kinds.await

describe("acquire", function()
  it("gives each node a new short name", function()
    local session, path = connect(), support.path()
    local seen = {}
    for _ = 1, 5 do
      local guard = session:mutex(path):acquire()
      local mark, number = guard.node:match("/(%w+)%-lock%-(%d+)$")
      assert.same({ 6, 10 }, { #mark, #number })
      assert.is_nil(seen[mark])
      seen[mark] = true
      guard:release { wait = true }
    end
  end)

  it("works in a persistent directory of another client (T55)", function()
    local session, path = connect(), support.path()
    support.zk():make(path)
    session:mutex(path):acquire(30):release { wait = true }
    support.advance(0.5) -- a container would be removed
    assert.is_table(support.zk():exists(path))
  end)

  it("keeps its deadline when contenders ahead leave the queue "
    .. "(T43)", function()
    local path = support.path()
    support.hold(path)
    local leavers, waiter = {}, connect():mutex(path)
    for i = 1, 4 do leavers[i] = queue_in(connect():mutex(path), path) end
    local begun = support.now()
    local waiting = kinds.wait_in(waiter, 1.5)
    for i = 4, 1, -1 do
      support.advance(0.35)
      leavers[i].ticket:cancel()
      await(leavers[i])
    end
    assert.equal("timeout", select(3, await(waiting)))
    assert.near(begun + 1.5, waiting.at, 0.02)
  end)
end)

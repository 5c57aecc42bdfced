-- What watches tell: often, and late.
local kinds = require "integration.family.kinds"
local start_proxy = require "support.proxy".start
local support = require "support"

local path, zk
before_each(function() path, zk = support.path(), support.zk() end)

describe("A watch", function()
  it("that fires for data, for the session and for a deletion is still one "
    .. "(T48)", function()
    local proxy, holder = start_proxy(), support.hold(path)
    local session = support.connect { hosts = proxy.hosts }
    local waiter = kinds.queue_in(session:mutex(path), path)
    for i = 1, 30 do
      zk:set(holder.node, "round " .. i)
      zk:set(waiter.node, "round " .. i)
      if i % 10 == 0 then
        proxy:cut()
        support.until_state(session, nil, { reconnects = i / 10 })
      end
    end
    support.until_state(session, nil, { in_flight = 0 })
    kinds.nobody(0.1, waiter)
    -- The waiter's: one on the node before it, one on its own.
    assert.equal(2, support.count_watches(path))
    holder:release()
    assert.is_true(kinds.await(waiter):is_held())
    waiter.guard:release { wait = true }
    support.wait_until(function() return support.count_watches(path) == 0 end)
  end)

  it("of a node that nobody waits for any more changes nothing (T56)",
    function()
      local session = support.connect()
      zk:make(path) -- it does not vanish when it is empty
      local holder = support.hold(path)
      local waiter = kinds.queue_in(session:mutex(path), path)
      local gone = holder.node
      holder:release { wait = true }
      local guard = kinds.await(waiter)
      -- The predecessor's name again, and its end again.
      local function repeat_the_end()
        zk:create(gone)
        zk:set(gone, "again")
        zk:delete(gone)
        support.advance(1)
        session:step()
      end
      repeat_the_end()
      assert.is_true(guard:is_held())
      assert.is_true(guard:verify())
      guard:release { wait = true }
      repeat_the_end()
      assert.equal("released", guard:state())
      assert.equal(0, session:stats().holding)
      assert.equal(1, session:stats().grants)
    end)
end)

-- What watches and sessions tell: often, late, all at once.
local kinds = require "integration.family.kinds"
local start_proxy = require "support.proxy".start
local support = require "support"

local path, zk
before_each(function()
  kinds.start()
  path, zk = support.path(), support.zk()
end)
after_each(support.finish)

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

describe("Events of many sessions", function()
  it("come one by one to Lua, whose collector runs at every step (T49)",
    function()
      local proxy = start_proxy()
      local sessions, turns, events, cuts = {}, 0, 0, 0
      local function on_event()
        collectgarbage()
        events = events + 1
      end
      local function contend(session, left)
        if left == 0 then return end
        session:mutex(path):acquire_async(30, function(guard)
          collectgarbage()
          assert(guard):on_lost(print)
          turns = turns + 1
          guard:release()
          contend(session, left - 1)
        end)
      end
      for i = 1, 8 do
        sessions[i] = support.connect { session_timeout = 20,
          hosts = i % 2 == 0 and proxy.hosts or nil, on_event = on_event }
        contend(sessions[i], 12)
      end
      support.wait_until(function()
        for _, session in ipairs(sessions) do
          session:step()
          collectgarbage "step"
        end
        if turns > 30 * (cuts + 1) then
          cuts = cuts + 1
          proxy:cut()
        end
        return turns == 96
      end, 40, "all turns")
      assert.is_true(events > 8)
    end)
end)

-- How a mutex's waiter learns of its turn: three ways, one safety.
local kinds = require "integration.family.kinds"
local support = require "support"
local connect = support.connect
local await, nobody = kinds.await, kinds.nobody

local function options_of(wait)
  return { wait = wait, poll_interval = wait == "poll" and 0.02 or nil }
end

-- One after the other takes and releases the lock; in which order.
local function pass_on(waiters)
  local order = {}
  support.wait_until(function()
    for i, waiter in ipairs(waiters) do
      waiter.session:step()
      if waiter.guard and not waiter.seen then
        waiter.seen = true
        order[#order + 1] = i
        assert.is_true(waiter.guard:is_held())
        for k, other in ipairs(waiters) do
          assert.is_false(k ~= i and other.guard ~= nil
            and other.guard:is_held())
        end
        waiter.guard:release()
      end
    end
    return #order == #waiters
  end, 10)
  return order
end

for _, wait in ipairs { "predecessor", "parent", "poll" } do
  describe("A waiter that uses " .. wait, function()
    before_each(function() kinds.start() end)
    after_each(support.finish)

    local path
    before_each(function() path = support.path() end)

    local function mutex()
      return connect { session_timeout = 60 }:mutex(path, options_of(wait))
    end

    it("gets the lock in its order", function()
      local holder = mutex():acquire(30)
      local waiters, expected = {}, {}
      for i = 1, 6 do
        waiters[i] = kinds.queue_in(mutex(), path)
        expected[i] = i
      end
      nobody(0.05, (unpack or table.unpack)(waiters))
      holder:release()
      assert.same(expected, pass_on(waiters))
    end)

    it("is not moved by what is no end of a hold", function()
      local holder = mutex():acquire(30)
      local middle = kinds.queue_in(mutex(), path)
      local waiter = kinds.queue_in(mutex(), path)
      local zk = support.zk()
      zk:set(holder.node, "data")
      zk:create(path .. "/foreign")
      nobody(0.05, waiter, middle)
      middle.ticket:cancel()
      await(middle)
      nobody(0.05, waiter)
      zk:delete(path .. "/foreign")
      nobody(0.03, waiter)
      holder:release()
      await(waiter):release()
    end)

    it("contends with those who use another way", function()
      local ways = { "predecessor", "parent", "poll", "parent", "predecessor" }
      local holder = mutex():acquire(30)
      local waiters = {}
      for i, way in ipairs(ways) do
        local lock = connect():mutex(path, options_of(way))
        waiters[i] = kinds.queue_in(lock, path)
      end
      holder:release()
      assert.same({ 1, 2, 3, 4, 5 }, pass_on(waiters))
    end)

    it("starts again when its own node is deleted", function()
      local holder = mutex():acquire(30)
      local waiter = kinds.queue_in(mutex(), path)
      support.zk():delete(waiter.node)
      nobody(0.06, waiter)
      holder:release()
      local guard = await(waiter)
      assert.are_not.equal(waiter.node, guard.node)
      assert.is_true(guard:verify())
      guard:release()
    end)

    it("survives the deletion of the whole directory", function()
      local holder = connect { session_timeout = 2 }
        :mutex(path, options_of(wait)):acquire(30)
      local one = kinds.queue_in(mutex(), path)
      local two = kinds.queue_in(mutex(), path)
      support.zk():delete_all(path)
      -- one may be granted just before its node is deleted, too
      support.wait_until(function()
        for _, waiter in ipairs { one, two } do
          waiter.session:step()
          if waiter.guard then waiter.guard:release() end
        end
        return one.guard and two.guard
      end)
      support.wait_until(function() return not holder:is_held() end, 1)
    end)

    it("keeps its deadline", function()
      local holder = mutex():acquire(30)
      local begun = support.now()
      local guard, _, code = mutex():acquire(0.25)
      local took = support.now() - begun
      assert.is_nil(guard)
      assert.equal("timeout", code)
      assert.is_true(took >= 0.25 and took < 1.2 + support.slack, took)
      holder:release()
    end)
  end)
end

-- What a release costs the waiters: requests that the server counted, and
-- events, for each of them.
local function cost_of_a_release(path, wait, n)
  local function count(sessions)
    if wait ~= "poll" then return kinds.traffics(sessions) end
    -- Replies are always on their way.
    local asked, told = kinds.packets(sessions, nil, true), {}
    for i, session in ipairs(sessions) do
      told[i] = asked[i] + session:stats().events
    end
    return asked, told
  end
  local holder = connect { session_timeout = 60 }
    :mutex(path, options_of(wait)):acquire(30)
  local waiters, sessions = {}, {}
  for i = 1, n do
    sessions[i] = connect { session_timeout = 60 }
    waiters[i] = kinds.queue_in(sessions[i]:mutex(path, options_of(wait)), path)
  end
  support.sleep(0.1)
  local requests, packets = count(sessions)
  holder:release { wait = true }
  support.sleep(0.3)
  local asked, told = 0, 0
  local received, sent = count(sessions)
  for i, session in ipairs(sessions) do
    asked = asked + received[i] - requests[i]
    told = told + (sent[i] - packets[i]) - (received[i] - requests[i])
    session:step()
  end
  pass_on(waiters)
  return asked, told
end

describe("Of ten waiters a release", function()
  before_each(function() kinds.start() end)
  after_each(support.finish)

  it("wakes the first, and the second to look, with predecessor", function()
    local asked, told = cost_of_a_release(support.path(), "predecessor", 10)
    assert.is_true(told >= 1 and told <= 2, told .. " events")
    assert.is_true(asked <= 2, asked .. " requests")
  end)

  it("wakes all, and all ask, with parent", function()
    local asked, told = cost_of_a_release(support.path(), "parent", 10)
    assert.is_true(told >= 10, told .. " events")
    assert.is_true(asked >= 9, asked .. " requests")
  end)

  it("wakes nobody, and all ask again and again, with poll", function()
    local asked, told = cost_of_a_release(support.path(), "poll", 10)
    assert.is_true(told <= 2, told .. " events") -- what is on its way counts
    assert.is_true(asked >= 2 * 9, asked .. " requests")
  end)
end)

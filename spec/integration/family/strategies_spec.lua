-- How a mutex's waiter learns of its turn: three ways, one safety.
local kinds = require "integration.family.kinds"
local support = require "support"
local connect = support.connect
local await, nobody = kinds.await, kinds.nobody

local path
before_each(function() path = support.path() end)

-- In a session of its own.
local function mutex(wait)
  return connect { session_timeout = 60 }:mutex(path,
    { wait = wait, poll_interval = wait == "poll" and 0.02 or nil })
end

local function queue_up(ways)
  local waiters = {}
  for i, wait in ipairs(ways) do
    waiters[i] = kinds.queue_in(mutex(wait), path)
  end
  return waiters
end

-- Each takes and releases the lock when those before it have.
local function pass_on(waiters)
  for i, waiter in ipairs(waiters) do
    assert.is_true(await(waiter):is_held())
    nobody(0.03, (unpack or table.unpack)(waiters, i + 1))
    waiter.guard:release()
  end
end

for _, wait in ipairs { "predecessor", "parent", "poll" } do
  describe("A waiter that uses " .. wait, function()
    it("gets the lock in its order, also among those who use another way",
      function()
        for _, ways in ipairs { { wait, wait, wait, wait, wait, wait },
          { wait, "predecessor", "parent", "poll", "parent", wait } } do
          local holder = mutex(wait):acquire(30)
          local waiters = queue_up(ways)
          nobody(0.05, (unpack or table.unpack)(waiters))
          holder:release()
          pass_on(waiters)
        end
      end)

    it("is not moved by what is no end of a hold", function()
      local holder, zk = mutex(wait):acquire(30), support.zk()
      local middle, waiter =
        (unpack or table.unpack)(queue_up { wait, wait })
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
  end)
end

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

for _, wait in ipairs { "predecessor", "parent", "poll" } do
  describe("A waiter that uses " .. wait, function()
    it("is not moved by what is no end of a hold", function()
      local holder, zk = mutex(wait):acquire(30), support.zk()
      local middle = kinds.queue_in(mutex(wait), path)
      local waiter = kinds.queue_in(mutex(wait), path)
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

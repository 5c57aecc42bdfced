--- What host.c runs: three jobs that must not overlap, and one that is
-- cancelled.
local zklock = require "zklock"

local session = assert(zklock.connect((...)))
local lock = session:mutex "/examples/embed"
local left = 4

local function begin(name)
  lock:acquire_async({ timeout = 10 }, function(guard, message)
    -- Runs in step().  What it raises comes out of step(), too.
    if not guard then error(message) end
    print(("%s has the lock, token %s"):format(name, guard:token()))
    guard:on_lost(function() print(name .. " must stop: the lock is lost") end)
    -- The section lasts over several steps: here, until a wait gives up.
    lock:acquire_async({ timeout = 0.02 }, function(none, _, code)
      assert(not none and code == zklock.errors.timeout)
      guard:release()
      left = left - 1
    end)
  end)
end

for _, name in ipairs { "apples", "pears", "plums" } do begin(name) end

local ticket = lock:acquire_async(nil, function(guard, _, code)
  assert(not guard and code == zklock.errors.cancelled)
  print "figs were cancelled"
  left = left - 1
end)
ticket:cancel()

return {
  fd = function() return session:fd() end,
  step = function() session:step() end,
  jobs = function() return left end,
  close = function() session:close() end,
}

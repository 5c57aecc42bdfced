-- The contract of event loops (spec/loops/suite.lua) where a wait blocks, and
-- in the game loop of doc/loops.md. spec/loops/contract_spec.lua has the other
-- loops, in real time; every kind of lock waits in the loop that blocks in
-- family/contract_spec.lua, and in one that does not in make explore.
local new_chance = require "explore.chance".new
local new_scheduler = require "support.scheduler".new
local runners = require "loops.runners"
local suite = require "loops.suite"
local support = require "support"

for _, name in ipairs { "poll", "frames" } do
  local runner = runners[name]
  describe("In the loop " .. name .. ":", function()
    for _, case in ipairs(suite) do
      if runner.tasks or not case.tasks then
        it(case.name, function() runner.run(case.body) end)
      end
    end
  end)
end

-- (A loop that steps a session when its fd is readable, in a coroutine.)
it("A wait for a local turn in a callback ends at its deadline", function()
  local scheduler = new_scheduler(new_chance(1))
  local session = support.connect { loop = "poll" }
  local path, code = support.path(), nil
  local rival = assert(session:mutex(path .. "/other"):acquire(30))
  scheduler:spawn(function()
    local own = support.connect { loop = scheduler.adapter }
    local lock = own:mutex(path, { local_turns = 5 })
    local first, second = assert(lock:acquire(30)), nil
    own:mutex(path .. "/other"):acquire_async(nil, function(guard)
      code = select(3, lock:acquire { timeout = 2, owner = {} })
      guard:release()
    end)
    lock:acquire_async(1, function(guard) second = guard end)
    first:release()
    scheduler:await(function() return second end, 30)
    rival:release()
    support.advance(2) -- and so the second's deadline passes
    scheduler:pause(2.1)
    second:release()
  end)
  while not (scheduler:is_over() or code) do scheduler:turn() end
  assert.equal("timeout", code)
  scheduler:run()
end)

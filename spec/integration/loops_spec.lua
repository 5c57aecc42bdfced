-- The contract of event loops (spec/loops/suite.lua) where a wait blocks, and
-- in the game loop of doc/loops.md; there also the specs of every kind of lock.
-- spec/loops/contract_spec.lua has the other loops, in real time.
local inside = require "loops.inside"
local runners = require "loops.runners"
local suite = require "loops.suite"
local support = require "support"

for _, name in ipairs { "poll", "frames" } do
  local runner = runners[name]
  describe("In the loop " .. name .. ":", function()
    before_each(support.start)
    after_each(support.finish)

    for _, case in ipairs(suite) do
      if runner.tasks or not case.tasks then
        it(case.name, function() runner.run(case.body) end)
      end
    end
  end)
end

inside(runners.frames, getfenv and getfenv(1) or _ENV,
  "family/contract async with_lock")

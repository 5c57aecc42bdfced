-- The contract (suite.lua) in each event loop that is there.  In virtual time
-- are a loop that blocks and the game loop of doc/loops.md:
-- spec/integration/loops_spec.lua.
local runners = require "loops.runners"
local suite = require "loops.suite"
local support = require "support"

-- Each case by itself, with a look at what is left of it.
local function run(runner, with_tasks)
  local failed = {}
  for _, case in ipairs(suite) do
    if (case.tasks or false) == with_tasks then
      support.start()
      local ok, problem = pcall(runner.run, case.body)
      local is_clean, left = pcall(support.finish)
      if not (ok and is_clean) then
        failed[#failed + 1] = ("%s: %s"):format(case.name, ok and left
          or problem)
      end
    end
  end
  assert.same({}, failed)
end

for _, name in ipairs { "luv", "cqueues", "copas" } do
  local runner = runners[name]
  if not runner.missing then
    describe("The loop " .. name, function()
      it("keeps the contract for one task", function() run(runner, false) end)
      it("keeps the contract for several tasks", function()
        run(runner, true)
      end)
    end)
  end
end

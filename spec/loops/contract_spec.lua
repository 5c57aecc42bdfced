-- The contract on every loop: suite.lua has what is said, runners.lua has
-- the loops.
local runners = require "loops.runners"
local suite = require "loops.suite"
local support = require "support"

for _, name in ipairs(runners.names) do
  local runner = runners[name]
  describe("In the loop " .. name .. ":", function()
    before_each(support.start)
    after_each(support.finish)

    -- On 5.1 a task cannot yield across the pcall that the runner needs.
    local missing = runner.missing or support.is_51 and runner.tasks
      and "the suite needs a yield across pcall, which Lua 5.1 has not"
    if missing then
      pending("nothing was run: " .. missing)
      return
    end

    for _, case in ipairs(suite) do
      if runner.tasks or not case.tasks then
        it(case.name, function() runner.run(case.body) end)
      end
    end
  end)
end

-- Six processes and one lock, in full on three servers: a witness of their own
-- says whether anybody was inside beside somebody else.
local contests = require "integration.family.contests"
local kinds = require "integration.family.kinds"
local spawn = require "support.child".spawn
local support = require "support"
local tally_of = require "integration.family.tally"

local ROUNDS = support.in_full and 200 or 40
local PROCESSES = 6
local HOSTS = support.in_full and support.ensemble or support.hosts

describe("Six processes", function()
  before_each(function() kinds.start(HOSTS) end)
  after_each(support.finish)

  for _, contest in ipairs(contests) do
    it(("are never inside beside each other (%s)"):format(contest.title),
      function()
      local path = support.path()
      local tally = tally_of.create()
      support.closing(tally)
      local children = {}
      for i = 1, PROCESSES do
        children[i] = spawn(contest.program, path, tally.name, "p" .. i, ROUNDS,
          HOSTS)
      end
      for _, child in ipairs(children) do child:expect "ready" end
      for _, child in ipairs(children) do child:say() end
      for _, child in ipairs(children) do child:expect("done\t1", 60) end
      for _, child in ipairs(children) do
        assert.equal(0, child:wait(), child:output())
      end
      local entered, most, names = tally:check(contest.permits)
      contest.check(entered, most, PROCESSES * ROUNDS)
      for i = 1, PROCESSES do
        assert.is_true(names["p" .. i] >= ROUNDS, "p" .. i)
      end
      kinds.wait_for_nodes(path, 0, nil, HOSTS)
    end)
  end
end)

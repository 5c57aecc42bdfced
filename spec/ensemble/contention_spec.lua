-- Many processes, one lock of three servers, and a witness that does not know
-- the library.  (The other kinds: spec/interop, `make explore`, the torture.)
local contests = require "server.contests"
local kinds = require "integration.family.kinds"
local start_server = require "support.server".start
local support = require "support"

describe("Processes on one lock of three servers", function()
  before_each(function() kinds.watch(support.ensemble) end)

  it("are never inside beside each other", function()
    contests.run({ "mutex" },
      { count = 6, rounds = 100, hosts = support.ensemble })
  end)

  it("continue under the next leader, and never hold it together "
    .. "(T32)", function()
    local servers = support.closing(start_server(3,
      "--config maxSessionTimeout=60000"))
    local contest = contests.begin({ "mutex" },
      { count = 4, rounds = 300, hosts = servers.hosts })
    support.wait_until(function() return contest.tally:count() > 50 end, 20)
    local leader = servers:leader()
    servers:kill(leader)
    servers:leader()
    servers:restart(leader)
    assert.is_true(contest.tally:count() < 4 * 300)
    contest:finish()
  end)
end)

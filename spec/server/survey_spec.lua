-- What spec/integration/survey_spec.lua says of the model, where bytes cost
-- time: a real client library, and a slow line.
local raw = require "support.raw"
local server = require "support.server"
local start_hostile = require "support.hostile".start
local support = require "support"

describe("A survey of a crowd, by a real library,", function()
  it("loses no hold of the session on a slow connection", function()
    local path = support.path()
    local own = support.closing(server.start(1,
      "--config maxSessionTimeout=60000 --jvm -Xmx1g"))
    local zk = support.closing(raw.connect(own.hosts,
      { patience = 60, timeout = 60 }))
    zk:make(path)
    zk:create_many(5000, function(i)
      return ("%s/x-lock-%010d"):format(path, i)
    end, { data = ("d"):rep(500), ephemeral = true })
    -- (All of it at once would take longer than the lease.)
    local line = start_hostile { hosts = own.hosts }
    line:behave { kind = "bytes", rate = 375000 }
    local session = support.connect { hosts = line.hosts, session_timeout = 8 }
    local guard = assert(session:mutex(support.path()):acquire(30))
    local events = {}
    session:on("suspended", function() events[#events + 1] = "suspended" end)
    guard:on_lost(function() events[#events + 1] = "lost" end)
    assert.equal(5000, #assert(session:contenders(path)))
    assert.is_true(guard:is_held())
    session:step()
    assert.same({}, events)
    guard:release { wait = true }
    session:close()
  end)
end)

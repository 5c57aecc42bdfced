-- Nodes that begin as a session's own do, which anybody can read in the names
-- of its nodes, and which are another session's.
local raw = require "support.raw"
local start_server = require "support.server".start
local support = require "support"
local connect = support.connect

local FORGED = 5000

describe("Forged nodes with a session's mark #once", function()
  before_each(support.start)
  after_each(support.finish)

  it("are asked about some at a time, and stay where they are", function()
    -- (A server of its own: others share theirs, and must not feel the crowd.)
    local own = support.closing(
      start_server(1, "--config maxSessionTimeout=60000"),
      function(s) s:stop() end)
    local path = support.path()
    local session = connect { hosts = own.hosts, session_timeout = 30 }
    local guard = assert(session:mutex(support.path()):acquire(30))
    local mark = guard.node:match "/(%w+)%-lock%-%d+$":sub(1, 5)
    local zk = raw.connect(own.hosts, { patience = 60, timeout = 30 })
    zk:make(path)
    zk:create_many(FORGED, function(i)
      return ("%s/%szz%d-lock-%010d"):format(path, mark, i, i - 1)
    end, { ephemeral = true })
    local before = session:stats().requests
    local most, waiter = 0, nil
    session:mutex(path):acquire_async(nil, function(mine) waiter = mine end)
    support.step_until(session, function()
      local stats = session:stats()
      most = math.max(most, stats.in_flight)
      assert.is_true(guard:is_held())
      return stats.requests > before + 1000 and stats.in_flight == 0
    end, 60)
    assert.is_true(most <= 120, most .. " requests at once")
    assert.equal(0, session:stats().strays)
    assert.is_nil(waiter)
    assert.equal(FORGED + 1, #zk:queue(path))
    zk:close() -- and with it they go
    support.step_until(session, function() return waiter end, 60)
    waiter:release { wait = true }
    guard:release { wait = true }
    session:close()
  end)
end)

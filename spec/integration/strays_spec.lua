-- Nodes with a session's own mark, which anybody can read in the names of its
-- nodes, and which it has not made.
local raw = require "support.raw"
local start_server = require "support.server".start
local support = require "support"
local connect = support.connect

local FORGED = 20000

describe("Forged nodes with a session's mark #once", function()
  before_each(support.start)
  after_each(support.finish)

  it("are deleted some at a time, and holds elsewhere do not suffer", function()
    -- (A server of its own: others share theirs, and must not feel the crowd.)
    local own = support.closing(
      start_server(1, "--config maxSessionTimeout=60000"),
      function(s) s:stop() end)
    local path = support.path()
    local session = connect { hosts = own.hosts, session_timeout = 30 }
    local guard = assert(session:mutex(support.path()):acquire(30))
    local mark = guard.node:match "/(_c_[^/]*)%-lock%-%d+$":sub(1, 27)
    local zk = raw.connect(own.hosts, { patience = 60, timeout = 30 })
    zk:make(path)
    zk:create_many(FORGED, function(i)
      return ("%s/%sffff%08x-lock-%010d"):format(path, mark, i, i - 1)
    end, { ephemeral = true })
    local most, waiter = 0, nil
    session:mutex(path):acquire_async(nil, function(mine) waiter = mine end)
    support.step_until(session, function()
      local stats = session:stats()
      most = math.max(most, stats.in_flight)
      assert.is_true(guard:is_held())
      return waiter
    end, 60)
    assert.is_true(session:stats().strays >= FORGED)
    assert.is_true(most <= 120, most .. " requests at once")
    assert.equal(1, #zk:queue(path))
    waiter:release { wait = true }
    guard:release { wait = true }
    session:close()
    zk:close()
  end)
end)

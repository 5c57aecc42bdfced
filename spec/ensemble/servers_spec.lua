-- Three servers of these tests' own: the leader dies, they restart one by one,
-- all die and come back.  (Other faults: spec/interop, `make explore`, the
-- torture.)
local contests = require "server.contests"
local raw = require "support.raw"
local start_server = require "support.server".start
local support = require "support"

describe("Three servers", function()
  local servers

  setup(function()
    servers = start_server(3, "--config maxSessionTimeout=60000")
  end)
  teardown(function() servers:stop() end)

  local function connect()
    return support.connect { hosts = servers.hosts, session_timeout = 60,
      connect_timeout = 20 }
  end

  -- (A client of its own: servers come and go.  Of one that is gone it hears
  -- nothing.)
  local function queue_of(path)
    local ok, zk = pcall(raw.connect, servers.hosts)
    if not ok then return {} end
    local found, queue = pcall(zk.queue, zk, path)
    zk:close()
    return found and queue or {}
  end

  -- A holder and three waiters, whose nodes and places outlive `befall`.
  local function check_queue(befall)
    local path, order = support.path(), {}
    local holder = connect()
    local guard = assert(holder:mutex(path):acquire(20))
    local sessions = {}
    for i = 1, 3 do
      sessions[i] = connect()
      sessions[i]:mutex(path):acquire_async(nil, function(mine)
        order[#order + 1] = mine.node
        mine:release()
      end)
      support.wait_until(function() return #queue_of(path) == i + 1 end, 30)
    end
    local nodes = {}
    for i, name in ipairs(queue_of(path)) do nodes[i] = path .. "/" .. name end

    befall(holder, guard)
    assert.is_true(guard:is_held())
    support.step_until(holder, function() return guard:verify() end, 60)
    assert.equal(table.remove(nodes, 1), guard.node)
    guard:release()
    support.wait_until(function()
      for _, session in ipairs(sessions) do session:step() end
      return #order == 3
    end, 30)
    assert.same(nodes, order)
  end

  it("that lose their leader keep holds and places in the queue (T13, T32)",
    function()
      check_queue(function(_, guard)
        local leader = servers:leader()
        servers:kill(leader)
        assert.is_true(guard:is_held())
        servers:leader() -- the next one
        assert.is_true(guard:is_held())
        servers:restart(leader)
      end)
    end)

  it("that lose their leader let no two of many processes hold one lock "
    .. "together (T32)",
    function()
      local contest = contests.begin({ "mutex" },
        { count = 6, rounds = 200, hosts = servers.hosts })
      support.wait_until(function() return contest.tally:count() > 50 end, 20)
      local leader = servers:leader()
      servers:kill(leader)
      servers:leader()
      servers:restart(leader)
      assert.is_true(contest.tally:count() < 6 * 200)
      contest:finish()
    end)

  it("that are restarted one by one keep holds and places in the queue",
    function()
      check_queue(function(_, guard)
        for i = 1, 3 do
          servers:restart(i)
          servers:leader()
          assert.is_true(guard:is_held())
        end
      end)
    end)

  it("that are all killed and restarted keep holds and places in the queue "
    .. "(T29, T36)",
    function()
      check_queue(function(holder)
        for i = 1, 3 do servers:kill(i) end
        support.until_state(holder, "suspended")
        local mutex = holder:mutex(support.path())
        assert.equal("disconnected", (select(3, mutex:acquire(0.3))))
        servers:restart "1 2 3"
      end)
    end)
end)

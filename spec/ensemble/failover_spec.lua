-- An ensemble of these tests' own, whose servers die.
local spawn = require "support.child".spawn
local start_server = require "support.server".start
local support = require "support"

describe("An ensemble #once #slow", function()
  local servers

  setup(function()
    servers = start_server(3, "--config maxSessionTimeout=60000")
  end)
  teardown(function() servers:stop() end)
  before_each(support.start)
  after_each(support.finish)

  it("that loses its leader keeps holds and places in the queue (T13, T32)",
    function()
      local path = support.path()
      local holder = support.connect { hosts = servers.hosts,
        session_timeout = 40 }
      local guard = holder:mutex(path):acquire(30)
      local sessions, order = {}, {}
      for i = 1, 3 do
        sessions[i] = support.connect { hosts = servers.hosts,
          session_timeout = 40 }
        sessions[i]:mutex(path):acquire_async(nil, function(mine)
          order[#order + 1] = { i, mine.node }
          mine:release()
        end)
        support.wait_until(function()
          return #support.zk(servers.hosts):queue(path) == i + 1
        end)
      end
      local queue = support.zk(servers.hosts):queue(path)
      local leader = servers:leader()
      servers:kill(leader)
      assert.is_true(guard:is_held())
      servers:leader() -- the next one
      assert.is_true(guard:is_held())
      servers:restart(leader)
      support.step_until(holder, function()
        return holder:state() == "connected"
      end, 20)
      assert.is_true(guard:verify())
      assert.equal(path .. "/" .. queue[1], guard.node)
      guard:release()
      support.wait_until(function()
        for _, session in ipairs(sessions) do session:step() end
        return #order == 3
      end, 20)
      for i = 1, 3 do
        assert.same({ i, path .. "/" .. queue[i + 1] }, order[i])
      end
      for _, session in ipairs(sessions) do session:close() end
    end)

  it("whose leader is replaced goes on, without overlap (T32)", function()
    local path = support.path()
    local observer = require "support.witness".create()
    support.closing(observer, observer.remove)
    local code = [[
      local hosts, path, directory = ...
      local witness = require "support.witness".open(directory)
      local session = assert(zklock.connect(hosts, { session_timeout = 20,
        connect_timeout = 20 }))
      local mutex = session:mutex(path)
      local name = require "zklock.core".pid()
      local turns = 0
      say "ready"
      hear()
      parent_socket:settimeout(0)
      while not hear() do
        local guard = mutex:acquire(1)
        if guard then
          local token, node = guard:token(), guard.node
          if guard:is_held() and not witness:enter(name, token, node) then
            say "overlap"
          end
          socket.sleep(0.001)
          witness:leave(name, token, node)
          guard:release()
          turns = turns + 1
        end
      end
      session:close()
      say(turns)
    ]]
    local children = {}
    for i = 1, 4 do
      children[i] = spawn(code, servers.hosts, path, observer.directory)
      children[i]:expect "ready"
    end
    for _, child in ipairs(children) do child:say "go" end
    local function turns()
      local n = 0
      for _, line in ipairs(observer:history()) do
        if line.what == "enter" then n = n + 1 end
      end
      return n
    end
    support.sleep(0.5)
    local leader = servers:leader()
    servers:kill(leader)
    servers:leader()
    local before = turns()
    support.wait_until(function() return turns() > before + 20 end, 20,
      "progress under the next leader")
    servers:restart(leader)
    for _, child in ipairs(children) do child:say "stop" end
    for _, child in ipairs(children) do
      assert.is_true(tonumber(child:hear(20)) > 0)
      assert.equal(0, child:wait())
    end
    local token = ""
    for _, line in ipairs(observer:history()) do
      assert.are_not.equal("overlap", line.what)
      if line.what == "enter" then
        assert.is_true(line.token > token)
        token = line.token
      end
    end
  end)

  it("without a majority grants nothing, and loses holds in time", function()
    local path = support.path()
    local session = support.connect { hosts = servers.hosts,
      session_timeout = 3 }
    local guard = session:mutex(path):acquire(30)
    for i = 1, 2 do servers:kill(i) end
    local begun = support.now()
    support.wait_until(function() return not guard:is_held() end)
    assert.is_true(support.now() - begun < 3 + support.slack)
    local other = session:mutex(support.path())
    local nothing, _, code = other:acquire(0.5)
    assert.is_nil(nothing)
    assert.equal("disconnected", code)
    for i = 1, 2 do servers:begin_restart(i) end
    assert.equal("lost", (select(3, guard:release())))
    assert.is_true(assert(session:mutex(path):acquire(30)):release())
    servers:leader()
  end)

  it("whose leader is cut off ends what it can no longer vouch for", function()
    -- The old leader answers reads for a while; only a quorum's word counts.
    local leader = servers:leader()
    local path = support.path()
    local session = support.connect { hosts = servers:host(leader),
      session_timeout = 4 }
    local guard = session:mutex(path):acquire(30)
    local others = {}
    for i = 1, 3 do
      if i ~= leader then
        servers:pause(i)
        others[#others + 1] = i
      end
    end
    local begun = support.now()
    support.wait_until(function() return not guard:is_held() end, 5)
    assert.is_true(support.now() - begun < 4 + support.slack)
    for _, i in ipairs(others) do servers:resume(i) end
    guard:release()
    assert.is_true(assert(session:mutex(path):acquire(30)):release())
  end)
end)

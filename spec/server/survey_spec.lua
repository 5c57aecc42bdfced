-- What spec/integration/survey_spec.lua says of the model, where bytes cost
-- time and memory: a real client library, and a slow line.
local raw = require "support.raw"
local server = require "support.server"
local spawn = require "support.child".spawn
local support = require "support"
local connect = support.connect

-- A wire that brings so many bytes a second: its end of it, and the server's.
local SLOW = [[
local socket = require "socket"
local target, rate = ...
local ip, port = target:match "([%w%.]+):(%d+)"
local listener = assert(socket.bind("127.0.0.1", 0))
say((select(2, listener:getsockname())))
local client = listener:accept()
local server = assert(socket.connect(ip, tonumber(port)))
client:setoption("tcp-nodelay", true)
server:setoption("tcp-nodelay", true)
local function pass_on(from, to)
  from:settimeout(0)
  local text, problem, part = from:receive(8192)
  from:settimeout(nil)
  assert(problem ~= "closed" and to:send(text or part))
  return #(text or part)
end
while true do
  for _, ready in ipairs((socket.select { client, server })) do
    if ready == client then
      pass_on(client, server)
    else -- so long are its bytes on their way
      socket.sleep(pass_on(server, client) / rate)
    end
  end
end
]]

describe("A survey of a crowd, by a real library,", function()
  local own, zk, path

  setup(function()
    own = server.start(1, "--config maxSessionTimeout=60000 --jvm -Xmx1g")
  end)
  teardown(function() own:stop() end)

  before_each(function()
    support.start()
    zk = raw.connect(own.hosts, { patience = 60, timeout = 60 })
    path = support.path()
    zk:make(path)
  end)
  after_each(function()
    zk:close() -- and with it they go
    support.finish()
  end)

  local function crowd(n, data)
    zk:create_many(n, function(i)
      return ("%s/x-lock-%010d"):format(path, i)
    end, { data = data, ephemeral = true })
  end

  -- How much memory it takes to ask, in KiB, and the answer.
  local function growth_of(ask)
    local session = connect { hosts = own.hosts }
    collectgarbage()
    local before = support.memory()
    local list, message, code = session[ask](session, path)
    assert.equal(0, session:stats().reconnects)
    return support.memory() - before, list, message, code
  end

  it("loses none of the session's holds, though the line is slow", function()
    crowd(10000, ("d"):rep(500))
    -- (All of it at once would take longer than the lease.)
    local line = spawn(SLOW, own.hosts, 750000)
    local session = connect { hosts = "127.0.0.1:" .. line:hear(),
      session_timeout = 8 }
    local guard = assert(session:mutex(support.path()):acquire(30))
    local events = {}
    session:on("suspended", function() events[#events + 1] = "suspended" end)
    guard:on_lost(function() events[#events + 1] = "lost" end)
    assert.equal(10000, #assert(session:contenders(path)))
    assert.is_true(guard:is_held())
    session:step()
    assert.same({}, events)
    guard:release { wait = true }
    session:close()
  end)

  it("reads of large data only a few #stock", function()
    crowd(60, ("m"):rep(1000000))
    local growth, list = growth_of "contenders"
    assert.is_true(growth < 20 * 1024, growth)
    for i, contender in ipairs(list) do
      assert.equal(i <= 4, contender.data ~= nil)
    end
  end)

  it("says that there are too many, before it lists them #stock", function()
    crowd(50001)
    for _, ask in ipairs { "contenders", "children" } do
      local growth, list, message, code = growth_of(ask)
      assert.is_true(growth < 2 * 1024, growth)
      assert.is_nil(list)
      assert.equal("invalid", code)
      assert.matches("more than 50000 children", message, 1, true)
    end
  end)
end)

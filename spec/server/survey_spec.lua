-- What spec/integration/survey_spec.lua says of the model, where bytes cost
-- time: a real client library, and a slow line.
local raw = require "support.raw"
local server = require "support.server"
local spawn = require "support.child".spawn
local support = require "support"

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
  it("loses none of the session's holds, though the line is slow", function()
    local path = support.path()
    local own = support.closing(server.start(1,
      "--config maxSessionTimeout=60000 --jvm -Xmx1g"), function(it)
        it:stop()
      end)
    local zk = support.closing(raw.connect(own.hosts,
      { patience = 60, timeout = 60 }))
    zk:make(path)
    zk:create_many(10000, function(i)
      return ("%s/x-lock-%010d"):format(path, i)
    end, { data = ("d"):rep(500), ephemeral = true })
    -- (All of it at once would take longer than the lease.)
    local line = spawn(SLOW, own.hosts, 750000)
    local session = support.connect { hosts = "127.0.0.1:" .. line:hear(),
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
end)

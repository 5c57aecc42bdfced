-- What a program that the host starts gets of ours: nothing.
local spawn = require "support.child".spawn
local start_proxy = require "support.proxy".start
local support = require "support"

-- What a child program has open, other than files: `inherited()` → a number.
local INHERITED = [[
  function inherited()
    local pipe = io.popen "ls -l /proc/self/fd"
    local n = 0
    for line in pipe:lines() do
      if line:find "%-> [a-z_]+:" then n = n + 1 end
    end
    pipe:close()
    return n
  end
]]

describe("A program that the host starts #stock", function()
  before_each(support.start)
  after_each(support.finish)

  it("inherits nothing of sessions that are connected", function()
    local child = spawn(INHERITED .. [[
      local before, sessions = inherited(), {}
      for i = 1, 3 do sessions[i] = assert(zklock.connect(hosts)) end
      say(inherited() - before)
      os.exit(0)
    ]])
    child:expect "0"
    assert.equal(0, child:wait())
  end)

  it("inherits nothing of sessions that try to connect meanwhile", function()
    local proxy = start_proxy()
    local child = spawn(INHERITED .. [[
      local before, sessions = inherited(), {}
      local dead = "127.0.7.1:9,127.0.7.2:9,127.0.7.3:9,127.0.7.4:9,"
      for i = 1, 12 do
        sessions[i] = assert(zklock.connect(dead .. (...)))
      end
      say "connected"
      hear()
      local most = 0
      for _ = 1, 300 do most = math.max(most, inherited() - before) end
      say(most)
      hear()
      for i = 1, 12 do sessions[i]:mutex("/a" .. i):acquire(20) end
      say(inherited() - before)
      os.exit(0)
    ]], proxy.hosts)
    child:expect "connected"
    proxy:refuse()
    child:say()
    child:expect("0", 60)
    proxy:heal()
    child:say()
    child:expect("0", 30)
    assert.equal(0, child:wait())
  end)
end)

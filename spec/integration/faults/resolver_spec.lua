-- What the system's resolver may do.
local spawn_with = require "support.child".spawn_with
local start_proxy = require "support.proxy".start
local start_resolver = require "support.resolver".start
local support = require "support"

describe("A resolver that hangs while there is no server #stock", function()
  before_each(support.start)
  after_each(support.finish)

  it("holds up no loss, no deadline, no release and no close", function()
    local path, proxy = support.path(), start_proxy()
    local resolver = start_resolver()
    resolver:set("host.example", { "127.0.0.1" })
    local child = spawn_with(resolver.environment, [[
      local now = require "zklock.core".now
      local hosts, path = ...
      local session = assert(zklock.connect(hosts, { session_timeout = 3 }))
      local guard = assert(session:mutex(path):acquire(5))
      local brief = assert(session:mutex(path .. "/b"):acquire {
        timeout = 5, max_hold = 60 })
      say "held"
      hear() -- and now there is neither a server nor a name
      local begun = now()
      while guard:is_held() and now() < begun + 5 do socket.sleep(0.01) end
      say("lost", now() - begun < 2.2)
      begun = now()
      local _, _, code = session:mutex(path .. "/c"):acquire(0.5)
      say("acquire", code, now() - begun < 1.5)
      say("release", select(3, brief:release()))
      begun = now()
      session:close()
      say("close", now() - begun < 3)
      os.exit(0)
    ]], "host.example:" .. proxy.hosts:match ":(%d+)", path)
    child:expect "held"
    resolver:stop()
    proxy:refuse()
    resolver:await()
    child:say()
    child:expect "lost\ttrue"
    child:expect "acquire\tdisconnected\ttrue"
    child:expect "release\tlost"
    child:expect "close\ttrue"
    assert.equal(0, child:wait(5))
    proxy:heal()
    support.wait_for_queue(path, 0)
  end)
end)

describe("A name with very many addresses #stock", function()
  before_each(support.start)
  after_each(support.finish)

  it("is connected to by the last of them", function()
    local resolver, addresses = start_resolver(), {}
    for i = 1, 199 do addresses[i] = "127.0.7." .. i end -- nobody is there
    addresses[200] = "127.0.0.1"
    resolver:set("many.example", addresses)
    local child = spawn_with(resolver.environment, [[
      local session = assert(zklock.connect((...), { connect_timeout = 10 }))
      say(session:state())
      session:close()
    ]], "many.example:" .. support.hosts:match ":(%d+)")
    child:expect "connected"
    assert.equal(0, child:wait(5))
  end)
end)

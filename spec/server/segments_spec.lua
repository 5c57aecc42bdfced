-- In how many segments requests go out: each wakes the server.
local files = require "support.files"
local shell = require "support.shell"
local spawn_with = require "support.child".spawn_with
local support = require "support"

local BUILD = "cd '%s' && ${CC:-cc} -std=c11 -D_GNU_SOURCE -shared -fPIC "
  .. "spec/server/segments.c -ldl -o '%s'"

describe("What a client sends #stock", function()
  it("is few segments: of an acquire, of its release, of what is asked at once",
  function()
    local counter = support.closing(os.tmpname(), os.remove)
    local file = support.closing(os.tmpname(), os.remove)
    shell.must(BUILD:format(os.getenv "SPEC_ROOT" or ".", counter))
    local path = support.path()
    support.zk():make(path) -- it does not vanish when it is empty
    local client = spawn_with(("LD_PRELOAD=%s SEGMENTS=%s"):format(counter,
      file), [[
      local session = assert(zklock.connect(hosts, { session_timeout = 10 }))
      local path = ...
      local mutex = session:mutex(path)
      for _ = 1, 100 do
        assert(mutex:acquire(30)):release { wait = true }
      end
      local granted = 0
      for i = 1, 200 do
        session:mutex(path .. "/" .. i):acquire_async({ owner = i },
          function(guard) granted = granted + (guard and 1 or 0) end)
      end
      while granted < 200 do
        session:step()
        socket.select({ { getfd = function() return session:fd() end } }, nil,
          0.1)
      end
      say(session:stats().requests)
      session:close()
      os.exit(0, true)
    ]], path)
    local requests = tonumber(client:hear())
    assert.equal(0, client:wait())
    local segments = tonumber(files.read(file):match "%d+")
    -- 300 requests one by one, of which each release follows an answer, and
    -- 400 at once. (And connecting, heartbeats, the parent's lines, probes.)
    assert.is_true(requests >= 700, requests)
    local most = 200 + (requests - 300) / 4
    assert.is_true(segments >= 200 and segments < most + 20, segments)
  end)
end)

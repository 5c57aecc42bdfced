-- In how many segments requests go out: each wakes the server.
local spawn_with = require "support.child".spawn_with
local support = require "support"

local BUILD = "cd '%s' && ${CC:-cc} -std=c11 -D_GNU_SOURCE -shared -fPIC "
  .. "spec/server/segments.c -ldl -o '%s'"

-- One that turns the library itself gathers what a turn sends; in the library's
-- own threads a packet at least is one.
local gathers = require "zklock.core".backend == "st"

describe("What a client sends #stock", function()
  local counter

  setup(function()
    counter = os.tmpname()
    local root = os.getenv "SPEC_ROOT" or "."
    assert(os.execute(BUILD:format(root, counter)))
  end)
  teardown(function() os.remove(counter) end)

  -- And how many requests those were.
  local function segments_of(code)
    local file = os.tmpname()
    local environment = ("LD_PRELOAD=%s SEGMENTS=%s"):format(counter, file)
    local path = support.path()
    support.zk():make(path) -- it does not vanish when it is empty
    local client = spawn_with(environment, [[
      local session = assert(zklock.connect(hosts, { session_timeout = 10 }))
      local path = ...
      ]] .. code .. [[
      say(session:stats().requests)
      session:close()
      os.exit(0, true)
    ]], path)
    local requests = tonumber(client:hear())
    assert.equal(0, client:wait())
    local segments = tonumber(io.open(file):read "*l")
    os.remove(file)
    return segments, requests
  end

  it("is one segment for an acquire, and one for its release", function()
    local segments, requests = segments_of [[
      local mutex = session:mutex(path)
      for _ = 1, 100 do
        assert(mutex:acquire(30)):release { wait = true }
      end
    ]]
    -- (connecting, a heartbeat, the parent's lines, what `mt` probes)
    local most = requests * (gathers and 2 / 3 or 1) + 20
    assert.is_true(requests >= 300, requests)
    assert.is_true(segments >= 200 and segments < most, segments)
  end)

  it("is a few segments for what is asked at once", function()
    local segments, requests = segments_of [[
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
    ]]
    local most = requests * (gathers and 1 / 4 or 1) + 20
    assert.is_true(requests >= 400, requests)
    assert.is_true(segments < most, segments)
  end)
end)

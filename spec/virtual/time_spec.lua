-- Virtual time: the same seed gives the same run.
local exploration = require "virtual.exploration"
local files = require "support.files"
local sessions = require "integration.sessions"
local shell = require "support.shell"
local support = require "support"
local virtual = require "zklock.virtual"

it("A suspend of the machine ends what it held", function()
  local guard = support.hold(support.path(), { session_timeout = 6 })
  virtual.jump(60)
  assert.is_not_true(guard:is_held())
end)

-- The threads pause at each atomic operation.
it("A pause in is_held() ends what it held", function()
  for _ = 1, 10 do
    local session, proxy = sessions.behind_proxy { session_timeout = 6 }
    local guard = assert(session:mutex(support.path()):acquire(30))
    sessions.cut_off(session, proxy)
    local ends, held = virtual.now() + guard:lease() + 1e-3, nil
    exploration.during({ switches = 1, stalls = 1, stall = 1 }, function()
      repeat
        held = guard:is_held()
        assert.is_true(not held or virtual.now() < ends)
      until not held
    end)
    proxy:heal()
    session:close()
  end
end)

-- The trace of a story of make explore.
local function trace_of(seed)
  return files.with("", function(name)
    assert.matches("no violation", shell.output(("EXPLORE_TRACE='%s' %s "
      .. "'%s/spec/explore/run.lua' %d 2>&1"):format(name, support.lua,
      os.getenv "SPEC_ROOT" or ".", seed)), 1, true)
    return files.read(name)
  end)
end

-- Though addresses, the hash seeds of Lua and process numbers differ from
-- process to process.
describe("A run in virtual time", function()
  it("has the same trace each time for one seed, and another for another",
    function()
      local last
      for seed = 1, 4 do
        local first = trace_of(seed)
        assert.is_true(#first > 10000)
        for _ = 1, 3 do
          local again, n = trace_of(seed), 1
          -- (Of two long texts only where they part is worth a message.)
          while first:byte(n) == again:byte(n) and n <= #first do n = n + 1 end
          assert.equal(first:sub(n, n + 200), again:sub(n, n + 200))
        end
        assert.are_not.equal(last, first)
        last = first
      end
    end)
end)

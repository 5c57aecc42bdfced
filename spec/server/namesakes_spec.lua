-- Other libraries of the process with functions of the same names as
-- libzookeeper_st's.
local child = require "support.child"
local shell = require "support.shell"
local support = require "support"

local OTHER = shell.output "ls /usr/lib/*/libzookeeper_mt.so*":match "%S+"

-- Takes a lock, and says how many threads there are: libzookeeper_mt would have
-- made two more.
local PROGRAM = [[
  local path = ...
  local session = assert(zklock.connect(hosts, { session_timeout = 5 }))
  local guard = assert(session:mutex(path):acquire(30))
  assert(guard:is_held() and guard:verify() and guard:release { wait = true })
  local n = 0
  for name in require "lfs".dir "/proc/self/task" do
    if tonumber(name) then n = n + 1 end
  end
  session:close()
  say(n)
  os.exit(0, true)
]]

describe("Beside libzookeeper_mt #stock", function()
  before_each(function() assert(OTHER, "libzookeeper_mt is not installed") end)

  local function takes_a_lock(environment)
    local process = child.spawn_with(environment, PROGRAM, support.path())
    process:expect "2"
    assert.equal(0, process:wait())
  end

  it("that the program was linked to, zklock uses libzookeeper_st", function()
    takes_a_lock("LD_PRELOAD=" .. OTHER)
  end)

  it("that was loaded for all to see, zklock uses libzookeeper_st", function()
    takes_a_lock(("LUA_INIT='assert(package.loadlib(%q, %q))'"):format(OTHER,
      "*"))
  end)
end)

-- Other client libraries than the usual one: with SASL, which is refused for
-- the reason that is true of the library at hand; and libzookeeper_mt, which
-- has functions of the same names.
local child = require "support.child"
local core = require "zklock.core"
local output = require "support.shell".output
local support = require "support"
local zklock = require "zklock"

-- A directory with a client library like ours, under another name, behind one
-- of its name that has SASL (or says so).
local SHIM = [[
set -e
real=$(ldd "%s" | sed -n 's/.*libzookeeper_st[^ ]* => \([^ ]*\) .*/\1/p')
name=$(basename "$real")
dir=$(mktemp -d)
other=$(echo "$name" | sed 's/_st/_xx/')
LC_ALL=C sed "s/$name/$other/g" <"$real" >"$dir/$other"
echo 'void zookeeper_init_sasl(void) {}' |
  ${CC:-cc} -shared -fPIC -Wl,--no-as-needed -Wl,-rpath,"$dir" \
    -Wl,-soname,"$name" -o "$dir/$name" -x c - -x none "$dir/$other"
echo "$dir"
]]

local function make_library()
  local module = assert(package.searchpath("zklock.core", package.cpath))
  local said = output("(" .. SHIM:format(module) .. ") 2>&1")
  local dir = said:match "^(/%S+)\n$"
  assert(dir, said)
  return support.closing(dir, function()
    os.execute(("rm -r '%s'"):format(dir))
  end)
end

local LACKING = "this ZooKeeper client library was built without it"
local SASL = "zklock: SASL is not supported (%s): doc/operations.md says what "
  .. "takes its place"

describe("The scheme sasl", function()
  it("is unsupported by a client library without it", function()
    assert.is_false(core.has_sasl())
    assert.same({ nil, SASL:format(LACKING), "unsupported" },
      { zklock.connect("a", { auth = {
        { scheme = "digest", credential = "a:b" },
        { scheme = "sasl", credential = "a" } } }) })
  end)

  it("is unsupported by us where the client library has it", function()
    local process = child.spawn_with("LD_LIBRARY_PATH=" .. make_library(), [[
      say(select(2, zklock.connect(hosts, { auth = { scheme = "sasl",
        credential = "a" } })))
      say(zklock.connect(hosts):state())
    ]])
    assert.equal(SASL:format("by zklock, though this ZooKeeper client library "
      .. "has it") .. "\tunsupported", process:hear())
    assert.equal("connected", process:hear())
  end)
end)

local OTHER = output "ls /usr/lib/*/libzookeeper_mt.so*":match "%S+"

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

-- TLS is refused, for the reason that is true of the client library at hand.
local child = require "support.child"
local core = require "zklock.core"
local support = require "support"
local zklock = require "zklock"

-- A directory with a client library like ours, under another name, behind one
-- of its name that has TLS (or says so).
local SHIM = [[
set -e
real=$(ldd "%s" | sed -n 's/.*libzookeeper_%s[^ ]* => \([^ ]*\) .*/\1/p')
name=$(basename "$real")
dir=$(mktemp -d)
other=$(echo "$name" | sed 's/_%s/_xx/')
LC_ALL=C sed "s/$name/$other/g" <"$real" >"$dir/$other"
echo 'void zookeeper_init_ssl(void); void zookeeper_init_ssl(void) {}' |
  ${CC:-cc} -shared -fPIC -Wl,--no-as-needed -Wl,-rpath,"$dir" \
    -Wl,-soname,"$name" -o "$dir/$name" -x c - -x none "$dir/$other"
echo "$dir"
]]

local function make_library()
  local module = assert(package.searchpath("zklock.core", package.cpath))
  local pipe = io.popen("(" .. SHIM:format(module, zklock.backend,
    zklock.backend) .. ") 2>&1")
  local output = pipe:read "*a"
  pipe:close()
  local dir = output:match "^(/%S+)\n$"
  assert(dir, output)
  return support.closing(dir, function()
    os.execute(("rm -r '%s'"):format(dir))
  end)
end

describe("Option tls #once", function()
  before_each(support.start)
  after_each(support.finish)

  it("is unsupported by a client library without it", function()
    assert.is_false(core.has_tls())
    local session, message, code = zklock.connect("a", { tls = {} })
    assert.is_nil(session)
    assert.equal("unsupported", code)
    assert.equal("zklock: TLS is not supported: this ZooKeeper client library "
      .. "was built without it", message)
  end)

  it("is unsupported by us where the client library has it", function()
    local process = child.spawn_with("LD_LIBRARY_PATH=" .. make_library(), [[
      say(select(2, zklock.connect(hosts, { tls = {} })))
      say(zklock.connect(hosts):state())
    ]])
    assert.equal("zklock: TLS is not supported by zklock yet, though this "
      .. "ZooKeeper client library has it\tunsupported", process:hear())
    assert.equal("connected", process:hear())
  end)
end)

-- TLS and SASL are refused, for the reason that is true of the client library
-- at hand; what works instead is in tunnel_spec.lua.
local child = require "support.child"
local core = require "zklock.core"
local output = require "support.shell".output
local support = require "support"
local zklock = require "zklock"

-- A directory with a client library like ours, under another name, behind one
-- of its name that has TLS and SASL (or says so).
local SHIM = [[
set -e
real=$(ldd "%s" | sed -n 's/.*libzookeeper_st[^ ]* => \([^ ]*\) .*/\1/p')
name=$(basename "$real")
dir=$(mktemp -d)
other=$(echo "$name" | sed 's/_st/_xx/')
LC_ALL=C sed "s/$name/$other/g" <"$real" >"$dir/$other"
printf 'void zookeeper_init_%%s(void) {}\n' ssl sasl |
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
local TLS = "zklock: TLS is not supported (%s): doc/tls.md says how to go "
  .. "through a tunnel"
local SASL = "zklock: SASL is not supported (%s): doc/tls.md says what takes "
  .. "its place"

describe("Option tls", function()
  local function unsupported(message, options)
    assert.same({ nil, message:format(LACKING), "unsupported" },
      { zklock.connect("a", options) })
  end

  it("is unsupported, as the scheme sasl is, by a client library without it",
  function()
    assert.is_false(core.has_tls() or core.has_sasl())
    unsupported(TLS, { tls = {} })
    unsupported(TLS, { tls = { ca = "ca.pem", cert = "a.pem", key = "a.key" } })
    unsupported(SASL, { auth = { { scheme = "digest", credential = "a:b" },
      { scheme = "sasl", credential = "a" } } })
  end)

  it("is unsupported by us where the client library has it", function()
    local process = child.spawn_with("LD_LIBRARY_PATH=" .. make_library(), [[
      say(select(2, zklock.connect(hosts, { tls = {} })))
      say(select(2, zklock.connect(hosts, { auth = { scheme = "sasl",
        credential = "a" } })))
      say(zklock.connect(hosts):state())
    ]])
    assert.equal(TLS:format("that of this ZooKeeper client library checks no "
      .. "host name") .. "\tunsupported", process:hear())
    assert.equal(SASL:format("by zklock, though this ZooKeeper client library "
      .. "has it") .. "\tunsupported", process:hear())
    assert.equal("connected", process:hear())
  end)

  it("with a typo in it is misuse", function()
    for said, tls in pairs {
      ["unknown option \"cacert\" in option 'tls' (known: ca, cert, key)"] =
        { cacert = "a" },
      ["option 'tls'.key must be a string, got a boolean"] = { key = true },
      ["option 'tls' must be a table, got a boolean"] = true,
    } do
      local function open() zklock.connect("a", { tls = tls }) end
      assert.equal(said, support.misuse(open))
    end
  end)
end)

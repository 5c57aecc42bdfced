-- zklock without its module for TLS: where OpenSSL was missing at the build, or
-- is missing now.
local shell = require "support.shell"
local zklock = require "zklock"

local root = assert(os.getenv "SPEC_ROOT")

describe("Without OpenSSL", function()
  local dir, cpath

  before_each(function()
    dir = shell.output "mktemp -d":match "%S+"
    cpath = package.cpath
    package.cpath, package.loaded["zklock.tls"] = dir .. "/?.so", nil
  end)
  after_each(function()
    package.cpath = cpath
    shell.must(("rm -r '%s'"):format(dir))
  end)

  local function refused(why)
    assert.same({ nil, "zklock: TLS is not supported: " .. why, "unsupported" },
      { zklock.connect("127.0.0.1:1", { tls = { ca = "/nowhere" } }) })
  end

  it("connect refuses the option tls, and names the package", function()
    refused("the module zklock.tls is not installed: install the rock "
      .. "zklock-tls or the package lua-zklock-tls, or build zklock where "
      .. "libssl-dev is installed")
    assert.equal("disconnected", (select(3, zklock.connect("127.0.0.1:1",
      { connect_timeout = 0.05 }))))
  end)

  it("connect names the library that the module needs", function()
    shell.must(("cd '%s' && mkdir zklock && echo 'int f(void) { return 0; }' | "
      .. "cc -shared -fPIC -Wl,-soname,libssl.so.9 -o libssl.so -x c - && "
      .. "echo 'int f(void); int luaopen_zklock_tls(void) { return f(); }' | "
      .. "cc -shared -fPIC -o zklock/tls.so -x c - -x none ./libssl.so")
      :format(dir))
    refused "libssl.so.9 is not there: install libssl3"
  end)

  -- What `make` builds.
  local function modules(words)
    return shell.must(("make -s -C '%s' %s --eval='its-modules:; "
      .. "@echo $(MODULES)' its-modules"):format(root, words or ""))
  end

  it("make builds everything else", function()
    shell.must(("mkdir -p '%s/openssl' && echo '#error' >'%s/openssl/ssl.h'")
      :format(dir, dir))
    local without = modules(("CC='cc -I%s'"):format(dir))
    for _, name in ipairs { "core", "guardian", "virtual" } do
      assert.matches("/zklock/" .. name .. ".so", without, 1, true)
    end
    assert.is_nil(without:find("zklock/tls.so", 1, true))
    assert.matches("/zklock/tls.so", modules(), 1, true)
  end)
end)

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
      .. "zklock-tls or the package lua-zklock-tls, or build zklock where the "
      .. "headers of OpenSSL 3 (libssl-dev) are installed")
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

  -- What is in a directory of `dir` in place of OpenSSL's headers.
  local function headers(text)
    shell.must(("mkdir -p '%s/openssl' && cd '%s/openssl' && for name in ssl "
      .. "crypto; do echo '%s' >$name.h; done"):format(dir, dir, text))
    return "CC='cc -I" .. dir .. "'"
  end
  local OLD = "#define OPENSSL_VERSION_NUMBER 0x1010117fL"

  it("make builds everything else, also with the headers of OpenSSL 1.1",
  function()
    for _, text in ipairs { "#error", OLD } do
      local without = modules(headers(text))
      for _, name in ipairs { "core", "guardian", "virtual" } do
        assert.matches("/zklock/" .. name .. ".so", without, 1, true)
      end
      assert.is_nil(without:find("zklock/tls.so", 1, true))
    end
    assert.matches("/zklock/tls.so", modules(), 1, true)
  end)

  it("the rock zklock-tls says which OpenSSL it needs", function()
    headers(OLD)
    local said = shell.output(("cd '%s' && cc -I'%s' -Isrc -D_GNU_SOURCE "
      .. "-fsyntax-only src/tls/bind.c 2>&1"):format(root, dir))
    assert.matches("#error \"zklock.tls needs OpenSSL 3: the headers are those "
      .. "of an older version\"", said, 1, true)
  end)
end)

-- bench/nginx, for a second: under load it says itself what is wrong.
local luajit = require "support.luajit"
local output = require "support.shell".output

describe("nginx under load", function()
  it("answers, wakes up, and leaves nothing behind", function()
    local said = output(("MAKEFLAGS='-- MODULES=%s/zklock/core.so' BUILD='%s' "
      .. "CONNECTIONS=100 bash '%s/bench/nginx' 1 2>&1 </dev/null")
      :format(luajit.build(), luajit.root, os.getenv "SPEC_ROOT"))
    assert.equal("fine", said:match "([^\n]*)\n$", said)
  end)
end)

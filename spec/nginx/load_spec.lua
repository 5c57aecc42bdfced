-- bench/nginx for a short time: it says itself what is wrong.
local nginx = require "nginx.server"

local root = os.getenv "SPEC_ROOT" or "."
local missing = nginx.missing()

describe("nginx under load", function()
  if missing then return pending(missing) end

  it("answers, wakes nobody for nothing, and leaves nothing #slow", function()
    local build = assert(package.searchpath("zklock.core", package.cpath))
      :match "^(.*)/%a+/[^/]*/zklock/core%.so$"
    local pipe = io.popen(("BUILD='%s' CONNECTIONS=100 bash "
      .. "'%s/bench/nginx' 1 2>&1 </dev/null"):format(build, root))
    local output = pipe:read "*a"
    pipe:close()
    assert.are.equal("fine", output:match "([^\n]*)\n$", output)
  end)
end)

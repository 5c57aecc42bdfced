-- bench/nginx for a short time: it says itself what is wrong.
local nginx = require "nginx.server"

local root = os.getenv "SPEC_ROOT" or "."
describe("nginx under load", function()
  if not nginx.ready(pending, before_each, after_each, teardown) then return end

  it("answers, wakes nobody for nothing, and leaves nothing", function()
    local build = assert(package.searchpath("zklock.core", package.cpath))
      :match "^(.*)/%a+/[^/]*/zklock/core%.so$"
    local pipe = io.popen(("BUILD='%s' CONNECTIONS=100 bash "
      .. "'%s/bench/nginx' 1 2>&1 </dev/null"):format(build, root))
    local output = pipe:read "*a"
    pipe:close()
    assert.equal("fine", output:match "([^\n]*)\n$", output)
  end)
end)

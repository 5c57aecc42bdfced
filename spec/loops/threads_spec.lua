-- Lua states in the threads of one process.
local host = require "loops.host"
local support = require "support"

describe("Lua states in threads of one process", function()
  it("hold one lock at a time, while others are closed", function()
    local root = os.getenv "SPEC_ROOT" or "."
    local program = host.build "spec/loops/threads.c"
    local threads, rounds = 8, 8
    local ok, text = host.run(program, root .. "/spec/loops/threads_script.lua",
      support.hosts, support.path(), threads, rounds)
    assert(ok, text)
    assert.equal(("%d sections, 0 failures\n"):format(threads * rounds * 8),
      text)
  end)
end)

-- A C program with a loop of its own: examples/embed.
local host = require "loops.host"
local support = require "support"

describe("A C host with epoll", function()
  it("drives a session by fd() and step()", function()
    local root = os.getenv "SPEC_ROOT" or "."
    local program = host.build "examples/embed/host.c"
    local ok, text = host.run(program, root .. "/examples/embed/jobs.lua",
      support.hosts)
    assert(ok, text)
    for _, name in ipairs { "apples", "pears", "plums" } do
      assert.matches(name .. " has the lock, token %d+\n", text)
    end
    assert.matches("figs were cancelled\n", text)
    assert.matches("the host went on for %d+ ticks\n$", text)
    assert.is_nil(text:find("must stop", 1, true))
  end)
end)

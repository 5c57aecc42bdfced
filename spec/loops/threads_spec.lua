-- Programs in C: Lua states in the threads of one, and one with a loop of its
-- own (examples/embed).
local host = require "loops.host"
local support = require "support"

local root = os.getenv "SPEC_ROOT" or "."

describe("Lua states in threads of one process", function()
  it("exclude each other while other states are closed", function()
    local program = host.build "spec/loops/threads.c"
    local threads, rounds = 8, 8
    local ok, text = host.run(program, root .. "/spec/loops/threads_script.lua",
      support.hosts, support.path(), threads, rounds)
    assert(ok, text)
    assert.equal(("%d sections, 0 failures\n"):format(threads * rounds * 8),
      text)
  end)
end)

describe("A C host with epoll", function()
  it("drives a session by fd() and step()", function()
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

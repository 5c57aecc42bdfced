-- A sentence that is said again and again is told once a minute.
local root = os.getenv "SPEC_ROOT" or "."

describe("A notice", function()
  it("is told once a minute, and how often it was not #once", function()
    local program = os.tmpname()
    local pipe = io.popen(("cd '%s' && ${CC:-cc} -std=c11 -UNDEBUG -o '%s' "
      .. "spec/unit/notices.c src/io/notice.c 2>&1 && '%s' 2>&1"):format(root,
      program, program))
    local output = pipe:read "*a"
    pipe:close()
    os.remove(program)
    assert.are.equal("fine\n", output)
  end)
end)

-- README is read by who has two minutes.  (Its links and blocks are looked at
-- by spec/documents.)
local read = require "support.files".read

local root = os.getenv "SPEC_ROOT" or "."

describe("README", function()
  it("has at most 110 lines, none of them long", function()
    local n, long = 0, {}
    for line in read(root .. "/README.md"):gmatch "([^\n]*)\n" do
      n = n + 1
      local characters = select(2, line:gsub("[^\128-\191]", ""))
      if characters > 140 then long[#long + 1] = n end
    end
    assert.is_true(n > 80 and n <= 110, n)
    assert.same({}, long)
  end)
end)

-- These pages take long: they run beside the others.
local page = require "documents.page"
require "support"

local root = os.getenv "SPEC_ROOT" or "."

describe("The blocks of the pages #stock", function()
  for _, name in ipairs { "doc/tutorial.md", "doc/cookbook.md" } do
    it("do what they say: " .. name, function()
      page.run_all(root .. "/" .. name, name)
    end)
  end
end)

-- doc/tutorial.md takes long: it runs beside the other pages.
local page = require "documents.page"
local support = require "support"

local root = os.getenv "SPEC_ROOT" or "."

describe("The blocks of the pages #stock", function()
  teardown(page.uninstall)
  before_each(support.start)
  after_each(support.finish)

  it("do what they say: doc/tutorial.md", function()
    page.run_all(root .. "/doc/tutorial.md", "doc/tutorial.md")
  end)
end)

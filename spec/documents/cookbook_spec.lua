-- doc/cookbook.md takes long: it runs beside the other pages.
local page = require "documents.page"
local stores = require "documents.stores"
local support = require "support"

local root = os.getenv "SPEC_ROOT" or "."

describe("The blocks of the pages #stock", function()
  teardown(page.uninstall)
  before_each(support.start)
  after_each(support.finish)

  it("do what they say: doc/cookbook.md", function()
    page.run_all(root .. "/doc/cookbook.md", "doc/cookbook.md")
  end)

  it("have run on PostgreSQL, too", function()
    if not stores.has_postgresql() then
      pending "PostgreSQL is not installed"
    end
  end)
end)

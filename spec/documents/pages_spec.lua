-- Every block of every page is run, or checked where it cannot be:
-- CONTRIBUTING.md says how a page says which.
local command = require "support.command"
local lfs = require "lfs"
local page = require "documents.page"
require "support"

local root = os.getenv "SPEC_ROOT" or "."

-- Those that take long have a spec of their own, beside which this one runs.
-- What is in the reference comes from annotations, whose examples are run by
-- integration/reference_spec.
local apart = { ["doc/tutorial.md"] = true, ["doc/cookbook.md"] = true,
  ["doc/api.md"] = true }

local function all_pages()
  local pages = {}
  for _, folder in ipairs { "", "bench/", "doc/", "doc/dev/",
    "examples/" } do
    for name in lfs.dir(root .. "/" .. folder) do
      local path = folder .. name
      if name:find "%.md$" and not apart[path] then pages[#pages + 1] = path end
    end
  end
  table.sort(pages)
  return pages
end

describe("The blocks of the pages #stock", function()
  for _, name in ipairs(all_pages()) do
    it("do what they say: " .. name, function()
      page.run_all(root .. "/" .. name, name)
    end)
  end
end)

-- (What finds nothing wrong could be blind.)
describe("Whoever runs the blocks of the pages #stock", function()
  it("sees what is wrong", function()
    for text, why in pairs {
      ["~~~\nprint(1)\n~~~\n"] = "page:1: a block that does not say",
      ["~~~cobol\nSTOP RUN.\n~~~\n"] = "nothing looks at blocks of cobol",
      ["\n~~~lua\nerror 'no'\n~~~\n"] = "page:2: it ended with 1",
      ["~~~sh\nfalse\ntrue\n~~~\n"] = "it ended with 1",
      ["~~~sh\necho one\n~~~\n~~~text\ntwo\n~~~\n"] = "what came out is not",
      ["~~~console\n$ echo one\none\n$ echo two\n2\n~~~\n"] = "two",
      ["<!-- file: a.lua -->\n~~~lua\nprint(1)\n~~~\n"] = "nothing runs a.lua",
      ["<!-- sketch -->\n~~~text\nprint(1)\n~~~\n"] = "it is no sketch",
      ["<!-- not run here: no -->\n~~~sh\nmake nothing\n~~~\n"] =
        "no target of make: nothing",
    } do
      local ok, problem = pcall(page.run_all,
        command.file((text:gsub("~~~", "```"))), "page")
      assert.is_false(ok, text)
      assert.matches(why, tostring(problem), 1, true)
    end
  end)
end)

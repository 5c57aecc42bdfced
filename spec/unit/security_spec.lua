-- SECURITY.md names a defence and a test for each threat: are they there?
local proofs = require "support.proofs"

local rows = proofs.rows("SECURITY.md", "S")

describe("The table of threats", function()
  it("has rows that are numbered in order, and leaves no line out", function()
    local count = 0
    for i, row in ipairs(rows) do
      assert.equal(i, row.number)
      count = i
    end
    local _, lines = proofs.read "SECURITY.md":gsub("\n| S%d+ |", "")
    assert.equal(lines, count)
    assert.is_true(count >= 30)
  end)

  it("says what is done against each, and names tests that are there",
  function()
    local problems = {}
    for _, row in ipairs(rows) do
      local name = "S" .. row.number
      if #row[1] < 15 or #row[2] < 15 then
        problems[#problems + 1] = name .. " says nothing"
      end
      proofs.check_cell(row[3], name, problems)
    end
    assert.equal("", table.concat(problems, "\n"))
  end)

  -- As the pages are shown: `### ACLs` is #acls.
  local function has_heading(text, anchor)
    for heading in ("\n" .. text):gmatch "\n#+ ([^\n]+)" do
      local slug = heading:lower():gsub("[^%w%s_-]", ""):gsub("%s", "-")
      if slug == anchor then return true end
    end
    return false
  end

  it("refers to pages, and headings of theirs, that are there", function()
    local own, problems = proofs.read "SECURITY.md", {}
    for link in own:gmatch "%]%(([^)]+)%)" do
      local name, anchor = link:match "^([^#]*)#?(.*)$"
      local text = name == "" and own or proofs.read(name)
      if not text or anchor ~= "" and not has_heading(text, anchor) then
        problems[#problems + 1] = link
      end
    end
    assert.same({}, problems)
  end)
end)

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
end)

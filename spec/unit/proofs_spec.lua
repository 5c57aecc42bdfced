-- Tables of the pages that name a test, or another proof, in each row: for the
-- published failures of other libraries, and for threats.  Is every row there,
-- and is what it names there as well?
local proofs = require "support.proofs"

-- Of each table: its page, its letter, the column of the proofs, and how many
-- rows it has at least.
for name, one in pairs {
  failures = { "doc/dev/testing.md", "T", 2, 63 },
  threats = { "SECURITY.md", "S", 3, 30 },
} do
  local page, letter, column, least = (unpack or table.unpack)(one)
  local rows = proofs.rows(page, letter)

  describe("The table of " .. name, function()
    it("has rows that are numbered in order, and leaves no line out", function()
      for i, row in ipairs(rows) do assert.equal(i, row.number) end
      local _, lines = proofs.read(page):gsub("\n| " .. letter .. "%d+ |", "")
      assert.equal(lines, #rows)
      assert.is_true(#rows >= least)
    end)

    it("says what it is about, and names what is there", function()
      local problems = {}
      for _, row in ipairs(rows) do
        local number = letter .. row.number
        for i = 1, column - 1 do
          if #row[i] < 20 then
            problems[#problems + 1] = number .. " says nothing"
          end
        end
        proofs.check_cell(row[column], number, problems)
      end
      assert.equal("", table.concat(problems, "\n"))
    end)
  end)
end

it("A proof that is gone is noticed", function()
  local check = proofs.check
  assert.is_false((check '`unit/hosts_spec.lua` "no such test"'))
  assert.is_true((check '`unit/proofs_spec.lua` "A proof that is gone"'))
  local name = '`unit/hosts_spec.lua` "A text of %s has no NUL byte"'
  assert.is_true((check(name:format "hosts")))
  assert.is_false((check(name:format "hopes")))
  assert.is_false((check '`unit/no_spec.lua` "A proof that is gone"'))
  assert.is_false((check "sim: `sunshine`"))
  assert.is_false((check "mutant: `none`"))
  assert.is_false((check "simulated fault: `sunshine`"))
  assert.is_false((check "deliberate bug: `none`"))
  assert.is_false((check "file: `spec/none.c`"))
  assert.is_false((check "hope: `the best`"))
end)

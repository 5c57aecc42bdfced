-- doc/dev/testing.md names a test for each published failure of other
-- libraries.  Is every row there, and is what it names there as well?
local proofs = require "support.proofs"

local FIRST, LAST = 1, 63

local rows = proofs.rows("doc/dev/testing.md", "T")

describe("The table of failures", function()
  it("has every row, once, in order", function()
    local numbers, wanted = {}, {}
    for i, row in ipairs(rows) do numbers[i] = row.number end
    for i = FIRST, LAST do wanted[#wanted + 1] = i end
    assert.same(wanted, numbers)
  end)

  it("says what went wrong, and names what is there", function()
    local problems = {}
    for _, row in ipairs(rows) do
      local name = "T" .. row.number
      if #row[1] < 20 then
        problems[#problems + 1] = name .. " says nothing"
      end
      proofs.check_cell(row[2], name, problems)
    end
    assert.equal("", table.concat(problems, "\n"))
  end)

  it("would notice a test that is gone", function()
    local check = proofs.check
    assert.is_false((check '`unit/hosts_spec.lua` "no such test"'))
    assert.is_true((check '`unit/failures_spec.lua` "would notice a test"'))
    local name = '`unit/failures_spec.lua` "The table of %s would notice a"'
    assert.is_true((check(name:format "failures")))
    assert.is_false((check(name:format "hopes")))
    assert.is_false((check '`unit/no_spec.lua` "would notice a test"'))
    assert.is_false((check "sim: `sunshine`"))
    assert.is_false((check "mutant: `none`"))
    assert.is_false((check "simulated fault: `sunshine`"))
    assert.is_false((check "deliberate bug: `none`"))
    assert.is_false((check "file: `spec/none.c`"))
    assert.is_false((check "hope: `the best`"))
  end)
end)

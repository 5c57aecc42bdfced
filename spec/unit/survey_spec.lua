-- What a list of contenders means, whose nodes are written here by hand.
local core = require "zklock.core"

-- "node session holds" of each, in order; tokens grow as the rows are given.
local function survey(...)
  local rows = {}
  for i, text in ipairs { ... } do
    local node, session = text:match "^(%S+) ?(%S*)$"
    table.insert(rows, { node = node, session = session,
      token = ("%019d"):format(i) })
  end
  local list = {}
  for i, row in ipairs(core.survey(rows)) do
    list[i] = row.node .. (row.holds and " holds" or " waits")
  end
  return list
end

describe("A list of contenders", function()
  it("is in the order of the numbers", function()
    assert.same({ "a-lock-0000000001 holds", "b-lock-0000000002 waits" },
      survey("b-lock-0000000002", "a-lock-0000000001"))
    assert.same({}, survey())
  end)

  it("is in that of the tokens where the numbers have come to their end",
    function()
      assert.same({ "a-lock-2147483647 holds", "b-lock--2147483648 waits" },
        survey("a-lock-2147483647", "b-lock--2147483648"))
      assert.same({ "a-__READ__2147483640 holds", "b-__READ__2147483647 holds",
        "c-__WRIT__-2147483648 waits", "d-__READ__-2147483647 waits" },
        survey("a-__READ__2147483640", "b-__READ__2147483647",
          "c-__WRIT__-2147483648", "d-__READ__-2147483647"))
    end)

  it("has a writer and the reader that it becomes side by side", function()
    for _, number in ipairs { "0000000007", "2147483647" } do
      local writer, reader = "w-__WRIT__" .. number, "r-__READ__" .. number
      assert.same({ writer .. " holds", reader .. " holds" },
        survey(writer, reader))
    end
  end)

  it("has permits that the first of the inner lock waits with", function()
    assert.same({ "leases/a-lease-0000000000 holds",
      "leases/b-lease-0000000001 waits", "locks/c-lock-0000000002 waits" },
      survey("leases/a-lease-0000000000 one", "leases/b-lease-0000000001 two",
        "locks/c-lock-0000000002 two"))
  end)

  it("has an unfair holder", function()
    assert.same({ "holder holds" }, survey "holder")
  end)

  it("is nothing but rows", function()
    assert.is_false(pcall(core.survey, { {} }))
    assert.is_false(pcall(core.survey, { 1 }))
    assert.is_false(pcall(core.survey))
  end)
end)

describe("The data of a contender", function()
  it("are marked once, and its own without the mark", function()
    for _, data in ipairs { "", "web1", "a\0b", "\nzklock:revoke " } do
      local marked = core.marked_data(data)
      assert.equal(data .. "\nzklock:revoke", marked)
      assert.equal(marked, core.marked_data(marked))
      assert.equal(data, core.own_data(marked))
      assert.equal(data, core.own_data(data))
    end
  end)

  it("are nobody's where Curator has asked", function()
    assert.equal("__REVOKE__", core.marked_data "__REVOKE__")
    assert.equal("", core.own_data "__REVOKE__")
  end)
end)

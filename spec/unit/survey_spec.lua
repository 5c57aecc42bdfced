-- What a list of contenders means, whose nodes are written here by hand.
local core = require "zklock.core"

-- "node session holds" of each, in order; tokens grow as the rows are given. Of
-- a node that is "hidden" nothing is known but its name.
local function survey(...)
  local rows = {}
  for i, text in ipairs { ... } do
    local node, session = text:match "^(%S+) ?(%S*)$"
    rows[i] = session == "hidden" and { node = node }
      or { node = node, session = session, token = ("%019d"):format(i) }
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

  it("has nodes that are nobody's, and in the way of others", function()
    -- (Of mutexes and rwlocks: the next test.)
    assert.same({ "leases/a-lease-0000000000 waits",
      "leases/b-lease-0000000001 holds", "locks/c-lock-0000000002 waits" },
      survey("leases/a-lease-0000000000 0x0", "leases/b-lease-0000000001 0x1",
        "locks/c-lock-0000000002 0x0"))
    assert.same({ "holder waits" }, survey "holder 0x0")
  end)

  it("agrees with the lock rule for random sets of nodes", function()
    local marks = { "-lock-", "-__READ__", "-__WRIT__", "__lock__",
      "__rlock__" }
    local function blocks(one, two)
      local is_before = one.number < two.number
      if two.mark == "-lock-" then return one.mark == "-lock-" end
      local lock = two.mark:find "-" and "-__WRIT__" or "__lock__"
      local read = two.mark:find "-" and "-__READ__" or "__rlock__"
      return is_before and (one.mark == lock
        or one.mark == read and two.mark == lock)
    end
    math.randomseed(1)
    for _ = 1, 300 do
      local rows, given = {}, {}
      for i = 1, math.random(1, 12) do
        rows[i] = { number = i, mark = marks[math.random(#marks)],
          owned = math.random(4) > 1 }
        given[i] = ("%d%s%010d %s"):format(i, rows[i].mark, i,
          rows[i].owned and "0x1" or "0x0")
      end
      local expected = {}
      for i, row in ipairs(rows) do
        local holds = row.owned
        for k = 1, i - 1 do
          if blocks(rows[k], row) then holds = false end
        end
        expected[i] = ("%d%s%010d %s"):format(i, row.mark, i,
          holds and "holds" or "waits")
      end
      assert.same(expected, survey((unpack or table.unpack)(given)))
    end
  end)

  it("sorts 50 000 nodes in less than a second, in any order", function()
    for _, session in ipairs { "0x1", "0x0" } do
      for _, format in ipairs { "x-__READ__%010d", "x%d-lock-0000000001",
        "x-__READ__-%010d" } do
        local rows = {}
        for i = 1, 50000 do
          rows[i] = { node = format:format(i), session = session,
            token = ("%019d"):format(50000 - i) }
        end
        local begun = os.clock()
        assert.equal(50000, #core.survey(rows))
        assert.is_true(os.clock() - begun < 1, format)
      end
    end
  end)

  it("has nodes of which no more is known than their names say", function()
    assert.same({ "a-lock-0000000001 holds", "b-lock-0000000002 waits" },
      survey("b-lock-0000000002 0x1", "a-lock-0000000001 hidden"))
    assert.same({ "a-lock-0000000001 holds", "b-lock-0000000002 waits" },
      survey("b-lock-0000000002 hidden", "a-lock-0000000001 0x1"))
    assert.same({ "holder holds" }, survey "holder hidden")
    -- Which permit is that of the first inside? It cannot be told.
    assert.same({ "leases/a-lease-0000000000 holds",
      "leases/b-lease-0000000001 holds", "locks/c-lock-0000000002 waits" },
      survey("leases/a-lease-0000000000 0x1",
        "leases/b-lease-0000000001 hidden", "locks/c-lock-0000000002 hidden"))
    -- Where the numbers do not tell the order the tokens do.
    assert.same({ "b-lock--2147483648 holds", "a-lock-2147483647 waits" },
      survey("a-lock-2147483647 hidden", "b-lock--2147483648 0x1"))
  end)

  it("is nothing but rows", function()
    assert.is_false(pcall(core.survey, { {} }))
    assert.is_false(pcall(core.survey, { "a" }))
    local row = { node = "a-lock-0000000001", session = "", token = "" }
    for key in pairs(row) do
      local other = { node = row.node, session = "", token = "" }
      other[key] = 1
      assert.is_false(pcall(core.survey, { other }))
      other[key] = nil
      setmetatable(other, { __index = function() error "called" end })
      assert.equal(key ~= "node", pcall(core.survey, { other }))
    end
    setmetatable(row, { __newindex = function() error "called" end })
    assert.is_true(core.survey({ row })[1].holds)
    assert.is_false(pcall(core.survey, { 1 }))
    assert.is_false(pcall(core.survey))
  end)
end)

describe("The data of a contender", function()
  it("are its own without the mark", function()
    for _, data in ipairs { "", "web1", "a\0b", "\nzklock:revoke ",
      "zklock:revoke", "__REVOKE__ ", " __REVOKE__" } do
      assert.equal(data, core.own_data(data .. "\nzklock:revoke"))
      assert.equal(data, core.own_data(data))
    end
  end)

  it("are nobody's where Curator has asked", function()
    assert.equal("", core.own_data "__REVOKE__")
  end)
end)

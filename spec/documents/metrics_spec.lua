-- What the pages say of the metrics.
local expressions = require "support.expressions"
local metrics = require "zklock.metrics"
local prometheus = require "support.prometheus"
local promtool = require "support.promtool"
local read = require "support.files".read

local tally = require "zklock.tally"

local root = os.getenv "SPEC_ROOT" or "."
local page = read(root .. "/doc/metrics.md")
local families = prometheus.read(metrics.text {})

-- All queries of the pages: one in a block, or one in a line of it.
local function queries()
  local found = {}
  for block in page:gmatch "\n```promql\n(.-)\n```" do
    found[#found + 1] = block
  end
  for block in read(root .. "/doc/production.md")
      :gmatch "\n```promql\n(.-)\n```" do
    for line in block:gmatch "[^\n]+" do found[#found + 1] = line end
  end
  return found
end

describe("The metrics", function()
  it("are all on their page, with their types, units and meanings", function()
    local n = 0
    for name, family in pairs(families) do
      local row = page:match("\n| `" .. name .. "` | ([^\n]+)")
      assert.is_truthy(row, name)
      assert.equal(family.type, row:match "^%a+", name)
      assert.equal(name:find "_seconds$" ~= nil,
        row:find "^%a+, seconds |" ~= nil, name)
      n = n + 1
    end
    assert.equal(22, n)
    -- (A histogram may be named as what it is.)
    for name in page:gmatch "%f[%w_:](zklock_[%w_]+)" do
      assert.is_truthy(families[name] or expressions.family(name), name)
    end
  end)

  it("have the labels that their page lists, and as many series", function()
    local codes = {}
    local listed = page:match
      "\n| `zklock_session_refusals_total` |.-label `code`: (.-):"
    for code in listed:gmatch "`([%l_]+)`" do
      codes[#codes + 1] = code
    end
    assert.same(tally.codes, codes)
    local path = { path = "/a", mode = "mutex", n = 1, oldest = 1 }
    local function count(rows)
      local n = 0
      for _, family in pairs(prometheus.read(metrics.text { { labels = {},
        snapshot = { state = "connected", timeout = 10, lease = 0,
          counters = {}, locks = {}, waiting = rows, holding = rows } } })) do
        n = n + #family.samples
      end
      return n
    end
    local of_path, of_session =
      page:match "are (%d+) series.- session has (%d+)"
    assert.equal(count {}, tonumber(of_session))
    assert.equal(count { path } - count {}, tonumber(of_path))
  end)

  it("have names as Prometheus wants them", function()
    for name, family in pairs(families) do
      assert.equal(family.type == "counter", name:find "_total$" ~= nil, name)
      assert.matches("^zklock_session_%l[%l_]*$", name:gsub("_lock_",
        "_session_"))
    end
  end)

  it("are asked for by queries that Prometheus understands", function()
    local rules = {}
    for i, query in ipairs(queries()) do
      assert.same({}, expressions.unknown_names(query))
      assert.same({}, expressions.unknown_labels(query), query)
      rules[i] = ("  - {record: 'a%d', expr: %s}\n"):format(i,
        promtool.quote(query))
    end
    assert.is_true(#rules >= 9)
    local missing = promtool.missing()
    if missing then return pending(missing) end
    assert.matches(("SUCCESS: %d rules found.*\n0\n$"):format(#rules),
      promtool.ask("check rules", "groups:\n- name: a\n  rules:\n"
        .. table.concat(rules)))
  end)
end)

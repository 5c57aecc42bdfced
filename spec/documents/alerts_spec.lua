-- The alert rules: package/prometheus.
local expressions = require "support.expressions"
local promtool = require "support.promtool"
local read = require "support.files".read

local root = os.getenv "SPEC_ROOT" or "."
local PLACE = root .. "/package/prometheus/"
local TESTS = { "zklock.rules.test.yml", "zklock.quiet.test.yml" }

local rules = read(PLACE .. "zklock.rules.yml")

-- Words at the ends of lines that begin with this.
local function all(text, pattern)
  local found = {}
  for word in text:gmatch(pattern) do found[#found + 1] = word end
  return found
end

local alerts = all(rules, "alert: (%w+)")
local records = all(rules, "record: ([%w_:]+)")

-- What stands behind `expr:`, without comments.
local function each_expression(fn)
  local text = rules:gsub("\n *#[^\n]*", "")
  for expression in text:gmatch "expr:(.-)\n +[%a_]+:" do fn(expression) end
  for expression in text:gmatch "expr:([^\n]*)\n\n" do fn(expression) end
end

describe("The alerts", function()
  it("ask for what there is, by labels that there are", function()
    local unknown, n = expressions.unknown_names(rules)
    assert.same({}, unknown)
    assert.is_true(n > 15)
    n = 0
    each_expression(function(expression)
      assert.same({}, expressions.unknown_labels(expression), expression)
      n = n + 1
    end)
    assert.is_true(n >= #alerts)
  end)

  it("ask for what is recorded, and all of that is asked for", function()
    local known = {}
    for _, name in ipairs(records) do
      assert.matches("^zklock:[%a_]+", name)
      known[name] = 0
    end
    for name in rules:gmatch "%f[%w_:](zklock:[%w_:]+)" do
      assert.is_truthy(known[name], name)
      known[name] = known[name] + 1
    end
    for name, n in pairs(known) do assert.is_true(n > 1, name) end
  end)

  it("are on the page of the metrics, and say where to look", function()
    local page = read(root .. "/doc/metrics.md")
    for _, name in ipairs(alerts) do
      assert.is_truthy(page:find("| `" .. name .. "` |", 1, true), name)
    end
    for _, name in ipairs(records) do
      assert.is_truthy(page:find("`" .. name .. "`", 1, true), name)
    end
    assert.equal(#alerts, #all(rules, "to do: doc/troubleshooting%.md"))
    assert.equal(#alerts, #all(rules, "severity: (%l+)"))
  end)

  it("have each a test that they are raised, of series that there are",
  function()
    for _, file in ipairs(TESTS) do
      local text = read(PLACE .. file)
      local n = 0
      for name, labels in text:gmatch "series: '([%w_]+){([^}]*)}" do
        assert.is_truthy(expressions.family(name), name)
        assert.same({}, expressions.unknown_labels("{" .. labels .. "}"))
        n = n + 1
      end
      assert.is_true(n > 20, file)
      if file == TESTS[1] then
        local raised = {}
        for line in text:gmatch "[^\n]+" do
          raised[line:match 'ALERTS{alertname="(%w+)".*value: ' or 1] = true
        end
        for _, name in ipairs(alerts) do assert.is_true(raised[name], name) end
      end
    end
  end)

  it("are raised when they should be, and no others", function()
    local missing = promtool.missing()
    if missing then return pending(missing) end
    assert.matches(("SUCCESS: %d rules found.*\n0\n$"):format(
      #alerts + #records),
      promtool.run("check rules", PLACE .. "zklock.rules.yml"))
    for _, file in ipairs(TESTS) do
      assert.matches("SUCCESS\n\n0\n$", promtool.run("test rules",
        PLACE .. file))
    end
  end)
end)

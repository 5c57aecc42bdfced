-- What is said of the metrics elsewhere: on their page, on the dashboard, in
-- the alerts.
local dkjson = require "dkjson"
local metrics = require "zklock.metrics"
local prometheus = require "support.prometheus"
local quote = require "support.command".quote
local read = require "support.files".read

local root = os.getenv "SPEC_ROOT" or "."
local PAGE = "doc/metrics.md"
local DASHBOARD = "package/grafana/zklock.json"
local RULES, TESTS = "package/prometheus/zklock.rules.yml",
  "package/prometheus/zklock.rules.test.yml"

local families = prometheus.read(metrics.text {})

-- What is to be written for it in an expression.
local function family_of(name)
  local base = name:match "^(.*)_bucket$" or name:match "^(.*)_sum$"
    or name:match "^(.*)_count$"
  return families[name] or base and families[base]
end

local function check_names(text)
  local n = 0
  for name in text:gmatch "%f[%w_](zklock_[%w_]+)" do
    assert.is_truthy(family_of(name), name)
    n = n + 1
  end
  return n
end

local function run(command)
  local pipe = io.popen(("(%s) 2>&1; echo $?"):format(command))
  local said = pipe:read "*a"
  pipe:close()
  return said
end

local has_promtool = run "command -v promtool >/dev/null" == "0\n"

-- All expressions of a dashboard, as Grafana sends them.
local function expressions(value, found)
  for key, item in pairs(value) do
    if type(item) == "table" then
      expressions(item, found)
    elseif key == "expr" then
      found[#found + 1] = item:gsub("%$__rate_interval", "5m")
        :gsub("%$__range", "1h"):gsub("%$job", ".*"):gsub("%$path", ".*")
    end
  end
  return found
end

describe("The metrics #once #layer", function()
  it("are all on their page, with their types and meanings", function()
    local page = read(root .. "/" .. PAGE)
    local n = 0
    for name, family in pairs(families) do
      local row = page:match("\n| `" .. name .. "` | ([^\n]+)")
      assert.is_truthy(row, name)
      assert.are.equal(family.type, row:match "^%a+", name)
      n = n + 1
    end
    assert.are.equal(22, n)
    assert.is_true(check_names(page) > n)
  end)

  it("are all on the dashboard, which asks for no others", function()
    local text = read(root .. "/" .. DASHBOARD)
    assert.is_true(check_names(text) > 16)
    for name, family in pairs(families) do
      local used = family.type == "histogram" and name .. "_bucket" or name
      assert.is_truthy(text:find(used, 1, true), name)
    end
    local board = dkjson.decode(text)
    local ids = {}
    for _, panel in ipairs(board.panels) do
      assert.is_nil(ids[panel.id], panel.title)
      ids[panel.id] = true
      local place = panel.gridPos
      assert.is_true(place.x + place.w <= 24, panel.title)
    end
  end)

  it("are what the alerts ask for, and their tests", function()
    assert.is_true(check_names(read(root .. "/" .. RULES)) > 8)
    assert.is_true(check_names(read(root .. "/" .. TESTS)) > 8)
    local page = read(root .. "/" .. PAGE)
    for name in read(root .. "/" .. RULES):gmatch "alert: (%w+)" do
      assert.is_truthy(page:find("| `" .. name .. "` |", 1, true), name)
    end
    local alerts, steps = 0, 0
    for _ in read(root .. "/" .. RULES):gmatch "alert: " do
      alerts = alerts + 1
    end
    for _ in read(root .. "/" .. RULES):gmatch "do: doc/troubleshooting%.md" do
      steps = steps + 1
    end
    assert.are.equal(alerts, steps)
  end)

  it("have alerts and a dashboard that Prometheus understands", function()
    if not has_promtool then return pending "promtool is not installed" end
    assert.matches("SUCCESS: 9 rules found.*\n0\n$",
      run("promtool check rules " .. quote(root .. "/" .. RULES)))
    assert.matches("SUCCESS\n\n0\n$",
      run("promtool test rules " .. quote(root .. "/" .. TESTS)))
    local rules, n = {}, 0
    for i, expression in ipairs(expressions(dkjson.decode(read(root .. "/"
        .. DASHBOARD)), {})) do
      rules[i] = ("  - {record: 'a%d', expr: '%s'}\n"):format(i,
        (expression:gsub("'", "''")))
      n = i
    end
    assert.is_true(n > 20)
    local name = os.tmpname()
    local file = assert(io.open(name, "w"))
    file:write("groups:\n- name: a\n  rules:\n" .. table.concat(rules))
    file:close()
    local said = run("promtool check rules " .. name)
    os.remove(name)
    assert.matches(("SUCCESS: %d rules found.*\n0\n$"):format(n), said)
  end)
end)

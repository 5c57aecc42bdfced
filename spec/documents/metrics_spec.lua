-- What is shipped and said of the metrics: their page, the alert rules
-- (package/prometheus), the dashboard for Grafana (package/grafana).
local dkjson = require "dkjson"
local Meters = require "zklock.meters"
local metrics = require "zklock.metrics"
local prometheus = require "support.prometheus"
local read = require "support.files".read

local root = os.getenv "SPEC_ROOT" or "."
local page = read(root .. "/doc/metrics.md")
local operations = read(root .. "/doc/operations.md")

-- Expressions of Prometheus: are their names and labels those that there are?

local function histogram(n)
  local buckets = {}
  for i = 1, #Meters.bounds + 1 do buckets[i] = n end
  return { count = n * #buckets, sum = 2 * n, buckets = buckets }
end

local function snapshot()
  local locks = {}
  for i = 1, 2 do
    locks[i] = { path = "/" .. i, mode = "mutex", waits = histogram(i),
      holds = histogram(i), refusals = { timeout = 1, busy = 2 },
      losses = { lease_expired = 1 }, waiting = i, holding = i,
      oldest_wait = 2 + i, oldest_hold = 2 + i }
  end
  return { hosts = "zk1:2181", state = "connected", timeout = 10, lease = 4,
    counters = { reconnects = 1, expirations = 1, heartbeats = 5, requests = 50,
      pending_releases = 2, refused_releases = 1 },
    locks = locks }
end

-- The families of a worker that does all that there is to tell of.
local families = prometheus.read(metrics.text { { snapshot = snapshot(),
  labels = { session = "1", worker = "1", hosts = "zk1:2181" } } })

-- What Prometheus adds to each sample, and what it makes.
local known_labels = { job = true, instance = true, alertname = true,
  alertstate = true, severity = true }
for _, family in pairs(families) do
  for _, sample in ipairs(family.samples) do
    for label in pairs(sample.labels) do known_labels[label] = true end
  end
end

-- The family whose name this is, as it is written in an expression.
local function family_of(name)
  local base = name:match "^(.*)_bucket$" or name:match "^(.*)_sum$"
    or name:match "^(.*)_count$"
  local family = families[name]
  if family then return family.type ~= "histogram" and family or nil end
  return base and families[base]
end

-- All names of families in a text are there, more than `least` of them.
local function check_names(text, least)
  local n = 0
  for name in text:gmatch "%f[%w_:](zklock_[%w_]+)" do
    assert.is_truthy(family_of(name), name)
    n = n + 1
  end
  assert.is_true(n > least, n)
end

-- So are the labels that an expression names.
local function check_labels(text)
  local function look(label)
    assert.is_true(known_labels[label], label .. ": " .. text)
  end
  for list in text:gmatch "{([^}]*)}" do
    for label in list:gmatch '([%w_]+)%s*[=!]~?"' do look(label) end
  end
  for _, word in ipairs { "by", "on", "ignoring", "without", "group_left" } do
    for list in text:gmatch("%f[%w_]" .. word .. " ?%(([^)]*)%)") do
      for label in list:gmatch "[%w_]+" do look(label) end
    end
  end
end

-- The page.

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
    assert.equal(21, n)
    -- (A histogram may be named as what it is.)
    for name in (page .. operations):gmatch "%f[%w_:](zklock_[%w_]+)" do
      assert.is_truthy(families[name] or family_of(name), name)
    end
  end)

  it("have the labels that their page lists, and as many series", function()
    local codes = {}
    local listed = page:match
      "\n| `zklock_session_refusals_total` |.-label `code`: (.-):"
    for code in listed:gmatch "`([%l_]+)`" do
      codes[#codes + 1] = code
    end
    assert.same(metrics.codes, codes)
    local function count(locks)
      local n = 0
      for _, family in pairs(prometheus.read(metrics.text { { labels = {},
        snapshot = { state = "connected", timeout = 10, lease = 0,
          counters = {}, locks = locks } } })) do
        n = n + #family.samples
      end
      return n
    end
    local of_path, of_session =
      page:match "are (%d+) series.- session has (%d+)"
    assert.equal(count {}, tonumber(of_session))
    local meters = { Meters.meter("/a", "mutex") }
    assert.equal(count(meters) - count {}, tonumber(of_path))
  end)

  it("are asked for by queries of names and labels that there are", function()
    local n = 0
    for query in (page .. operations):gmatch "\n```promql\n(.-)\n```" do
      check_names(query, 0)
      check_labels(query)
      n = n + 1
    end
    assert.equal(3, n)
  end)
end)

-- The alerts.

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
    check_names(rules, 15)
    local n = 0
    each_expression(function(expression)
      check_labels(expression)
      n = n + 1
    end)
    assert.is_true(n >= #alerts)
  end)

  it("are on the page for operators, and say where to look", function()
    for _, name in ipairs(alerts) do
      assert.is_truthy(operations:find("| `" .. name .. "` |", 1, true), name)
    end
    for _, name in ipairs(records) do
      assert.is_truthy(operations:find("`" .. name .. "`", 1, true), name)
    end
    assert.equal(#alerts, #all(rules, "to do: doc/errors%.md"))
    assert.equal(#alerts, #all(rules, "severity: (%l+)"))
  end)

  it("have each a test that they are raised, of series that there are",
  function()
    for _, file in ipairs(TESTS) do
      local text = read(PLACE .. file)
      local n = 0
      for name, labels in text:gmatch "series: '([%w_]+){([^}]*)}" do
        assert.is_truthy(family_of(name), name)
        check_labels("{" .. labels .. "}")
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
end)

-- The dashboard.

local text = read(root .. "/package/grafana/zklock.json")
local board = dkjson.decode(text)

describe("The dashboard", function()
  it("shows each of the metrics, and no others", function()
    check_names(text, 22)
    for name, family in pairs(families) do
      local used = family.type == "histogram" and name .. "_bucket" or name
      assert.is_truthy(text:find(used, 1, true), name)
    end
  end)

  it("asks by labels that there are, narrowed as one has chosen", function()
    local asked = {}
    for _, panel in ipairs(board.panels) do
      for _, target in ipairs(panel.targets) do
        check_labels(target.expr)
        for labels in target.expr:gmatch "zklock_[%w_]+(%b{})" do
          assert.is_truthy(labels:find('job=~"$job", instance=~"$instance"', 1,
            true), target.expr)
        end
        assert.is_nil(target.expr:find "zklock_[%w_]+%f[^%w_{]", target.expr)
        asked[#asked + 1] = target.expr
      end
    end
    local known = { datasource = true, __rate_interval = true, __range = true }
    for _, variable in ipairs(board.templating.list) do
      known[variable.name] = true
    end
    for name in table.concat(asked, " "):gmatch "%$([%l_]+)" do
      assert.is_true(known[name], name)
    end
  end)
end)

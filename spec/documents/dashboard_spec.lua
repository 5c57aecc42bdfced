-- The dashboard for Grafana: package/grafana.
local dkjson = require "dkjson"
local expressions = require "support.expressions"
local promtool = require "support.promtool"
local read = require "support.files".read

local root = os.getenv "SPEC_ROOT" or "."
local text = read(root .. "/package/grafana/zklock.json")
local board = dkjson.decode(text)
local families = expressions.families()

-- `fn(expression, panel)` of each, as Grafana sends it.
local function each_expression(fn)
  for _, panel in ipairs(board.panels) do
    for _, target in ipairs(panel.targets) do
      fn(target.expr:gsub("%$__rate_interval", "5m")
        :gsub("%$__range", "1h"):gsub("%$%l+", ".*"), panel)
    end
  end
end

local function unit_of(expression)
  if expression:find("_seconds", 1, true) then return "s" end
  if not expression:find "%f[%w_]rate%(" then return "short" end
  if expression:find(" / ", 1, true) then return "percentunit" end
  return "ops"
end

-- Ninety minutes of these in two instances, as promtool's tests have them.
local function write_series(lines)
  for _, family in pairs(families) do
    for _, sample in ipairs(family.samples) do
      local labels = {}
      for name, value in pairs(sample.labels) do
        labels[#labels + 1] = ('%s="%s"'):format(name, value)
      end
      local v = ("%.0f"):format(sample.value)
      for instance = 1, 2 do
        lines[#lines + 1] = ("      - {series: '%s{job=\"shop\",instance="
          .. "\"%d\",%s}', values: '%s'}"):format(sample.name, instance,
          table.concat(labels, ","), family.type == "gauge" and v .. "x90"
          or v .. "+" .. v .. "x90")
      end
    end
  end
end

describe("The dashboard", function()
  it("shows each of the metrics, and no others", function()
    local unknown, n = expressions.unknown_names(text)
    assert.same({}, unknown)
    assert.is_true(n > 22)
    for name, family in pairs(families) do
      local used = family.type == "histogram" and name .. "_bucket" or name
      assert.is_truthy(text:find(used, 1, true), name)
    end
  end)

  it("asks by labels that there are, narrowed as one has chosen", function()
    each_expression(function(expression, panel)
      assert.same({}, expressions.unknown_labels(expression), panel.title)
    end)
    local asked = {}
    for _, panel in ipairs(board.panels) do
      for _, target in ipairs(panel.targets) do
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

  it("has panels of their own number and place, in their units", function()
    local ids, places = {}, {}
    for _, panel in ipairs(board.panels) do
      assert.is_nil(ids[panel.id], panel.title)
      ids[panel.id] = true
      local place = panel.gridPos
      assert.is_true(place.x + place.w <= 24, panel.title)
      for x = place.x, place.x + place.w - 1 do
        for y = place.y, place.y + place.h - 1 do
          local key = x .. " " .. y
          assert.is_nil(places[key], panel.title)
          places[key] = true
        end
      end
    end
    each_expression(function(expression, panel)
      local unit = panel.fieldConfig.defaults.unit
      assert.equal(unit_of(expression), unit == "reqps" and "ops" or unit,
        panel.title)
    end)
  end)

  it("has something to show of several instances and workers", function()
    local missing = promtool.missing()
    if missing then return pending(missing) end
    local lines = { "tests:", "  - interval: 1m", "    input_series:" }
    write_series(lines)
    lines[#lines + 1] = "    promql_expr_test:"
    local n = 0
    each_expression(function(expression)
      lines[#lines + 1] = ("      - {expr: %s, eval_time: 80m, "
        .. "exp_samples: []}"):format(
        promtool.quote("absent(" .. expression .. ")"))
      n = n + 1
    end)
    assert.is_true(n > 24)
    assert.matches("SUCCESS\n\n0\n$",
      promtool.ask("test rules", table.concat(lines, "\n") .. "\n"))
  end)
end)

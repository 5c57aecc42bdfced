-- What the metrics' page says of them.
local expressions = require "support.expressions"
local metrics = require "zklock.metrics"
local prometheus = require "support.prometheus"
local read = require "support.files".read

local root = os.getenv "SPEC_ROOT" or "."
local page = read(root .. "/doc/metrics.md")
local families = prometheus.read(metrics.text {})

describe("The metrics #once #layer", function()
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

  it("have names as Prometheus wants them", function()
    for name, family in pairs(families) do
      assert.equal(family.type == "counter", name:find "_total$" ~= nil, name)
      assert.matches("^zklock_session_%l[%l_]*$", name:gsub("_lock_",
        "_session_"))
    end
  end)
end)

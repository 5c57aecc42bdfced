-- The pictures of the documents: are they what their scripts draw, do they say
-- what the text says?
package.path = "./doc/pictures/make/?.lua;" .. package.path
local pictures = require "pictures"
local files = require "support.files"

local read = files.read

describe("The pictures", function()
  it("are what `make pictures` draws", function()
    local count = 0
    for directory, drawn in pairs {
      ["doc/pictures"] = pictures.drawn(),
      ["doc/bench"] = pictures.plots "doc/bench/points.tsv",
    } do
      for name, source in pairs(drawn) do
        count = count + 1
        assert.equal(source, read(("%s/%s.svg"):format(directory, name)))
      end
    end
    assert.equal(8, count)
  end)

  it("say what the tables say of servers that fall silent", function()
    local _, numbers = dofile "doc/pictures/make/silence.lua"
    local row = assert(
      read "doc/operations.md":match "\n(| %*%*10%*%*[^\n]+)",
      "doc/operations.md has no row for 10 seconds")
    local cells = {}
    for low, high in row:gmatch "([%d.]+) to ([%d.]+)" do
      cells[#cells + 1] = { tonumber(low), tonumber(high) }
    end
    assert.same({ numbers.lost, numbers.lost_with_tick, numbers.passes },
      cells)
  end)

  it("of the benchmark show what the tables of doc/dev/performance.md say",
  function()
    local plots = require "plots"
    local all = plots.read(read "doc/bench/points.tsv")
    local page = read "doc/dev/performance.md"
    local order = { "zklock", "zklock-luajit", "curator", "go", "node", "kazoo",
      [9] = "raw", [10] = "st" }
    local compared = 0
    -- The first table has operations a second, and behind two columns with
    -- ratios stand those of the reference programs, from a table of their own.
    local cells = {}
    local line = page:match "\n| W1p%-64:[^|]+|([^\n]+)"
      .. page:match "\n| W1p%-64 |([^\n]+)"
    for cell in line:gmatch "([%d.–]+)%s+|" do
      cells[#cells + 1] = tonumber(cell:match "^[%d.]+")
    end
    for i, name in pairs(order) do
      for _, series in ipairs(all.workers.throughput) do
        for _, point in ipairs(series) do
          if series.name == name and point.x == 64 then
            assert.near(cells[i], point.median, 0.5)
            compared = compared + 1
          end
        end
      end
    end
    assert.equal(8, compared)
  end)
end)

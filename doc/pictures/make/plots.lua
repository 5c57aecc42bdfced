-- The plots of the benchmark, from the points that bench/harness/points.py
-- writes: lines "plot panel series x median least greatest", with tabs.
local Svg = require "svg"

local plots = {}

-- Each driver has its colour and mark in all plots.
local STYLES = {
  ["zklock"] = { 1, "disc" }, ["zklock-luajit"] = { 2, "square" },
  ["raw"] = { 3, "cross" }, ["st"] = { 4, "plus" },
  ["curator"] = { 5, "up" }, ["go"] = { 6, "down" },
  ["node"] = { 7, "diamond" }, ["kazoo"] = { 8, "plus" },
  -- and three ways to wait
  ["watch the predecessor"] = { 1, "disc" },
  ["watch the directory"] = { 5, "up" }, ["poll"] = { 8, "diamond" },
}
local OTHERS = { 3, "diamond" } -- a driver of the user's own

local QUEUE = "sessions in the queue"
local VIEWS = {
  { name = "queue", title = "A handoff, by the length of the queue",
    { "latency", "Handoff, median latency, in ms", QUEUE },
    { "bytes", "Bytes a handoff, in kB, both ways", QUEUE } },
  { name = "workers", title = "Lock cycles a second, by the number of workers",
    { "throughput", "acquire and release, per second",
      "workers of one session, a path each" } },
  { name = "herd", title = "Three ways to wait, by the length of the queue",
    { "requests", "Requests a handoff", QUEUE },
    { "bytes", "Bytes a handoff, in kB, both ways", QUEUE } },
  { name = "tail", title = "Handoffs where holders work for 2 ms",
    { "median", "Handoff with 2 ms of work, median, in ms", QUEUE },
    { "p99", "… and its 99th percentile, in ms", QUEUE } },
}

local WIDTH, HEIGHT = 520, 318 -- of a panel, with its words
local AREA = { x = 66, y = 44, width = 434, height = 214 }

--- The points of a text: plot -> panel -> { series }, each with its name.
function plots.read(text)
  local all = {}
  for line in text:gmatch "[^\n]+" do
    local fields = {}
    for field in line:gmatch "[^\t]+" do fields[#fields + 1] = field end
    local plot, panel, name = fields[1], fields[2], fields[3]
    local x, median, least, greatest = tonumber(fields[4]),
      tonumber(fields[5]), tonumber(fields[6]), tonumber(fields[7])
    if x then -- and no heading
      all[plot] = all[plot] or {}
      all[plot][panel] = all[plot][panel] or {}
      local list = all[plot][panel]
      local series = list[#list]
      if not series or series.name ~= name then
        series = { name = name }
        list[#list + 1] = series
      end
      series[#series + 1] = { x = x, median = median, least = least,
        greatest = greatest }
    end
  end
  return all
end

local marks = {}

function marks.disc(picture, x, y, class)
  picture:add('<circle class="%s" cx="%s" cy="%s" r="4"/>', class,
    Svg.number(x), Svg.number(y))
end

-- A path whose numbers are distances from x, y.
local function mark(d, kind)
  return function(picture, x, y, class)
    picture:path(("M%s %s%s"):format(Svg.number(x), Svg.number(y), d),
      kind == "line" and class:gsub("^m", "line s") or class)
  end
end

marks.square = mark "m-3.5-3.5h7v7h-7z"
marks.up = mark "m0-4.5l4.5 8h-9z"
marks.down = mark "m0 4.5l4.5-8h-9z"
marks.diamond = mark "m0-5l4 5-4 5-4-5z"
marks.plus = mark("m-5 0h10m-5-5v10", "line")
marks.cross = mark("m-4-4l8 8m0-8l-8 8", "line")

-- From the least to the greatest of all, with a little room.
local function extent(list, least, greatest)
  local low, high = math.huge, 0
  for _, series in ipairs(list) do
    for _, point in ipairs(series) do
      low = math.min(low, point[least])
      high = math.max(high, point[greatest])
    end
  end
  local room = (high / low) ^ 0.05
  return low / room, high * room
end

local function scale(low, high, from, length)
  return function(value)
    return from + length * math.log(value / low) / math.log(high / low)
  end
end

-- 1, 2, 5, 10 …; where there would be many: 1, 10, 100.
local function ticks(low, high)
  local list = {}
  local steps = high / low > 3000 and { 1 } or { 1, 2, 5 }
  for power = math.floor(math.log(low) / math.log(10)), 9 do
    for _, step in ipairs(steps) do
      local value = step * 10 ^ power
      if value >= low and value <= high then list[#list + 1] = value end
    end
  end
  return list
end

local function abscissae(list)
  local seen, sorted = {}, {}
  for _, series in ipairs(list) do
    for _, point in ipairs(series) do
      if not seen[point.x] then
        seen[point.x] = true
        sorted[#sorted + 1] = point.x
      end
    end
  end
  table.sort(sorted)
  return sorted
end

-- 10 000 is read more easily than 10000.
local function spell(value)
  local text = ("%.10g"):format(value)
  if value >= 10000 then text = text:gsub("(%d%d%d)$", "\194\160%1") end
  return text
end

local function axes(picture, top, list, xs, ys, low, high)
  local left, right = AREA.x, AREA.x + AREA.width
  local bottom = top + AREA.y + AREA.height
  for _, value in ipairs(ticks(low, high)) do
    picture:line(left, ys(value), right, ys(value), "grid")
    picture:text(left - 7, ys(value) + 5, "small end", spell(value))
  end
  for _, value in ipairs(abscissae(list)) do
    picture:line(xs(value), bottom, xs(value), bottom + 5, "stroke")
    picture:text(xs(value), bottom + 21, "small middle", spell(value))
  end
  picture:line(left, bottom, right, bottom, "stroke")
end

local function join(points)
  return "M" .. table.concat(points, "L")
end

local function curve(picture, series, style, xs, ys)
  local middle, upper, lower = {}, {}, {}
  for i, point in ipairs(series) do
    local at = Svg.number(xs(point.x)) .. " "
    middle[i] = at .. Svg.number(ys(point.median))
    upper[i] = at .. Svg.number(ys(point.greatest))
    table.insert(lower, 1, at .. Svg.number(ys(point.least)))
  end
  if #series > 1 then
    picture:path(join(upper) .. "L" .. table.concat(lower, "L") .. "z",
      "area m" .. style[1])
    picture:path(join(middle), "line s" .. style[1])
  end
  for _, point in ipairs(series) do
    marks[style[2]](picture, xs(point.x), ys(point.median), "m" .. style[1])
  end
end

local function draw_panel(picture, top, words, list)
  local low, high = extent(list, "least", "greatest")
  local first, last = extent(list, "x", "x")
  local xs = scale(first, last, AREA.x, AREA.width)
  local ys = scale(low, high, top + AREA.y + AREA.height, -AREA.height)
  picture:text(14, top + 26, "strong", words[2])
  picture:text(AREA.x + AREA.width / 2, top + AREA.y + AREA.height + 43,
    "small middle soft", words[3])
  axes(picture, top, list, xs, ys, low, high)
  -- What this is about comes first, and lies above the others.
  for i = #list, 1, -1 do
    curve(picture, list[i], STYLES[list[i].name] or OTHERS, xs, ys)
  end
end

local function draw_legend(picture, top, list)
  local columns = #list > 3 and 3 or 2
  for i, series in ipairs(list) do
    local x = 24 + (i - 1) % columns * (WIDTH - 20) / columns
    local y = top + math.floor((i - 1) / columns) * 24
    local style = STYLES[series.name] or OTHERS
    picture:line(x - 8, y, x + 8, y, "line s" .. style[1])
    marks[style[2]](picture, x, y, "m" .. style[1])
    picture:text(x + 16, y + 5, "small", series.name:match "[^/]+$")
  end
  return math.ceil(#list / columns) * 24
end

local function describe(view, panels)
  local said = { view.title .. ". Both axes are logarithmic." }
  for _, words in ipairs(view) do
    for _, series in ipairs(panels[words[1]] or {}) do
      local values = {}
      for i, point in ipairs(series) do
        values[i] = ("%.3g (%.10g)"):format(point.median, point.x)
      end
      if series.name == "zklock" or view.name == "herd" then
        said[#said + 1] = ("%s, %s, by %s: %s."):format(words[2], series.name,
          words[3], table.concat(values, ", "))
      end
    end
  end
  return table.concat(said, " ")
end

local function draw(view, panels)
  local present, longest = {}, {}
  for _, words in ipairs(view) do
    local list = panels[words[1]]
    if list then
      present[#present + 1] = words
      if #list > #longest then longest = list end
    end
  end
  local rows = math.ceil(#longest / (#longest > 3 and 3 or 2))
  local picture = Svg.new {
    width = WIDTH, height = #present * HEIGHT + rows * 24 + 14,
    title = view.title, desc = describe(view, panels),
  }
  for i, words in ipairs(present) do
    draw_panel(picture, (i - 1) * HEIGHT, words, panels[words[1]])
  end
  draw_legend(picture, #present * HEIGHT + 14, longest)
  return picture:source()
end

--- The plots for which there are points: name -> the file's text.
function plots.draw(text)
  local all, drawn = plots.read(text), {}
  for _, view in ipairs(VIEWS) do
    if all[view.name] then drawn[view.name] = draw(view, all[view.name]) end
  end
  return drawn
end

return plots

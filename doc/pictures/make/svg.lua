--- What all pictures are drawn with: SVG that is read on light and on dark
-- pages, by people and by programs that read aloud.
--
--     local picture = Svg.new { width = 520, height = 200,
--       title = "A queue", desc = "Three processes …" }
--     picture:rect(10, 10, 150, 60, "good")
--     picture:text(85, 40, "middle strong", "process A")
--     picture:arrow({ { 10, 90 }, { 80, 90 } }, "stroke")
--     io.write(picture:source())
--
-- Colours have a name by what they say, and two values. They are classes, not
-- CSS variables, which not every program knows. A picture has a ground of its
-- own: who shows a dark page beside a light system still sees ink on paper.
-- A phone shows 520 units on some 320 points, so no text is smaller than 14.
local Svg = {}
Svg.__index = Svg

-- name = { light, dark }: what is drawn, what is filled, what is written.
local INK = { "#1f2428", "#e4eaf0" }
local SOFT = { "#566069", "#a3aeb9" }
local PAPER = { "#ffffff", "#0d1117" }

local FILLED = { -- fill, stroke, text
  plain = { { "#f4f6f8", "#1a212a" }, { "#8b96a1", "#66727f" }, INK },
  good = { { "#dcf5e3", "#10301c" }, { "#1d7f3c", "#3fae5c" },
    { "#0f5f2a", "#7fdd97" } },
  wait = { { "#fdf3cf", "#37290b" }, { "#98690a", "#c9952a" },
    { "#704c00", "#efc469" } },
  bad = { { "#fde5e3", "#3d1718" }, { "#c4262e", "#ec5a54" },
    { "#99161f", "#ffa39b" } },
  note = { { "#e0effd", "#10284a" }, { "#1c66c4", "#5a9cf2" },
    { "#0f4a99", "#a5cdff" } },
}

-- For plots: seven colours that the colour-blind can tell apart, light and
-- dark; and two greys for what is no lock of its kind.
Svg.SERIES = {
  { "#c8344a", "#ff7b8c" }, { "#8f2a6b", "#e58ac4" },
  { "#3a4046", "#d5dbe1" }, { "#7b838b", "#8d97a2" },
  { "#2f66a6", "#79b0f0" }, { "#1790b5", "#57cdea" },
  { "#1d7a35", "#58bd6c" }, { "#907d0e", "#d8c64a" },
}

local SANS = "system-ui,sans-serif"
local MONO = "ui-monospace,monospace"

local function rule(selector, values, property, scheme)
  return ("%s{%s:%s}"):format(selector, property, values[scheme])
end

local function colours(scheme)
  local rules = {
    rule(".paper", PAPER, "fill", scheme),
    rule("text", INK, "fill", scheme),
    rule(".soft", SOFT, "fill", scheme),
    rule(".stroke,.grid", FILLED.plain[2], "stroke", scheme),
    rule(".head", SOFT, "fill", scheme),
  }
  for name, values in pairs(FILLED) do
    if name ~= "plain" then
      rules[#rules + 1] = rule(".on-" .. name, values[3], "fill", scheme)
      rules[#rules + 1] = rule(".line-" .. name, values[2], "stroke", scheme)
      rules[#rules + 1] = rule(".head-" .. name, values[2], "fill", scheme)
    end
    rules[#rules + 1] = (".%s{fill:%s;stroke:%s}"):format(name,
      values[1][scheme], values[2][scheme])
  end
  for i, values in ipairs(Svg.SERIES) do
    rules[#rules + 1] = (".s%d{stroke:%s}.m%d{fill:%s;stroke:%s}"):format(i,
      values[scheme], i, values[scheme], values[scheme])
  end
  table.sort(rules) -- the same picture each time
  return rules
end

local SHAPES = {
  "text{font:15px " .. SANS .. "}",
  ".small{font-size:14px}", ".large{font-size:17px}",
  ".strong{font-weight:600}", ".mono{font-family:" .. MONO .. "}",
  ".middle{text-anchor:middle}", ".end{text-anchor:end}",
  ".line,.stroke,.grid{fill:none}", ".line,.stroke{stroke-width:1.6}",
  ".grid{stroke-width:.7;stroke-opacity:.45}",
  ".dashed{stroke-dasharray:5 4}", ".open{fill:none}",
  ".area.area{fill-opacity:.13;stroke:none}", -- twice: it outdoes a colour
}

local escapes = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;",
  ['"'] = "&quot;" }

function Svg.escape(text) return (text:gsub('[&<>"]', escapes)) end

-- 12 for 12.0, 12.3 for 12.34: no more digits than can be seen.
local function number(value)
  return (("%.1f"):format(value):gsub("%.0$", ""))
end
Svg.number = number

--- `view`: width, height, title, desc; style: CSS beside the usual; ground =
-- the class of its ground.
function Svg.new(view)
  local self = setmetatable({ view = view, parts = {} }, Svg)
  self:rect(0.5, 0.5, view.width - 1, view.height - 1,
    view.ground or "paper", 6)
  return self
end

function Svg:add(format, ...)
  self.parts[#self.parts + 1] = select("#", ...) == 0 and format
    or format:format(...)
end

function Svg:rect(x, y, width, height, class, radius)
  self:add('<rect class="%s" x="%s" y="%s" width="%s" height="%s"%s/>', class,
    number(x), number(y), number(width), number(height),
    radius == 0 and "" or (' rx="%s"'):format(radius or 5))
end

--- Several words are several lines, if they come in a table.
function Svg:text(x, y, class, words, leading)
  if type(words) == "table" then
    for i, line in ipairs(words) do
      self:text(x, y + (i - 1) * (leading or 19), class, line)
    end
    return
  end
  self:add('<text%s x="%s" y="%s">%s</text>',
    class == "" and "" or (' class="%s"'):format(class), number(x), number(y),
    Svg.escape(words))
end

function Svg:path(d, class)
  self:add('<path class="%s" d="%s"/>', class, d)
end

function Svg:line(x1, y1, x2, y2, class)
  self:path(("M%s %sL%s %s"):format(number(x1), number(y1), number(x2),
    number(y2)), class)
end

-- An arrow's head at x, y, which comes from the direction dx, dy.
function Svg:head(x, y, dx, dy, class)
  local length = math.sqrt(dx * dx + dy * dy)
  dx, dy = dx / length, dy / length
  self:path(("M%s %sL%s %sL%s %sz"):format(number(x), number(y),
    number(x - 9 * dx - 4.5 * dy), number(y - 9 * dy + 4.5 * dx),
    number(x - 9 * dx + 4.5 * dy), number(y - 9 * dy - 4.5 * dx)), class)
end

--- Along these points; `tone` is one of good, wait, bad, note, or nothing.
function Svg:arrow(points, tone, more)
  local d = {}
  for i, point in ipairs(points) do
    d[i] = ("%s%s %s"):format(i == 1 and "M" or "L", number(point[1]),
      number(point[2]))
  end
  local class = tone and "line line-" .. tone or "stroke"
  self:path(table.concat(d), class .. (more and " " .. more or ""))
  local last, before = points[#points], points[#points - 1]
  self:head(last[1], last[2], last[1] - before[1], last[2] - before[2],
    tone and "head-" .. tone or "head")
end

--- A box with words in its middle.
function Svg:box(x, y, width, height, class, words)
  self:rect(x, y, width, height, class)
  local lines = type(words) == "table" and words or { words }
  local first = y + height / 2 + 5.5 - (#lines - 1) * 9.5
  local tone = class:match "^%l+"
  for i, line in ipairs(lines) do
    local own = line:match "^%*" and " strong" or line:match "^`" and " mono"
      or ""
    self:text(x + width / 2, first + (i - 1) * 19,
      "middle" .. (tone == "plain" and "" or " on-" .. tone) .. own,
      (line:gsub("^[*`]", "")))
  end
end

-- Only the rules of classes that occur.
local function used(rules, body)
  local kept = {}
  for _, one in ipairs(rules) do
    local classes, occurs = one:match "^([^{]*){", false
    for name in classes:gmatch "%.([%w-]+)" do
      occurs = occurs or body:find('[" ]' .. name:gsub("%-", "%%-") .. '[" ]')
    end
    if occurs or classes:find "^text" then kept[#kept + 1] = one end
  end
  return table.concat(kept)
end

function Svg:source()
  local view = self.view
  local body = table.concat(self.parts, "\n")
  return ([[
<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d"
 viewBox="0 0 %d %d" role="img" aria-labelledby="t d">
<title id="t">%s</title>
<desc id="d">%s</desc>
<style>%s%s%s
@media (prefers-color-scheme:dark){%s}</style>
%s
</svg>
]]):format(view.width, view.height, view.width, view.height,
    Svg.escape(view.title), Svg.escape(view.desc), used(SHAPES, body),
    used(colours(1), body), view.style or "", used(colours(2), body), body)
end

return Svg

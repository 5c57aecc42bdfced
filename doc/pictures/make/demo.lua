--- The demo, recorded: an SVG that plays again and again, from what a terminal
-- has shown: { { at = seconds, screen = "…" }, … }.
--
-- What stands in a place is drawn once, for as long as it stands there: what
-- appears at frame 3 is in the group .a3, what goes at frame 7 has the class
-- .z7, and style sheets let the two come and go. Without animations, or for
-- those who do not want any, the last frame is what there is.
local Svg = require "svg"

local demo = {}

local CELL, LINE = 8.5, 18 -- of a character
local MARGIN = 10
local PAUSE = 8            -- seconds for which the last frame stays
local LONGEST = 1.2        -- no frame stays for longer, in the middle

-- What the demo uses of a terminal's colours.
local CLASSES = { ["1"] = "strong", ["2"] = "soft", ["31"] = "on-bad",
  ["32"] = "on-good", ["33"] = "on-wait" }
local OFF = { ["0"] = "", [""] = "", ["39"] = "on-", ["22"] = "s",
  ["49"] = "the ground, which it never changes" }

local function remove(style, prefix)
  for class in pairs(style) do
    if class:sub(1, #prefix) == prefix then style[class] = nil end
  end
end

local function restyle(style, codes)
  for code in (codes .. ";"):gmatch "(%d*);" do
    local class, off = CLASSES[code], OFF[code]
    if class then
      if class:find "^on%-" then remove(style, "on-") end -- one at a time
      style[class] = true
    elseif off then
      remove(style, off)
    else
      error("a colour that the demo does not use: " .. code)
    end
  end
end

local function spell(style)
  local classes = {}
  for class in pairs(style) do classes[#classes + 1] = class end
  table.sort(classes)
  return table.concat(classes, " ")
end

-- The runs of one line: column, text, class; spaces at both ends are nothing.
local function runs(line, style, emit)
  local column, at = 0, 1
  local run
  local function finish()
    if not run then return end
    local blank = #run.text:match "^ *"
    local text = run.text:match "^ *(.-) *$"
    if text ~= "" then emit(run.column + blank, text, run.class) end
    run = nil
  end
  while at <= #line do
    local codes, after = line:match("^\27%[([%d;]*)m()", at)
    after = after or line:match("^\27%(B()", at)
    if after then
      if codes then
        finish()
        restyle(style, codes)
      end
      at = after
    else
      local character = line:match("^[%z\1-\127\194-\244][\128-\191]*", at)
      -- Gaps of two and more separate: what is behind them stays if it can.
      if character == " " and run and run.text:find "  $" then finish() end
      run = run or { column = column, text = "", class = spell(style) }
      run.text = run.text .. character
      column, at = column + 1, at + #character
    end
  end
  finish()
end

local function length(text)
  return #text:gsub("[\128-\191]", "")
end

-- Everything that has stood anywhere: { from =, to =, row =, … }, with the
-- numbers of frames; `to` is nil for what is there at the end.
local function intervals(frames)
  local open, all = {}, {}
  for n, frame in ipairs(frames) do
    local present, row, style = {}, 0, {}
    for line in frame.screen:gmatch "([^\n]*)\n" do
      runs(line, style, function(column, text, class)
        local key = table.concat({ row, column, text, class }, "\0")
        present[key] = true
        if not open[key] then
          open[key] = { from = n, row = row, column = column, text = text,
            class = class }
          all[#all + 1] = open[key]
        end
      end)
      row = row + 1
    end
    for key, one in pairs(open) do
      if not present[key] then
        one.to, open[key] = n, nil
      end
    end
  end
  return all
end

-- When each frame begins, in percent of the whole; and the whole, in seconds.
local function schedule(frames)
  local begins, now = {}, 0
  for n, frame in ipairs(frames) do
    begins[n] = now
    local next_one = frames[n + 1]
    now = now + (next_one and math.min(LONGEST, next_one.at - frame.at)
      or PAUSE)
  end
  local percents = {}
  for n, begin in ipairs(begins) do
    percents[n] = ("%.2f%%"):format(begin / now * 100)
  end
  return percents, now
end

local function animation(all, percents, seconds)
  local from, to, rules = {}, {}, {}
  for _, one in ipairs(all) do
    from[one.from] = true
    if one.to then to[one.to] = true end
  end
  rules[1] = (".a,.z{animation:%.1fs step-end infinite}"):format(seconds)
  for n, percent in ipairs(percents) do
    if from[n] and n > 1 then
      rules[#rules + 1] = (".a%d{animation-name:a%d}@keyframes a%d{0%%"
        .. "{opacity:0}%s{opacity:1}}"):format(n, n, n, percent)
    end
    if to[n] then
      rules[#rules + 1] = (".z%d{animation-name:z%d}@keyframes z%d{0%%"
        .. "{opacity:1}%s{opacity:0}}"):format(n, n, n, percent)
    end
  end
  return "\n.z{opacity:0}\ntext{white-space:pre;"
    .. "font:14px ui-monospace,monospace}\n"
    .. "@media (prefers-reduced-motion:no-preference){\n"
    .. table.concat(rules, "\n") .. "}"
end

local function last_lines(all, rows)
  local lines = {}
  table.sort(all, function(a, b)
    if a.row ~= b.row then return a.row < b.row end
    return a.column < b.column
  end)
  for _, one in ipairs(all) do
    if not one.to and one.row >= rows then lines[#lines + 1] = one.text end
  end
  return table.concat(lines, " ")
end

-- Where the summary begins, on the last screen.
local function summary_row(screen)
  local row = 0
  for line in screen:gmatch "([^\n]*)\n" do
    if line:find "What was seen" then return row end
    row = row + 1
  end
  error "the demo did not come to its end"
end

function demo.draw(frames, columns)
  local last = frames[#frames].screen:gsub("%s+$", "\n")
  local _, rows = last:gsub("\n", "")
  local all = intervals(frames)
  local percents, seconds = schedule(frames)
  local picture = Svg.new {
    width = math.ceil(columns * CELL + 2 * MARGIN), height = rows * LINE + 22,
    title = "make demo: five processes take turns with one lock, and one of "
      .. "them is killed",
    desc = "A recording of the demo in a terminal. Each process has a line: "
      .. "its pid, whether it holds the lock, waits or was killed, how many "
      .. "turns it had, and a time line. At no moment do two hold the lock. "
      .. "At the end: " .. last_lines(all, summary_row(last)),
    style = animation(all, percents, seconds),
  }
  table.sort(all, function(a, b)
    if a.from ~= b.from then return a.from < b.from end
    if a.row ~= b.row then return a.row < b.row end
    return a.column < b.column
  end)
  local group
  for _, one in ipairs(all) do
    if group ~= one.from then
      if group then picture:add "</g>" end
      group = one.from
      picture:add(group > 1 and '<g class="a a%d">' or "<g>", group)
    end
    local class = one.class .. (one.to and " z z" .. one.to or "")
    picture:add('<text%s x="%s" y="%s"%s>%s</text>',
      class ~= "" and (' class="%s"'):format(class:match "^ ?(.*)$") or "",
      Svg.number(MARGIN + one.column * CELL), Svg.number(24 + one.row * LINE),
      length(one.text) > 1 and (' textLength="%s"'):format(
        Svg.number(length(one.text) * CELL)) or "", Svg.escape(one.text))
  end
  picture:add "</g>"
  return picture:source()
end

return demo

--- Shows the demo in a terminal: a picture that is drawn again and again in
-- its place.
local Picture = {}
Picture.__index = Picture

local LEFT = 36 -- columns before the timeline
local STEP = 2  -- a column of the timeline shows so many moments

local glyphs = {
  utf8 = {
    both = "█", first = "▌", second = "▐", waits = "─", gone = "×",
    nobody = "·", holds_mark = "●", gone_mark = "×",
  },
  ascii = {
    both = "#", first = "#", second = "#", waits = "-", gone = "x",
    nobody = ".", holds_mark = "*", gone_mark = "x",
  },
}

local colours = {
  holds = "\27[1;32m", waits = "\27[33m", gone = "\27[1;31m",
  faint = "\27[2m", title = "\27[1m", plain = "\27[0m",
}

local function coloured(name, text)
  return colours[name] .. text .. colours.plain
end

--- `view`: ledger, columns, utf8, seconds (how long it lasts), title, write
function Picture.new(view)
  return setmetatable({
    ledger = view.ledger,
    columns = view.columns,
    glyphs = view.utf8 and glyphs.utf8 or glyphs.ascii,
    seconds = view.seconds,
    title = view.title,
    note = "",
    height = 0,
  }, Picture)
end

-- The timeline of a process: who held the lock longest in a moment has it in
-- the picture, so that the picture never shows two where there was one.

local function each_span(ledger, process, now, fn)
  for _, span in ipairs(process.spans) do
    fn(span.from - ledger.start, span.to - ledger.start, span.state)
  end
  fn(process.since - ledger.start, now - ledger.start, process.state)
end

local function holders(ledger, now, moment, count)
  local longest, holder = {}, {}
  for n, process in ipairs(ledger.processes) do
    each_span(ledger, process, now, function(from, to, state)
      if state ~= "holds" then return end
      for i = math.floor(from / moment), math.min(count - 1,
          math.floor(to / moment)) do
        local share = math.min(to, (i + 1) * moment)
          - math.max(from, i * moment)
        if share > (longest[i] or 0) then longest[i], holder[i] = share, n end
      end
    end)
  end
  return holder
end

local function states(ledger, process, now, moment, count)
  local row = {}
  each_span(ledger, process, now, function(from, to, state)
    for i = math.floor(from / moment), math.min(count - 1,
        math.floor(to / moment)) do
      row[i] = state
    end
  end)
  return row
end

local function cell(glyphs_, first, second, row, i)
  if first and second then return coloured("holds", glyphs_.both) end
  if first then return coloured("holds", glyphs_.first) end
  if second then return coloured("holds", glyphs_.second) end
  if row[i] == "gone" or row[i + 1] == "gone" then
    return coloured("gone", glyphs_.gone)
  elseif row[i] == "waits" or row[i + 1] == "waits" then
    return coloured("waits", glyphs_.waits)
  end
  return " "
end

local function timeline(self, n, now, moment, holder, width)
  local row = states(self.ledger, self.ledger.processes[n], now, moment,
    width * STEP)
  local cells = {}
  for column = 0, width - 1 do
    local i = column * STEP
    cells[#cells + 1] = cell(self.glyphs, holder[i] == n, holder[i + 1] == n,
      row, i)
  end
  return table.concat(cells)
end

-- Who held the lock, by number.
local function holder_line(self, now, moment, holder, width)
  local numbers = {}
  local last = math.floor((now - self.ledger.start) / moment)
  for column = 0, width - 1 do
    local i = column * STEP
    numbers[#numbers + 1] = tostring(holder[i] or holder[i + 1]
      or i < last and self.glyphs.nobody or " ")
  end
  return coloured("faint", (" the lock was held by" .. (" "):rep(LEFT - 21)))
    .. table.concat(numbers)
end

local ordinals = { "next in line", "2nd in line", "3rd in line",
  "4th in line", "5th in line" }

local words = {
  starts = "starts", away = "does other work", gone = "was killed",
  ended = "is through", holds = "holds the lock",
}

local function describe(self, process, place)
  local word = place and ordinals[place] or words[process.state]
  local mark = process.state == "holds" and self.glyphs.holds_mark
    or process.state == "gone" and self.glyphs.gone_mark or " "
  local text = mark .. " " .. word .. (" "):rep(15 - #word)
  local colour = colours[process.state] and process.state
  return colour and coloured(colour, text) or text
end

local function row(self, n, place, bar)
  local process = self.ledger.processes[n]
  return (" %d %7s  %s %4d   %s"):format(n, process.pid or "-",
    describe(self, process, place), process.turns, bar)
end

local function clip(text, columns)
  return #text <= columns and text or text:sub(1, columns - 3) .. "..."
end

-- Words on lines of at most `columns`; always as many lines as the longest
-- note needs, so that nothing jumps.
local function wrap(text, columns)
  local lines = { "", "", columns < 80 and "" or nil }
  local n = 1
  for word in text:gmatch("%S+") do
    if #lines[n] + 1 + #word > columns - 1 then
      n = n + 1
      lines[n] = ""
    end
    lines[n] = lines[n] .. " " .. word
  end
  return lines
end

local function places(ledger)
  local place = {}
  for i, process in ipairs(ledger:queue()) do place[process.number] = i end
  return place
end

local function frame(self, now)
  local ledger = self.ledger
  local width = math.max(10, self.columns - LEFT - 2)
  local span = math.max(self.seconds, now - ledger.start)
  local moment = span / (width * STEP)
  local holder = holders(ledger, now, moment, width * STEP)
  local place = places(ledger)
  local last = ("%.0f s"):format(span)
  local lines = {
    coloured("title", clip(" " .. self.title, self.columns)),
    "",
    coloured("faint", (" #     pid  now              turns   0 s%s%s"):format(
      (" "):rep(width - 3 - #last), last)),
  }
  for n in ipairs(ledger.processes) do
    lines[#lines + 1] = row(self, n, place[n],
      timeline(self, n, now, moment, holder, width))
  end
  lines[#lines + 1] = holder_line(self, now, moment, holder, width)
  lines[#lines + 1] = ""
  for _, line in ipairs(wrap(self.note, self.columns)) do
    lines[#lines + 1] = line
  end
  return lines
end

local function draw(self, now)
  local lines = frame(self, now)
  local out = { self.height > 0 and ("\27[%dA"):format(self.height) or "" }
  for _, line in ipairs(lines) do out[#out + 1] = "\r" .. line .. "\27[K\n" end
  self.height = #lines
  io.write(table.concat(out))
  io.flush()
end

function Picture:open()
  io.write("\27[?25l\n") -- the cursor would only flicker
  io.flush()
end

function Picture:resize(columns)
  if columns == self.columns then return end
  self.columns = columns
  -- What was drawn is broken now; what stands above a first picture is not.
  if self.height > 0 then io.write("\27[2J\27[H") end
  self.height = 0
end

function Picture:say(text)
  self.note = text
end

function Picture.event() end

Picture.tick = draw

function Picture:close(now)
  if now then
    self.note = "All are through."
    draw(self, now)
    -- over the empty lines of the note
    io.write(self.columns < 80 and "\27[2A" or "\27[A")
  end
  io.write("\27[0m\27[?25h")
  io.flush()
end

return Picture

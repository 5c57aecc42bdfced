--- Table: formats rows as a table, for people. The column DATA is the last one.
-- So untrusted text in the data cannot shift other columns.
local rows = require "zklock.cli.rows"
local window = require "zklock.cli.window"

-- The maximum width of a column. A wider cell, such as an untrusted name,
-- shifts only its own row.
local WIDEST = 60

local columns = {
  { "PLACE", rows.place },
  { "KIND", function(row) return row.mode end },
  { "STATE", rows.state },
  { "AGE", rows.age },
  { "SESSION", rows.session },
  { "TOKEN", rows.token },
  { "NODE", rows.node },
  { "DATA", rows.data },
}

local function cells_of(row, now)
  local cells = {}
  for i, column in ipairs(columns) do cells[i] = column[2](row, now) end
  return cells
end

local function measure(lines)
  local widths = {}
  for i = 1, #columns - 1 do
    widths[i] = 0
    for _, cells in ipairs(lines) do
      local width = window.width(cells[i])
      if width > widths[i] and width <= WIDEST then widths[i] = width end
    end
  end
  return widths
end

local function join(cells, widths)
  local parts = {}
  for i, cell in ipairs(cells) do
    parts[i] = cell .. (" "):rep((widths[i] or 0) - window.width(cell))
  end
  return table.concat(parts, "  ")
end

--- Returns the lines of the table. The first line has the names of the columns.
-- `width`: the width of the terminal in characters; each line is cut to this
-- width. nil: no limit.
return function(contenders, width)
  local now = rows.servers_time(contenders)
  local lines = { {} }
  for i, column in ipairs(columns) do lines[1][i] = column[1] end
  for i, row in ipairs(contenders) do lines[i + 1] = cells_of(row, now) end
  local widths = measure(lines)
  for i, cells in ipairs(lines) do
    lines[i] = window.cut(join(cells, widths), width)
  end
  return lines
end

--- Markdown: how types, links and tables of the reference are written.
local markdown = {}

--- The anchor that a heading has by itself: "session:mutex" → "sessionmutex".
function markdown.anchor(title)
  return (title:lower():gsub("[^%w _-]", ""):gsub(" ", "-"))
end

-- Where text names what has a place of its own, that is linked: pages, and, by
-- `anchors`, functions and the headings of this page.
local function link_pages(text, anchors)
  text = text:gsub("doc/api%.md(#[%w_-]+)", function(anchor)
    local title = anchors[anchor]
    if not title then error("no heading has the anchor " .. anchor, 0) end
    return ("[%s](%s)"):format(title, anchor)
  end)
  text = text:gsub("doc/([%w_/-]+%.md)", "[doc/%1](%1)")
  text = text:gsub("(SECURITY%.md)", "[%1](../%1)")
  return (text:gsub("(examples/[%w_/]+/)", "[%1](../%1)"))
end

--- Prose.  `anchors`: by the names of functions; `here`: the one that need not
-- be linked.
function markdown.prose(text, anchors, here)
  text = link_pages(text, anchors)
  return (text:gsub("(%[?)`([%l_.]+[:.][%l_]+)(%(?%)?)`",
    function(bracket, name, call)
      local anchor = anchors[name]
      if not anchor or name == here or bracket ~= "" then return nil end
      return ("[`%s%s`](#%s)"):format(name, call, anchor)
    end))
end

local WIDTH = 130

-- Links and code are not broken, if they are short.
local function keep_together(text)
  if #text > 60 then return nil end
  return (text:gsub(" ", "\1"))
end

--- Text in lines; `indent` stands before all but the first.
function markdown.wrap(text, indent)
  local lines, line = {}, nil
  text = text:gsub("%b[]", keep_together):gsub("`[^`]+`", keep_together)
  for word in text:gmatch "%S+" do
    -- (What would be a list or a heading there does not begin a line.)
    if line and #line + #word >= WIDTH and not word:find "^[-*+#%d]" then
      lines[#lines + 1], line = line, (indent or "") .. word
    else
      line = line and line .. " " .. word or word
    end
  end
  lines[#lines + 1] = line
  return (table.concat(lines, "\n"):gsub("\1", " "))
end

-- Types.

-- "a|b" → { "a", "b" }, not inside parentheses.
local function alternatives(type)
  local list, depth, part = {}, 0, ""
  for c in type:gmatch "." do
    if c:find "[(<]" then depth = depth + 1 end
    if c:find "[)>]" then depth = depth - 1 end
    if c == "|" and depth == 0 then
      list[#list + 1], part = part, ""
    else
      part = part .. c
    end
  end
  list[#list + 1] = part
  return list
end

-- (What a function among its parameters takes is left out.)
local function function_type(type)
  local inside = type:match "^fun(%b())":sub(2, -2)
  local names = {}
  inside = inside:gsub('"[^"]*"', ""):gsub("fun%b():?", "")
  for name in inside:gmatch "([%w_.]+)%??:%s" do
    names[#names + 1] = name
  end
  return ("`function(%s)`"):format(table.concat(names, ", "))
end

-- Numbers that are called by their unit.
local UNITS = { ["zklock.Seconds"] = "seconds", ["zklock.Bytes"] = "bytes" }

local function one_type(all, type)
  type = type:gsub("%?$", "")
  if type:find "^fun%(" then return function_type(type) end
  local element = type:match "^(.*)%[%]$"
  if element then return "list of " .. one_type(all, element) end
  local alias = all.aliases[type]
  if alias and alias.type then return UNITS[type] or alias.type end
  local place = (alias or all.classes[type] or {}).anchor
  if place then
    return ("[%s](#%s)"):format(type:gsub("^zklock%.", ""), place)
  elseif type:find '^"' then
    return "`" .. type .. "`"
  end
  element = type:match "^table<string, (.*)>$"
  if element == "string" then
    return "table of strings"
  elseif element then
    return "table of " .. one_type(all, element)
  end
  return type
end

--- A type in words, with links.
function markdown.type(all, type)
  local list = {}
  for _, part in ipairs(alternatives((type:gsub("%?$", "")))) do
    if part ~= "nil" then list[#list + 1] = one_type(all, part) end
  end
  if #list < 2 then return list[1] end
  local last = table.remove(list)
  return table.concat(list, ", ") .. " or " .. last
end

-- Tables.

local function cell(text)
  return (text:gsub("|", "\\|"):gsub("\n", " "))
end

local function is_empty(rows, column)
  for _, row in ipairs(rows) do
    if row[column] ~= "" then return false end
  end
  return true
end

--- A table; columns that would be empty are left out.
function markdown.table(titles, rows)
  local kept, lines = {}, {}
  for i = 1, #titles do
    if not is_empty(rows, i) then kept[#kept + 1] = i end
  end
  local function add(row)
    local cells = {}
    for n, i in ipairs(kept) do cells[n] = cell(row[i]) end
    lines[#lines + 1] = "| " .. table.concat(cells, " | ") .. " |"
  end
  add(titles)
  lines[2] = "|" .. ("---|"):rep(#kept)
  for _, row in ipairs(rows) do add(row) end
  return table.concat(lines, "\n")
end

return markdown

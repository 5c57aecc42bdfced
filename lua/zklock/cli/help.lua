--- What --help says.
local manual = require "zklock.cli.manual"
local outline = require "zklock.cli.outline"

local help = {}

local WIDTH, COLUMN = 79, 29

-- The words of a text in lines of that width.
local function wrap(text, width)
  local lines, line = {}, nil
  for word in text:gmatch "%S+" do
    if line and #line + 1 + #word > width then
      lines[#lines + 1] = line
      line = nil
    end
    line = line and line .. " " .. word or word
  end
  lines[#lines + 1] = line
  return lines
end

local Page = {}
Page.__index = Page

local function new_page() return setmetatable({ lines = {} }, Page) end

function Page:line(text) self.lines[#self.lines + 1] = text or "" end

function Page:paragraphs(text)
  for _, paragraph in ipairs(outline.paragraphs(text)) do
    self:line()
    for _, line in ipairs(wrap(paragraph, WIDTH)) do self:line(line) end
  end
end

function Page:heading(text)
  self:line()
  self:line(text .. ":")
end

-- A label, and what is said of it beside it, or below if the label is long.
function Page:entry(label, text, column)
  column = column or COLUMN
  local margin = (" "):rep(column)
  local first = "  " .. label
  for i, line in ipairs(wrap(text, WIDTH - column)) do
    if i == 1 and #first + 2 <= column then
      self:line(first .. margin:sub(#first + 1) .. line)
    else
      if i == 1 then self:line(first) end
      self:line(margin .. line)
    end
  end
end

function Page:options(list)
  for _, option in ipairs(list) do
    local names = outline.names(option)
    -- Long names stand in one column.
    local label = (names[2] and "" or "    ") .. table.concat(names, ", ")
    if option.argument then label = label .. " " .. option.argument end
    self:entry(label, option.help)
  end
end

function Page:examples(examples)
  if not examples or #examples == 0 then return end
  self:heading "Examples"
  for _, example in ipairs(examples) do
    self:line("  " .. example[1])
    for _, line in ipairs(wrap(example[2], WIDTH - 6)) do
      self:line("      " .. line)
    end
  end
end

function Page:exits(exits)
  self:heading "Exit codes"
  for _, exit in ipairs(exits) do
    self:entry(("%5s"):format(exit[1]), exit[2], 9)
  end
end

function Page:text() return table.concat(self.lines, "\n") end

--- Of one command.
function help.of(command)
  local page = new_page()
  page:line("Usage: " .. outline.synopsis(command))
  page:paragraphs(command.description or command.summary)
  page:heading "Arguments"
  for _, argument in ipairs(command.arguments) do
    page:entry(argument[1], argument[2])
  end
  page:heading "Options"
  page:options(command.options)
  page:options { outline.help_option }
  page:heading "Options of every command"
  page:options(manual.common)
  page:examples(command.examples)
  page:exits(outline.exits(command))
  return page:text()
end

function Page:commands()
  self:heading "Commands"
  for _, command in ipairs(manual.commands) do
    self:entry(command.name, command.summary, 12)
  end
end

local MORE = ("'%s COMMAND --help' says more"):format(manual.name)

--- The commands, in short.
function help.of_commands()
  local page = new_page()
  page:commands()
  page:line()
  page:line(MORE .. ".")
  return page:text()
end

--- Of all.
function help.of_all()
  local page = new_page()
  page:line("Usage: " .. manual.name .. " COMMAND [OPTIONS] ...")
  page:paragraphs(manual.description)
  page:commands()
  page:heading "Options"
  page:options { outline.help_option, outline.version_option }
  page:heading "Options of every command"
  page:options(manual.common)
  page:paragraphs(manual.settings)
  page:examples(manual.examples)
  page:line()
  page:line(MORE .. ", and so do the manual pages.")
  return page:text()
end

return help

--- Writes the manual pages: `make man`.
local manual = require "zklock.cli.manual"
local outline = require "zklock.cli.outline"
local version = require "zklock.version"

local manpages = {}

local special = {
  ["\\"] = "\\e", ["-"] = "\\-", ["'"] = "\\(aq", ["`"] = "\\(ga",
  ["^"] = "\\(ha", ["~"] = "\\(ti",
}

-- As it stands, wherever it stands in a line.
local function escape(text)
  text = tostring(text):gsub("[\\%-'`%^~]", special)
  return (text:gsub("^%.", "\\&."))
end

local Page = {}
Page.__index = Page

local function new_page(name, summary)
  local self = setmetatable({ lines = {} }, Page)
  self:macro("TH", ('%s 1 "" "%s %s" "User Commands"'):format(
    escape(name:upper()), manual.name, escape(version)))
  self:heading "NAME"
  self:text(name .. " - " .. summary)
  return self
end

function Page:macro(name, rest)
  self.lines[#self.lines + 1] = "." .. name .. (rest and " " .. rest or "")
end

function Page:text(text) self.lines[#self.lines + 1] = escape(text) end

function Page:bold(text)
  self.lines[#self.lines + 1] = "\\fB" .. text .. "\\fR"
end

function Page:heading(text) self:macro("SH", escape(text)) end

function Page:paragraphs(text)
  for i, paragraph in ipairs(outline.paragraphs(text)) do
    if i > 1 then self:macro "PP" end
    self:text(paragraph)
  end
end

-- Not set anew: what a shell is to read.
function Page:code(text)
  self:macro "nf"
  self:bold(escape(text))
  self:macro "fi"
end

function Page:entries(list)
  for _, entry in ipairs(list) do
    self:macro "TP"
    self:bold(escape(entry[1]))
    self:text(entry[2])
  end
end

function Page:options(list)
  for _, option in ipairs(list) do
    local label = "\\fB" .. escape(table.concat(outline.names(option), ", "))
      .. "\\fR"
    if option.argument then
      label = label .. " \\fI" .. escape(option.argument) .. "\\fR"
    end
    self:macro "TP"
    self.lines[#self.lines + 1] = label
    self:text(option.help)
  end
end

function Page:examples(examples)
  if not examples or #examples == 0 then return end
  self:heading "EXAMPLES"
  for i, example in ipairs(examples) do
    if i > 1 then self:macro "PP" end
    self:code(example[1])
    self:macro "RS"
    self:text(example[2])
    self:macro "RE"
  end
end

local function page_name(command) return manual.name .. "-" .. command.name end

-- The other pages, but for `but`.
function Page:see_also(but)
  local names = { manual.name }
  for _, command in ipairs(manual.commands) do
    names[#names + 1] = page_name(command)
  end
  self:heading "SEE ALSO"
  local list = {}
  for _, name in ipairs(names) do
    if name ~= but then
      list[#list + 1] = "\\fB" .. escape(name) .. "\\fR(1)"
    end
  end
  self.lines[#self.lines + 1] = table.concat(list, ",\n")
end

function Page:finish() return table.concat(self.lines, "\n") .. "\n" end

local function of_command(command)
  local name = page_name(command)
  local page = new_page(name, command.summary)
  page:heading "SYNOPSIS"
  page:bold(escape(outline.synopsis(command)))
  page:heading "DESCRIPTION"
  page:paragraphs(command.description or command.summary)
  page:heading "ARGUMENTS"
  page:entries(command.arguments)
  page:heading "OPTIONS"
  page:options(command.options)
  page:options { outline.help_option }
  page:macro "PP"
  page:text(("Options of every command, of which %s(1) says more:")
    :format(manual.name))
  page:options(manual.common)
  page:heading "EXIT STATUS"
  page:entries(outline.exits(command))
  page:examples(command.examples)
  page:see_also(name)
  return page:finish()
end

local function of_all()
  local page = new_page(manual.name, manual.summary)
  page:heading "SYNOPSIS"
  page:bold(escape(manual.name .. " COMMAND [OPTIONS] ..."))
  page:heading "DESCRIPTION"
  page:paragraphs(manual.description)
  page:heading "COMMANDS"
  for _, command in ipairs(manual.commands) do
    page:entries { { command.name, ("%s: see %s(1)"):format(command.summary,
      page_name(command)) } }
  end
  page:heading "OPTIONS"
  page:options { outline.help_option, outline.version_option }
  page:macro "PP"
  page:text "Options of every command:"
  page:options(manual.common)
  page:heading "SETTINGS"
  page:paragraphs(manual.settings)
  page:heading "CREDENTIALS"
  page:paragraphs(manual.credentials)
  page:heading "ENVIRONMENT"
  page:entries(manual.environment)
  page:heading "FILES"
  page:entries(manual.files)
  page:heading "EXIT STATUS"
  page:entries(manual.exits)
  page:examples(manual.examples)
  page:see_also(manual.name)
  return page:finish()
end

--- File name → the page, in roff.
function manpages.all()
  local pages = { [manual.name .. ".1"] = of_all() }
  for _, command in ipairs(manual.commands) do
    pages[page_name(command) .. ".1"] = of_command(command)
  end
  return pages
end

--- Writes them into a directory, which is there.
function manpages.write(directory)
  for name, page in pairs(manpages.all()) do
    local file = assert(io.open(directory .. "/" .. name, "w"))
    assert(file:write(page))
    file:close()
  end
end

return manpages

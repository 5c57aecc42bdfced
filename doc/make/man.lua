-- Writes the command's manual pages, from what --help says, and the scripts for
-- the shells' completion, into the directories of share where they belong:
-- `make man`.
--
--   lua doc/make/man.lua SHARE
package.path = "lua/?.lua;" .. package.path
local completion = require "zklock.cli.completion"
local parser, commands = require "zklock.cli.parser"()
local texts = require "zklock.cli.texts"
local version = require "zklock.version"

-- Lines are not broken, and the text of an option begins behind one space.
parser:help_max_width(1e9):help_description_margin(1):usage_max_width(1e9)

local special = {
  ["\\"] = "\\e", ["-"] = "\\-", ["'"] = "\\(aq", ["`"] = "\\(ga",
  ["^"] = "\\(ha", ["~"] = "\\(ti",
}

local function escape(text)
  return (text:gsub("[\\%-'`%^~]", special):gsub("^%.", "\\&."))
end

local function bold(text) return "\\fB" .. escape(text) .. "\\fR" end

-- The lines of help as roff.
local function convert(help)
  local lines, label = {}, ""
  local function add(...)
    for _, line in ipairs { ... } do lines[#lines + 1] = line end
  end
  for line in (help .. "\n"):gmatch "([^\n]*)\n" do
    local heading, usage = line:match "^(%u[%l ]+):$", line:match "^Usage: (.*)"
    local name, text = line:match "^   +(%S+)  +(%S.*)$"
    if usage then
      add(".SH SYNOPSIS", bold(usage), ".SH DESCRIPTION")
    elseif heading then
      add(".SH " .. escape(heading:upper()))
    elseif line == "" then
      add ".PP"
    elseif name then
      add(".TP", bold(name), escape(text))
    elseif line:find "^   +.*,$" and line:find "^ +%-" then
      label = line:match "%S.*" .. " " -- of two names, a line each
    elseif line:find "^   %S" then
      add(".TP", bold(label .. line:match "%S.*"))
      label = ""
    else
      add(escape(line:match "%S.*"))
    end
  end
  return table.concat(lines, "\n"):gsub("%.PP\n%.SH", ".SH")
end

local function write(directory, name, text)
  directory = arg[1] .. "/" .. directory
  os.execute("mkdir -p '" .. directory .. "'")
  local file = assert(io.open(directory .. "/" .. name, "w"))
  assert(file:write(text))
  assert(file:close())
end

local function write_page(name, summary, help, others)
  local see = {}
  for i, other in ipairs(others) do see[i] = bold(other) .. "(1)" end
  write("man/man1", name .. ".1", (
    '.TH %s 1 "" "zklock %s" "User Commands"\n.nh\n'
    .. ".SH NAME\n%s\n%s\n.SH SEE ALSO\n%s\n"):format(escape(name:upper()),
    escape(version), escape(name .. " - " .. summary), convert(help),
    table.concat(see, ",\n")))
end

local names = {}
for i, command in ipairs(commands) do
  names[i] = "zklock-" .. command.name
  write_page(names[i], command.summary, command.parser:get_help(), { "zklock" })
end
write_page("zklock", texts.summary, table.concat({ parser:get_help(),
  texts.page, texts.exits }, "\n\n"), names)

write("bash-completion/completions", "zklock", completion.script "bash")
write("zsh/site-functions", "_zklock", completion.script "zsh")
write("fish/vendor_completions.d", "zklock.fish", completion.script "fish")

--- Parts of the manual, in the form in which --help, the manual pages and the
-- completion need them.
local manual = require "zklock.cli.manual"

local outline = {}

--- What every parser has by itself.
outline.help_option = { names = "-h --help", help = "show this help" }
outline.version_option = { names = "--version", help = "print the version" }

--- "-t --timeout" → { "-t", "--timeout" }
function outline.names(option)
  local names = {}
  for name in option.names:gmatch "%S+" do names[#names + 1] = name end
  return names
end

--- "zklock ls [OPTIONS] PATH"
function outline.synopsis(command)
  if command.usage then return command.usage end
  local words = { manual.name, command.name, "[OPTIONS]" }
  for _, argument in ipairs(command.arguments) do
    words[#words + 1] = argument.optional and "[" .. argument[1] .. "]"
      or argument[1]
  end
  return table.concat(words, " ")
end

--- A text's paragraphs, each on a line; of a list, its members.
function outline.paragraphs(text)
  if type(text) == "table" then return text end
  local list = {}
  for paragraph in (text .. "\n\n"):gmatch "%s*(.-)\n%s*\n" do
    if paragraph ~= "" then
      list[#list + 1] = paragraph:gsub("%s*\n%s*", " ")
    end
  end
  return list
end

--- The exit codes of a command: its own meanings in front of those of all.
function outline.exits(command)
  local own, list = {}, {}
  for _, exit in ipairs(command.exits or {}) do
    own[exit[1]] = true
    list[#list + 1] = exit
  end
  local runs = command.name == "run"
  for _, exit in ipairs(manual.exits) do
    local is_of_run = exit[1] == 76 or exit[1] == 126 or exit[1] == 127
    if not own[exit[1]] and (runs or not is_of_run) then
      list[#list + 1] = exit
    end
  end
  return list
end

--- The command of that name.
function outline.command(name)
  for _, command in ipairs(manual.commands) do
    if command.name == name then return command end
  end
end

return outline

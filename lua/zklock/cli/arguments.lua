--- Reads the arguments, by the parser that the manual describes.
local completion = require "zklock.cli.completion"
local convert = require "zklock.cli.convert"
local exit = require "zklock.cli.exit"
local help = require "zklock.cli.help"
local load = require "zklock.cli.load"
local manual = require "zklock.cli.manual"
local outline = require "zklock.cli.outline"

local arguments = {}

-- What is wrong is said with the option's long name.
local function reader(option)
  local read = convert[option.kind]
  return function(text)
    local value, fault = read(text)
    if fault then
      fault = option.names:match "%-%-%S+" .. ": " .. fault
    end
    return value, fault
  end
end

local function add_option(parser, option, together)
  local add = option.argument and parser.option or parser.flag
  local it = add(parser, option.names)
  if option.argument then
    it:argname(option.argument):convert(reader(option))
  end
  if option.only then
    together[option.only] = together[option.only] or {}
    table.insert(together[option.only], it)
  end
end

local function add_command(parser, described)
  local command = parser:command(described.name):add_help {
    action = function() exit.answer(help.of(described)) end,
  }
  for _, argument in ipairs(described.arguments) do
    command:argument(argument[1]):target(argument[1]:lower())
      :args(argument.optional and "?" or 1)
  end
  local together = {}
  for _, option in ipairs(described.options) do
    add_option(command, option, together)
  end
  for _, options in pairs(together) do
    command:mutex((table.unpack or unpack)(options)) -- luacheck: ignore unpack
  end
end

-- The options of every command are the program's own: they may stand before the
-- command, too.
function arguments.parser()
  local parser = load "argparse" (manual.name):command_target "command"
    :add_help { action = function() exit.answer(help.of_all()) end }
  parser:flag "--version":action(function()
    exit.answer(require "zklock"._VERSION)
  end)
  for _, option in ipairs(manual.common) do add_option(parser, option) end
  for _, described in ipairs(manual.commands) do
    add_command(parser, described)
  end
  return parser
end

-- `list` before word number `at`, and from there on.
local function cut(list, at)
  local before, behind = {}, {}
  for i, word in ipairs(list) do
    table.insert(i < at and before or behind, word)
  end
  return before, behind
end

-- What stands behind the first `--` is the command that is to be run.
local function split(given)
  for i, word in ipairs(given) do
    if word == "--" then
      local ours, words = cut(given, i)
      table.remove(words, 1)
      return ours, words
    end
  end
  return given
end

local function names_of(commands)
  local names = {}
  for i, command in ipairs(commands) do names[i] = command.name end
  return table.concat(names, ", ")
end

-- The parser's message, with what to do; `command`: the one whose arguments
-- these are, if that is known.
local function advise(fault, command)
  fault = fault:gsub("\nDid", ": did")
  local option = fault:match "^unknown option '([^']+)'"
  if fault:find "^a command is required" then
    return "a command is missing: zklock COMMAND [OPTIONS] ...\n"
      .. help.of_commands()
  elseif fault:find "^unknown command '[^']*'$" then
    return ("%s; the commands are %s"):format(fault, names_of(manual.commands))
  elseif option and command and (command.elsewhere or {})[option] then
    return ("unknown option '%s': %s"):format(option, command.elsewhere[option])
  elseif option and #option == 2 then -- every other letter is like it
    return ("unknown option '%s': '%s%s --help' lists the options"):format(
      option, manual.name, command and " " .. command.name or "")
  elseif command and (fault:find "^missing arg" or fault:find "^too many arg")
  then
    return fault .. ": " .. outline.synopsis(command)
  end
  return fault
end

-- As it is typed into a shell.
local function typed(words)
  local list = { manual.name }
  for i, word in ipairs(words) do
    list[i + 1] = word:find "^[%w_./:=@%%+,-]+$" and word
      or "'" .. word:gsub("'", "'\\''") .. "'"
  end
  return table.concat(list, " ")
end

-- What the parser does not check.
local function check_request(request)
  local words = request.words
  if request.command == "run" and not (words and words[1]) then
    exit.fail("usage", "say what is to be run: zklock run PATH -- COMMAND")
  elseif request.once_per and (request.shared or request.permits) then
    exit.fail("usage", "--once-per takes a lock of one holder: it does not go "
      .. "with %s", request.shared and "--shared" or "--permits")
  elseif request.command ~= "run" and words then
    exit.fail("usage", "'--' goes with 'zklock run' only")
  end
end

--- `command`, `path` and so on, and each option by its long name, with `_` for
-- `-`; `words`: what is to be run.
function arguments.read(given)
  if given[1] == "complete" then -- asked by a shell: completion/
    return { command = "complete", words = given }
  end
  local seen = completion.read(given, #given + 1)
  local runs = seen and seen.command and seen.command.name == "run"
  local ours, words = split(given)
  local undivided = runs and not words and seen.second
  if undivided then ours = cut(given, seen.second) end
  local ok, request = arguments.parser():pparse(ours)
  if not ok then
    exit.fail("usage", "%s", advise(request, seen and seen.command))
  elseif undivided then
    table.insert(given, seen.second, "--")
    exit.fail("usage", "put -- before the command: %s", typed(given))
  end
  request.words = words
  check_request(request)
  return request
end

return arguments

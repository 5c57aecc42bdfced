--- Reads the arguments, by the parser that the manual describes.
local convert = require "zklock.cli.convert"
local exit = require "zklock.cli.exit"
local help = require "zklock.cli.help"
local load = require "zklock.cli.load"
local manual = require "zklock.cli.manual"

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
  local command = parser:command(described.name):help(help.of(described))
  for _, argument in ipairs(described.arguments) do
    command:argument(argument[1]):target(argument[1]:lower())
      :args(argument.optional and "?" or 1)
  end
  local together = {}
  for _, option in ipairs(described.options) do
    add_option(command, option, together)
  end
  for _, option in ipairs(manual.common) do
    add_option(command, option, together)
  end
  for _, options in pairs(together) do
    command:mutex((table.unpack or unpack)(options)) -- luacheck: ignore unpack
  end
end

function arguments.parser()
  local parser = load "argparse" (manual.name)
  parser:help(help.of_all()):command_target "command"
  parser:flag "--version":action(function()
    print(require "zklock"._VERSION)
    os.exit(exit.codes.ok)
  end)
  for _, described in ipairs(manual.commands) do
    add_command(parser, described)
  end
  return parser
end

-- What stands behind the first `--` is the command that is to be run.
local function split(given)
  local ours, theirs
  for i, word in ipairs(given) do
    if theirs then
      theirs[#theirs + 1] = word
    elseif word == "--" then
      theirs = {}
    else
      ours = ours or {}
      ours[i] = word
    end
  end
  return ours or {}, theirs
end

--- `command`, `path` and so on, and each option by its long name, with `_` for
-- `-`; `words`: what is to be run.
function arguments.read(given)
  if given[1] == "complete" then -- asked by a shell: completion/
    return { command = "complete", words = given }
  end
  local ours, words = split(given)
  local ok, request = arguments.parser():pparse(ours)
  if not ok then
    exit.fail("usage", "%s", (request:gsub("\nDid", ": did")))
  end
  request.words = words
  if request.command == "run" and not (words and words[1]) then
    exit.fail("usage", "say what is to be run: zklock run PATH -- COMMAND")
  elseif request.command ~= "run" and words then
    exit.fail("usage", "'--' goes with 'zklock run' only")
  end
  return request
end

return arguments

--- Reads the arguments of the command line.
local exit = require "zklock.cli.exit"
local new_parser = require "zklock.cli.parser"
local texts = require "zklock.cli.texts"

local arguments = {}

-- Splits the arguments at the first `--`. Returns the arguments before it, and
-- the words after it, which are the command to run. Without `--`, the second
-- result is nil.
local function split(given)
  local ours, words = {}, nil
  for _, word in ipairs(given) do
    if word == "--" and not words then
      words = {}
    else
      table.insert(words or ours, word)
    end
  end
  return ours, words
end

-- Returns the message for an error of the parser, on one line, and with advice
-- if possible. `fault`: the parser's message; `commands`: the names of all
-- commands. `name`: the subcommand that has failed, or nil if it is not known.
local function advise(fault, commands, name)
  local help = ("zklock%s --help"):format(name and " " .. name or "")
  local option = fault:match "^unknown option '([^']+)'"
  local advice = option and name and (texts.elsewhere[name] or {})[option]
  if fault:find "^a command is required" then
    return ("a command is missing: zklock COMMAND [OPTIONS] ...; the commands "
      .. "are %s"):format(commands)
  elseif fault:find "^unknown command '[^']*'$" then
    return ("%s; the commands are %s"):format(fault, commands)
  elseif advice then
    return ("unknown option '%s': %s"):format(option, advice)
  elseif option and #option == 2 then -- one message for all unknown letters
    return ("unknown option '%s': '%s' lists the options"):format(option, help)
  elseif name == "run" and fault:find "^too many arg" then
    return "put -- before the command: zklock run PATH -- COMMAND"
  elseif name and (fault:find "^missing arg" or fault:find "^too many arg") then
    return ("%s: '%s' lists the arguments"):format(fault, help)
  end
  return (fault:gsub("\nDid", ": did"))
end

-- Checks the rules that the parser cannot express.
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

--- Reads the arguments. Returns a table with `command`, `path` and so on, and
-- each option by its long name, with `_` for `-`. `words`: the command to run
-- after `--`.
function arguments.read(given)
  if given[1] == "complete" then -- called by a completion script
    return { command = "complete", words = given }
  end
  local parser, commands = new_parser()
  local names, name_of = {}, {}
  for i, command in ipairs(commands) do
    names[i], name_of[command.parser] = command.name, command.name
  end
  function parser.error(of, fault)
    exit.fail("usage", "%s", advise(fault, table.concat(names, ", "),
      name_of[of]))
  end
  local ours, words = split(given)
  local request = parser:parse(ours)
  request.words = words
  check_request(request)
  return request
end

return arguments

--- Reads the arguments of the command line.
local exit = require "zklock.cli.exit"
local new_parser = require "zklock.cli.parser"

local arguments = {}

-- Splits the arguments at the first `--`. Returns the arguments before it, and
-- the words after it, which are the command to run. Without `--`, the second
-- result is nil. argparse would accept a later `--`, which can be an argument
-- of the command.
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
  local parser, commands = new_parser()
  function parser.error(of, fault)
    local name = ""
    for _, command in ipairs(commands) do
      if command.parser == of then name = command.name .. " " end
    end
    if name == "run " and fault:find "^too many arg" then
      exit.fail("usage",
        "put -- before the command: zklock run PATH -- COMMAND")
    end
    local said, has_advice = fault:gsub("\nDid", ": did")
    if has_advice == 0 and not fault:find "^%-%-" then
      said = ("%s: see 'zklock %s--help'"):format(said, name)
    end
    exit.fail("usage", "%s", said)
  end
  local ours, words = split(given)
  local request = parser:parse(ours)
  request.words = words
  check_request(request)
  return request
end

return arguments

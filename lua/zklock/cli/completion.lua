--- `zklock completion SHELL`: prints the script by which a shell completes
-- commands, options and their values.
local exit = require "zklock.cli.exit"
local new_parser = require "zklock.cli.parser"

local completion = {}

--- Returns the completion script for bash, zsh or fish, which argparse makes.
function completion.script(shell)
  local parser = new_parser()
  local script = parser["get_" .. shell .. "_complete"](parser)
  if shell ~= "zsh" then return script end
  -- Lets zsh complete the options of a subcommand. Lets it also read the script
  -- by `source`; argparse's script works only in a directory of $fpath.
  return (script:gsub("_arguments", [[%0 -A "-*"]], 1):gsub("\n_zklock\n$",
    "\nif [[ $funcstack[1] = _zklock ]]; then _zklock\n"
      .. "else compdef _zklock zklock; fi\n"))
end

return setmetatable(completion, { __call = function(_, request)
  exit.answer(completion.script(request.shell))
end })

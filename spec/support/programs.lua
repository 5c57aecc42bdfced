--- Programs in Lua, each of which is a process of its own.
local files = require "support.files"
local shell = require "support.shell"

local programs = {}

--- What one prints, and what its last lines say of its end if `tells_end`.
function programs.output(text, tells_end)
  return files.with(text, function(name)
    return shell.output(("('%s' '%s') 2>&1%s"):format(
      os.getenv "SPEC_LUA" or "lua5.4", name,
      tells_end and "; echo status $?" or ""))
  end)
end

return programs

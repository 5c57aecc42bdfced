--- Returns a library that only the command needs. If the library is missing,
-- the command ends with a message that says what to install.
local exit = require "zklock.cli.exit"

local packages = {
  argparse = "lua-argparse",
  luv = "lua-luv",
  dkjson = "lua-dkjson",
}

return function(name)
  local ok, library = pcall(require, name)
  if ok then return library end
  if not tostring(library):find("module '" .. name .. "' not found", 1, true)
  then
    error(library, 0)
  end
  exit.fail("unavailable", "the Lua library %s is missing: install Debian's "
    .. "package %s, or 'luarocks install %s'", name, packages[name], name)
end

--- Runs the command. bin/zklock and the script that `make install` writes run
-- this file. From here on, Lua loads modules only from this file's directory
-- and from absolute paths. The current directory may belong to another user,
-- whose modules must not be loaded.
local here = debug.getinfo(1, "S").source:match "^@(/.*)/zklock/cli/main%.lua$"
if not here or here:find "[;?]" then
  io.stderr:write("zklock: start it as bin/zklock, from a directory whose path "
    .. "has no ';' and no '?'\n")
  os.exit(69)
end
local checkout = here:match "^(.*)/lua$"
local version = _VERSION:match "%d.*"

local function keep_absolute(path)
  local kept = {}
  for element in path:gmatch "[^;]+" do
    if element:find "^/" then kept[#kept + 1] = element end
  end
  return table.concat(kept, ";")
end

package.path = ("%s/?.lua;%s/?/init.lua;"):format(here, here)
  .. keep_absolute(package.path)
package.cpath = keep_absolute(package.cpath)

if not checkout then
  package.cpath = here:gsub("/share/lua/([^/]*)$", "/lib/lua/%1") .. "/?.so;"
    .. package.cpath
else
  -- A checkout: the C modules are in its build directory. But if LUA_CPATH is
  -- set, it has priority, because tests choose a build with it.
  local built = ("%s/build/st/%s/?.so"):format(checkout, version)
  local is_chosen = os.getenv "LUA_CPATH"
  local search = package.searchpath
  if search and not search("zklock.guardian", built)
    and not (is_chosen and search("zklock.guardian", package.cpath)) then
    io.stderr:write(("zklock: this checkout is not built for Lua %s: run "
      .. "'make LUA_VERSION=%s' in %s first\n"):format(version, version,
      checkout))
    os.exit(69)
  end
  package.cpath = is_chosen and package.cpath .. ";" .. built
    or built .. ";" .. package.cpath
end

-- The library and the command are two rocks, so the library can be missing.
if not pcall(require, "zklock.version") then
  io.stderr:write "zklock: the library is missing: install the rock zklock\n"
  os.exit(69)
end
require("zklock.cli").main(arg)

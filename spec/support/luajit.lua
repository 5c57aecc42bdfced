--- The module for LuaJIT, which nginx loads, and processes that fork.
local must = require "support.shell".must

local root = os.getenv "SPEC_ROOT" or "."
local build, backend = assert(package.searchpath("zklock.core", package.cpath))
  :match "^(.*)/(%a+)/[^/]*/zklock/core%.so$"

--- Where modules are built.
local luajit = { root = build }

--- Builds it, unless it is there; where `?.so` is found.
function luajit.build()
  local place = ("%s/%s/5.1"):format(build, backend)
  must(("exec 9>'%s/luajit.lock'; flock 9; make -s -C '%s' BUILD='%s' ZK=%s "
    .. "LUA_VERSION=5.1 '%s/zklock/core.so'"):format(build, root, build,
    backend, place))
  return place
end

return luajit

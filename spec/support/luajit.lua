--- The module for LuaJIT, which nginx loads, and processes that fork.
local must = require "support.shell".must

local root = os.getenv "SPEC_ROOT" or "."
local build, backend = assert(package.searchpath("zklock.core", package.cpath))
  :match "^(.*)/(%a+)/[^/]*/zklock/core%.so$"

local luajit = { place = ("%s/%s/5.1"):format(build, backend) }

--- Builds it, unless it is there; where `?.so` is found.
function luajit.build()
  must(("exec 9>'%s/luajit.lock'; flock 9; make -s -C '%s' BUILD='%s' ZK=%s "
    .. "LUA_VERSION=5.1 '%s/zklock/core.so'"):format(build, root, build,
    backend, luajit.place))
  return luajit.place
end

return luajit

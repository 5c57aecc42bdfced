--- The module for LuaJIT, which nginx loads, and processes that fork.
local must = require "support.shell".must

local root = os.getenv "SPEC_ROOT" or "."
local build, backend = assert(package.searchpath("zklock.core", package.cpath))
  :match "^(.*)/(%a+)/[^/]*/zklock/core%.so$"

--- Where modules are built.
local luajit = { root = build }

--- Is there a module for TLS, too?
luajit.has_tls = package.searchpath("zklock.tls", package.cpath) ~= nil

local place

--- Builds them, unless they are there; where `?.so` is found.
function luajit.build()
  if place then return place end
  place = ("%s/%s/5.1"):format(build, backend)
  must(("exec 9>'%s/luajit.lock'; flock 9; make -s -C '%s' BUILD='%s' ZK=%s "
    .. "LUA_VERSION=5.1 '%s/zklock/core.so' %s"):format(build, root, build,
    backend, place, luajit.has_tls and "'" .. place .. "/zklock/tls.so'" or ""))
  return place
end

return luajit

--- Replaces zklock.core, the C core, with a core for virtual time. This is a
-- separate C module, which also contains the model of ZooKeeper's servers.
local lua = rawget(_G, "jit") and "LuaJIT" or _VERSION
local version = _VERSION:match "%d.*"

local function load_module()
  local ok, virtual = pcall(require, "zklock.virtual")
  if ok then return virtual end
  if not tostring(virtual):find("module 'zklock.virtual' not found", 1, true)
  then
    error(virtual, 0)
  end
  error(("zklock: the C module zklock.virtual, which zklock.testing needs, is "
    .. "not where %s looks for it: 'make install LUA_VERSION=%s' installs it, "
    .. "LUA_CPATH says where it is\n%s"):format(lua, version, virtual), 0)
end

local virtual = load_module()

if package.loaded["zklock.core"] then
  error("zklock: the real zklock is loaded already: require "
    .. "\"zklock.testing\" before \"zklock\", first thing in the test", 0)
end
local core = virtual.core()
core.backend = "virtual"
package.loaded["zklock.core"] = core
-- Makes the option `tls` work: a fake module replaces zklock.tls. It reads no
-- certificate files.
package.loaded["zklock.tls"] = virtual.tls()

return virtual

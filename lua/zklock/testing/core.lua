--- Puts the core for virtual time in place of zklock.core.  That core is a C
-- module of its own; it holds the model of ZooKeeper's servers, too.
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

-- A core that is loaded already must tell this clock's time: each look at that
-- moves the clock by a microsecond.
local function tells_virtual_time(core)
  local before = virtual.now()
  core.now()
  return virtual.now() > before
end

local core = package.loaded["zklock.core"]
if not core then
  core = virtual.core()
  package.loaded["zklock.core"] = core
elseif not tells_virtual_time(core) then
  error("zklock: the real zklock is loaded already: require "
    .. "\"zklock.testing\" before \"zklock\", first thing in the test", 0)
end
core.backend = "virtual"

return virtual

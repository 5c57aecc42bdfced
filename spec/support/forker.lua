--- Processes that fork: in LuaJIT, for Lua 5.4 has no luaposix in Debian.
local child = require "support.child"
local core = require "zklock.core"
local support = require "support"

local forker = {}

local root = os.getenv "SPEC_ROOT" or "."
local is_built = false

local function build()
  if is_built then return end
  local ok = os.execute(("make -s -C '%s' ZK=%s LUA_VERSION=5.1 all >&2")
    :format(root, core.backend))
  assert(ok == true or ok == 0, "the module for LuaJIT cannot be built")
  is_built = true
end

--- As spawn_with of support.child.
function forker.spawn_with(environment, code, ...)
  build()
  local own = support.lua
  support.lua = "luajit"
  local ok, process = pcall(child.spawn_with, ("%s LUA_CPATH='%s/build/%s/5.1"
    .. "/?.so;;'"):format(environment, root, core.backend), code, ...)
  support.lua = own
  return assert(ok and process, process)
end

function forker.spawn(code, ...) return forker.spawn_with("", code, ...) end

return forker

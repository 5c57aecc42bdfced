--- Processes that fork: in LuaJIT, for Lua 5.4 has no luaposix in Debian.
local child = require "support.child"
local luajit = require "support.luajit"
local support = require "support"

local forker = {}

--- As spawn_with of support.child.
function forker.spawn_with(environment, code, ...)
  local place, own = luajit.build(), support.lua
  support.lua = "luajit"
  local ok, process = pcall(child.spawn_with, ("%s LUA_CPATH='%s/?.so;;'")
    :format(environment, place), code, ...)
  support.lua = own
  return assert(ok and process, process)
end

function forker.spawn(code, ...) return forker.spawn_with("", code, ...) end

return forker

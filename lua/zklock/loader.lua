-- Loads the C module. If this fails and the cause is known, the error begins
-- with an instruction for the user. The dynamic loader's own text follows; it
-- names only symbols and files.
local lua = rawget(_G, "jit") and "LuaJIT" or _VERSION
local version = _VERSION:match "%d.*"

-- Returns an instruction for the user; nil if it does not recognize `text`, the
-- dynamic loader's error.
local function explain(text)
  local file = text:match "from file '([^']+)'"
    or package.searchpath and package.searchpath("zklock.core", package.cpath)
    or "the C module"
  if text:find "module 'zklock.core' not found" then
    return ("the C module is not where %s looks for it: 'make install "
      .. "LUA_VERSION=%s' installs it, LUA_CPATH says where it is")
      :format(lua, version)
  end
  local symbol = text:match "undefined symbol: (luaL?_%w+)"
    or text:match "symbol not found in flat namespace '_(luaL?_%w+)'"
  if symbol then
    return ("%s was built for another Lua: this is %s, and has no %s; 'make "
      .. "LUA_VERSION=%s' or 'luarocks --lua-version=%s' builds it for this "
      .. "one"):format(file, lua, symbol, version, version)
  end
  if text:find "^version mismatch" then
    return ("%s was built for another Lua: this is %s; 'make LUA_VERSION=%s' "
      .. "or 'luarocks --lua-version=%s' builds it for this one"):format(file,
      lua, version, version)
  end
  local library = text:match "(libzookeeper_[%w.]+): cannot open shared object"
    or text:match "(libmd[%w.]+): cannot open shared object"
    or text:match "Library not loaded: (%S*libzookeeper_%S+)"
  if library then
    return ("%s needs %s, which is not there: install %s, or name its "
      .. "directory in LD_LIBRARY_PATH"):format(file, library,
      library:find "^libmd" and "libmd" or "ZooKeeper's C client")
  end
end

local loaded, core = pcall(require, "zklock.core")
if not loaded then
  local sentence = explain(tostring(core))
  if not sentence then error(core, 0) end
  error(("zklock: %s\n%s"):format(sentence, core), 0)
end
return core

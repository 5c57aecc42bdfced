--- The allocator of allocator.c; nil in a build of the module without it.
local function file_of(name)
  for pattern in package.cpath:gmatch "[^;]+" do
    local path = pattern:gsub("?", (name:gsub("%.", "/")))
    local file = io.open(path, "rb")
    if file then
      file:close()
      return path
    end
  end
end

local file = assert(file_of "zklock.core", "the module is not built")
local open = package.loadlib(file, "luaopen_allocator")
return { found = open ~= nil and open() or nil }

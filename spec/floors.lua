-- The layers of the source: a file includes, or requires, files of its own
-- layer and of the layers below, and no chain of these leads back to it.
-- `make floors` runs this on the tree in the current directory.

-- Each directory, and those that its files may include from.
local below = {
  ["src/protocol"] = {},
  ["src/io"] = { "src/protocol" },
  ["src/lua"] = { "src/io", "src/protocol" },
  ["src/guardian"] = { "src/io" },
  ["src/tls"] = { "src/io", "src/lua" },
  ["src/virtual"] = { "src/io", "src/protocol" },
  -- In the place of the system's headers.
  ["src/virtual/system"] = { "src/virtual" },
  ["src/virtual/system/zookeeper"] = {},
  ["lua/zklock"] = {},
  ["spec/sim"] = { "src/protocol" },
}

-- The protocol's: no header that has a clock, a thread or a file descriptor.
local pure = {}
for name in ("assert inttypes limits math stdatomic stdbool stddef stdint "
    .. "stdio stdlib string"):gmatch "%w+" do
  pure[name .. ".h"] = true
end

-- Who else may include which headers of the system.
local function may_include(path, header)
  if path:find "^src/protocol/" then return pure[header] end
  if header:find "^zookeeper/" then
    return path:find "^src/io/library" or path:find "^src/virtual/client"
      or path:find "^src/virtual/system/"
  end
  if header:find "^openssl/" then return path:find "^src/tls/" end
  if header:find "^lua" or header == "lauxlib.h" then
    return path:find "^src/lua/" or path:find "^spec/"
      or path:find "/lua_[%w_]+%.[ch]$" and not path:find "^src/io/"
  end
  return true
end

local function read(path)
  local file = io.open(path)
  local text = file and file:read "*a"
  if file then file:close() end
  return text
end

local texts, paths = {}, {}
local pipe = io.popen "find src spec/sim lua -name '*.[ch]' -o -name '*.lua'"
for path in pipe:lines() do
  paths[#paths + 1] = path
  texts[path] = read(path)
end
pipe:close()
table.sort(paths)

local complaints = #paths == 0 and { "there are no files" } or {}
local function complain(...)
  complaints[#complaints + 1] = ("%s:%d: %s: %s"):format(...)
end

-- A source file and its header are one module; the modules of Lua are one
-- layer.
local function module_of(path) return (path:gsub("%.[ch]$", "")) end
local function layer_of(path)
  return path:find "^lua/" and "lua/zklock" or path:match "^(.*)/"
end

-- module → the modules that it uses, each with the place.
local uses = {}

local function add(path, line, target)
  local layer, wanted = layer_of(path), layer_of(target)
  local fine = layer == wanted
  for _, name in ipairs(below[layer] or {}) do fine = fine or name == wanted end
  if not fine then complain(path, line, "not below", target) end
  local from, to = module_of(path), module_of(target)
  if from ~= to and not from:find "^spec/" then
    uses[from] = uses[from] or {}
    uses[from][to] = uses[from][to] or ("%s:%d"):format(path, line)
  end
end

local function follow(path, line, text)
  local mark, name = text:match '^#%s*include%s*([<"])([^>"]+)'
  if mark == "<" then
    if not may_include(path, name) then
      complain(path, line, "not in this layer", name)
    end
  elseif mark then
    local near, far = path:match "^(.*/)" .. name, "src/" .. name
    local header = texts[near] and near or texts[far] and far
    if not header then return complain(path, line, "not found", name) end
    add(path, line, header)
  end
  -- A name that is put together at run time is no dependency.
  name = path:find "%.lua$"
    and text:gsub("%-%-.*", ""):match "require[%s(]*[\"'](zklock[%w_.]*)[\"']"
  local stem = name and "lua/" .. name:gsub("%.", "/")
  for _, ending in ipairs { ".lua", "/init.lua" } do
    if stem and texts[stem .. ending] then add(path, line, stem .. ending) end
  end
end

for _, path in ipairs(paths) do
  local line = 0
  for text in texts[path]:gmatch "([^\n]*)\n" do
    line = line + 1
    follow(path, line, text)
  end
end

-- The first cycle: its chain.
local seen = {}
local function find_cycle(from, chain)
  seen[from] = #chain + 1
  for to, place in pairs(uses[from] or {}) do
    chain[#chain + 1] = ("  %s: %s uses %s"):format(place, from, to)
    if not seen[to] then
      local found = find_cycle(to, chain)
      if found then return found end
    elseif seen[to] > 0 then
      return "a cycle:\n" .. table.concat(chain, "\n", seen[to])
    end
    chain[#chain] = nil
  end
  seen[from] = 0
end
for from in pairs(uses) do
  local found = not seen[from] and find_cycle(from, {})
  if found then
    complaints[#complaints + 1] = found
    break
  end
end

if #complaints > 0 then
  print(table.concat(complaints, "\n"))
  os.exit(1)
end
print(("floors: %d files, no cycle"):format(#paths))

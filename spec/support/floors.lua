-- The floors of the house, and that no circle of files is in it: spec/floors.
local arrows = require "support.arrows"
local read = require "support.files".read

local floors = {}

-- Each folder, and those that it may look down to.
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

-- Who includes which headers of others: the protocol none by which it could
-- look at a clock, a thread or a file.
local pure = {}
for name in ("assert inttypes limits math stdatomic stdbool stddef stdint "
    .. "stdio stdlib string"):gmatch "%w+" do
  pure[name .. ".h"] = true
end
local function may_include(path, header)
  if path:find "^src/protocol/" then return pure[header] end
  if header:find "^zookeeper/" then
    return path:find "^src/io/library" or path:find "^src/virtual/client"
      or path:find "^src/virtual/system/"
  end
  if header:find "^openssl/" then return path:find "^src/tls/" end
  if header:find "^lua" or header == "lauxlib.h" then
    return path:find "^src/lua/" or path:find "/lua_guardian%.c$"
      or path:find "/lua_tls%.c$"
      or path:find "^src/virtual/lua_" or path:find "^spec/"
  end
  return true
end

local function room_of(path) return (path:gsub("%.[ch]$", "")) end

local function floor_of(path)
  return path:find "^lua/" and "lua/zklock" or path:match "^(.*)/"
end

local function exists(path)
  local file = io.open(path)
  return file and file:close() and true
end

local function list_files(tree)
  local paths = {}
  local pipe = io.popen(("cd '%s' && find src spec/sim lua \\( -name '*.[ch]' "
    .. "-o -name '*.lua' \\) -print 2>/dev/null | LC_ALL=C sort"):format(tree))
  for path in pipe:lines() do paths[#paths + 1] = path end
  pipe:close()
  return paths
end

local function sorted_keys(set)
  local keys = {}
  for key in pairs(set) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

-- The graph that is built: arrows by room, and what is wrong with single ones.
local Graph = {}
Graph.__index = Graph

function Graph:complain(...)
  self.complaints[#self.complaints + 1] = (...):format(select(2, ...))
end

function Graph:add(from, to, at, by)
  self.arrows[from] = self.arrows[from] or {}
  self.arrows[to] = self.arrows[to] or {}
  if from ~= to and not self.arrows[from][to] then
    self.arrows[from][to] = { at = at, by = by }
  end
end

-- An arrow from a file to another: down, or along its own floor.
function Graph:point(path, line, target, by)
  local floor, wanted = floor_of(path), floor_of(target)
  local fine = floor == wanted
  for _, name in ipairs(below[floor] or {}) do fine = fine or name == wanted end
  if not fine then
    self:complain("%s:%d: %s is not below: %s", path, line, target, by)
  end
  self:add(room_of(path), room_of(target), ("%s:%d"):format(path, line), by)
end

function Graph:find_header(path, name)
  for _, candidate in ipairs {
    path:match "^(.*/)" .. name, "src/" .. name, name,
  } do
    if exists(self.tree .. "/" .. candidate) then return candidate end
  end
end

function Graph:follow_includes(path, file)
  for _, include in ipairs(file.includes) do
    local by = "#include " .. include.name
    if include.system then
      if not may_include(path, include.name) then
        self:complain("%s:%d: not on this floor: %s", path, include.line, by)
      end
    else
      local header = self:find_header(path, include.name)
      if header then
        self:point(path, include.line, header, by)
      else
        self:complain("%s:%d: not found: %s", path, include.line, by)
      end
    end
  end
end

-- What is compiled with others, but does not use their names: src/virtual has
-- functions in place of some of src/io.
local function part_of(path)
  return path:match "^spec/" or path:match "^src/virtual/" or "src/"
end

-- Calls, and whatever else names a function or a variable of another file. An
-- include that says the same comes first.
function Graph:follow_uses(path, file, definers)
  local names = sorted_keys(file.uses)
  table.sort(names, function(a, b) return file.uses[a] < file.uses[b] end)
  for _, name in ipairs(names) do
    local targets, line = definers[name] or {}, file.uses[name]
    if file.defines[name] then targets = {} end
    for _, target in ipairs(targets) do
      local apart = part_of(path) ~= part_of(target)
      if room_of(target) ~= room_of(path) and not apart then
        self:point(path, line, target, name)
      end
    end
  end
end

function Graph:follow_requires(path, file)
  for _, one in ipairs(file.requires) do
    local stem = "lua/" .. one.name:gsub("%.", "/")
    for _, target in ipairs { stem .. ".lua", stem .. "/init.lua" } do
      if exists(self.tree .. "/" .. target) then
        self:point(path, one.line, target, 'require "' .. one.name .. '"')
      end
    end
  end
end

local function build(tree)
  local graph = setmetatable({ tree = tree, arrows = {}, complaints = {} },
    Graph)
  local files, definers, paths = {}, {}, list_files(tree)
  for _, path in ipairs(paths) do
    local is_lua = path:find "%.lua$"
    local file = arrows[is_lua and "read_lua" or "read_c"](
      read(tree .. "/" .. path))
    files[path] = file
    graph:add(room_of(path), room_of(path))
    for name in pairs(file.defines or {}) do
      definers[name] = definers[name] or {}
      table.insert(definers[name], path)
    end
  end
  for _, path in ipairs(paths) do
    local file = files[path]
    if file.requires then
      graph:follow_requires(path, file)
    else
      graph:follow_includes(path, file)
      graph:follow_uses(path, file, definers)
    end
  end
  graph.files = #paths
  return graph
end

-- The shortest way from a room back to itself, or nil.
local function circle_of(graph, start)
  local came_from, queue, at = {}, { start }, 1
  while queue[at] do
    local room = queue[at]
    at = at + 1
    for _, to in ipairs(sorted_keys(graph.arrows[room])) do
      if to == start then
        local chain = { start }
        while room do
          table.insert(chain, 1, room)
          room = came_from[room]
        end
        return chain
      end
      if not came_from[to] then
        came_from[to] = room
        queue[#queue + 1] = to
      end
    end
  end
end

-- Tells of the shortest circle. (The simulator is no part of the house; what
-- counts of it is where it looks.)
local function tell_circle(graph, lines)
  local best
  for _, room in ipairs(sorted_keys(graph.arrows)) do
    local chain = not room:find "^spec/" and circle_of(graph, room)
    if chain and (not best or #chain < #best) then best = chain end
  end
  if not best then return end
  lines[#lines + 1] = ("a circle of %d files: %s"):format(#best - 1,
    table.concat(best, ", ", 1, #best - 1))
  for i = 1, #best - 1 do
    local arrow = graph.arrows[best[i]][best[i + 1]]
    lines[#lines + 1] = ("  %-24s %-24s %s: %s"):format(
      best[i]:gsub("^.*src/", "") .. " →", best[i + 1]:gsub("^.*src/", ""),
      arrow.at, arrow.by)
  end
end

-- What is wrong with a tree, in lines; and how many files were read.
function floors.check(tree)
  local graph = build(tree)
  local lines = graph.complaints
  table.sort(lines)
  tell_circle(graph, lines)
  return lines, graph.files
end

function floors.main(tree)
  tree = tree or "."
  local lines, files = floors.check(tree)
  if files == 0 then lines[1] = "no files in " .. tree end
  for _, line in ipairs(lines) do print(line) end
  if #lines == 0 then
    print(("floors: %d files, all arrows go down, no circle"):format(files))
  end
  os.exit(#lines == 0 and 0 or 1)
end

return floors

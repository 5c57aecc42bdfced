-- Writes the rockspecs: `make rockspecs`. Each is the template, filled in with
-- the version and with the files that there are.
--
--   lua make.lua DIRECTORY VERSION FILE…
--
-- writes four into DIRECTORY: for either of ZooKeeper's client libraries one of
-- the version, which fetches the tag v<VERSION>, and one called scm, which
-- fetches what is newest.
local here = arg[0]:match "^(.*)/" or "."

local function read(name)
  local file = assert(io.open(name))
  local text = file:read "*a"
  file:close()
  return text
end

local function write(name, text)
  local file = assert(io.open(name, "w"))
  assert(file:write(text))
  assert(file:close())
end

-- The modules that are written in Lua, a line each, by their names.
local function lua_modules(files)
  local lines = {}
  for _, file in ipairs(files) do
    local path = file:match "^lua/(.*)%.lua$"
    if path then
      local name = path:gsub("/init$", ""):gsub("/", ".")
      lines[#lines + 1] = ('    ["%s"] = "%s",'):format(name, file)
    end
  end
  table.sort(lines)
  return table.concat(lines, "\n")
end

-- The C files that `wanted` says, as the text of a table.  `margin`: what each
-- line begins with.
local function sources(files, wanted, margin)
  local lines, line = {}, margin
  table.sort(files)
  for _, file in ipairs(files) do
    if file:find "%.c$" and wanted(file) then
      local item = (' "%s",'):format(file)
      if #line + #item > 80 then
        lines[#lines + 1], line = line, margin
      end
      line = line .. item
    end
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n")
end

-- Who turns the client library is one of two files.
local other = { st = "src/io/library_mt.c", mt = "src/io/library_st.c" }
local function is_core(library)
  return function(file)
    return not file:find "^src/guardian/" and not file:find "^src/virtual/"
      and file ~= other[library]
  end
end

-- The command's guardian is a module of its own, with a clock.
local function is_guardian(file)
  return file:find "^src/guardian/" or file == "src/io/clock.c"
end

-- The core of zklock.testing: what asks the system for time and chance, and the
-- client library, are replaced by the files of src/virtual.
local replaced = { ["src/io/clock.c"] = true, ["src/io/entropy.c"] = true,
  ["src/io/imports.c"] = true, ["src/io/library_mt.c"] = true,
  ["src/virtual/atomics.c"] = true }
local function is_virtual(file)
  return not file:find "^src/guardian/" and not replaced[file]
end

-- What is said of the two.
local said = {
  st = {
    package = "zklock", summary = "Distributed locks for Lua, on ZooKeeper",
    why = [[
-- The C client of ZooKeeper, the single-threaded library. Where only the
-- multi-threaded one is installed there is the rock zklock-mt.]],
  },
  mt = {
    package = "zklock-mt",
    summary = "Distributed locks for Lua, on ZooKeeper (multi-threaded client)",
    why = [[
-- The C client of ZooKeeper, the multi-threaded library. The same modules as
-- the rock zklock's, which is to be preferred where both can be had.]],
  },
}

local function rockspec(template, library, version, files)
  local of = said[library]
  local values = {
    package = of.package, summary = of.summary, why = of.why,
    library = "zookeeper_" .. library,
    version = version .. "-1",
    tag = version == "scm" and "" or ('\n  tag = "v%s",'):format(version),
    lua_modules = lua_modules(files),
    core = sources(files, is_core(library), (" "):rep(7)),
    guardian = sources(files, is_guardian, (" "):rep(7)),
    virtual = sources(files, is_virtual, (" "):rep(11)),
  }
  return (template:gsub("@(%l[%l_]*)@", values)),
    ("%s-%s-1.rockspec"):format(of.package, version)
end

local directory, version = arg[1], arg[2]
local files = { (table.unpack or unpack)(arg, 3) } -- luacheck: ignore unpack
assert(version and version:find "^%d+%.%d+%.%d+$", "this is no version")
assert(#files > 0, "no files were named")
local template = read(here .. "/template")
for _, library in ipairs { "st", "mt" } do
  for _, of in ipairs { version, "scm" } do
    local text, name = rockspec(template, library, of, files)
    write(directory .. "/" .. name, "-- Made by `make rockspecs` from "
      .. "rockspec/template: change that one.\n" .. text)
  end
end

-- Writes the rockspecs: `make rockspecs`. Each is a template, filled in with
-- the version and with the files that there are.
--
--   lua make.lua DIRECTORY VERSION FILE…
--
-- writes two for each rock, zklock and zklock-tls, into DIRECTORY: one of the
-- version, which fetches the tag v<VERSION>, and one called scm, which fetches
-- what is newest.
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

local function is_core(file)
  return not file:find "^src/guardian/" and not file:find "^src/virtual/"
    and not file:find "^src/tls/"
end

-- The command's guardian is a module of its own, with a clock.
local function is_guardian(file)
  return file:find "^src/guardian/" or file == "src/io/clock.c"
end

-- The module for TLS is a rock of its own: it needs OpenSSL.
local function is_tls(file)
  return file:find "^src/tls/" or file == "src/io/images.c"
end

-- The core of zklock.testing: what asks the system for time and chance, and the
-- client library, are replaced by the files of src/virtual.
local replaced = { ["src/io/clock.c"] = true, ["src/io/entropy.c"] = true,
  ["src/io/imports.c"] = true, ["src/virtual/atomics.c"] = true }
local function is_virtual(file)
  return not file:find "^src/guardian/" and not file:find "^src/tls/"
    and not replaced[file]
end

local function rockspec(template, rock, version, files)
  local values = {
    version = version .. "-1",
    tag = version == "scm" and "" or ('\n  tag = "v%s",'):format(version),
    lua_modules = lua_modules(files),
    core = sources(files, is_core, (" "):rep(7)),
    guardian = sources(files, is_guardian, (" "):rep(7)),
    virtual = sources(files, is_virtual, (" "):rep(11)),
    tls = sources(files, is_tls, (" "):rep(7)),
  }
  return (template:gsub("@(%l[%l_]*)@", values)),
    ("%s-%s-1.rockspec"):format(rock, version)
end

local directory, version = arg[1], arg[2]
local files = { (table.unpack or unpack)(arg, 3) } -- luacheck: ignore unpack
assert(version and version:find "^%d+%.%d+%.%d+$", "this is no version")
assert(#files > 0, "no files were named")
local templates = { zklock = "template", ["zklock-tls"] = "template-tls" }
for rock, template in pairs(templates) do
  for _, of in ipairs { version, "scm" } do
    local text, name = rockspec(read(here .. "/" .. template), rock, of, files)
    write(directory .. "/" .. name, ("-- Made by `make rockspecs` from "
      .. "rockspec/%s: change that one.\n"):format(template) .. text)
  end
end

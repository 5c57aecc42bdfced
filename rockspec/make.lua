-- Writes the rockspecs: `make rockspecs`. Each is a template, filled in with
-- the version and the names of the Lua files.
--
--   lua make.lua DIRECTORY VERSION FILE…
--
-- writes two for each rock (zklock, zklock-cli, zklock-tls) into DIRECTORY: one
-- of the version, which fetches the tag v<VERSION>, and one called scm, which
-- fetches the newest commit.
--
-- Their build type is "command", because a rock of the type "builtin" installs
-- the whole directory lua in addition to its modules.
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

-- The Lua modules of the command (`of_command`), or all others, a line each. A
-- module's name ends with "init" if its file's name does, because LuaRocks
-- names the installed file after the module.
local function lua_modules(files, of_command)
  local lines = {}
  for _, file in ipairs(files) do
    local path = file:match "^lua/(.*)%.lua$"
    local is_of_command = path:find "^zklock/cli/" ~= nil
    if is_of_command == of_command then
      lines[#lines + 1] = ('      ["%s"] = "%s",'):format(path:gsub("/", "."),
        file)
    end
  end
  table.sort(lines)
  return table.concat(lines, "\n")
end

local function rockspec(template, rock, version, files)
  local values = {
    version = version .. "-1",
    tag = version == "scm" and "" or ('\n  tag = "v%s",'):format(version),
    library = lua_modules(files, false),
    command = lua_modules(files, true),
  }
  return (template:gsub("@(%l[%l_]*)@", values)),
    ("%s-%s-1.rockspec"):format(rock, version)
end

local directory, version = arg[1], arg[2]
local files = { (table.unpack or unpack)(arg, 3) } -- luacheck: ignore unpack
assert(version and version:find "^%d+%.%d+%.%d+$", "this is no version")
assert(#files > 0, "no files were named")
local templates = { zklock = "template", ["zklock-cli"] = "template-cli",
  ["zklock-tls"] = "template-tls" }
for rock, template in pairs(templates) do
  for _, of in ipairs { version, "scm" } do
    local text, name = rockspec(read(here .. "/" .. template), rock, of, files)
    write(directory .. "/" .. name, ("-- Made by `make rockspecs` from "
      .. "rockspec/%s: change that one.\n"):format(template) .. text)
  end
end

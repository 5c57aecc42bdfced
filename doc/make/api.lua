--- Writes doc/api.md, the reference, from the annotations and reference.md.
--
--     lua doc/make/api.lua            writes it
--     lua doc/make/api.lua --check    only says whether it is as it should be
--
-- Any Lua does.  It is called in the directory that has doc/ and lua/ in it.
local here = (arg and arg[0] or ""):match "^(.*)/[^/]*$" or "."
package.path = here .. "/?.lua;" .. package.path

local model = require "model"
local page = require "page"

local TARGET = "doc/api.md"

local function read(name)
  local file = io.open(name)
  if not file then return "" end
  local text = file:read "*a"
  file:close()
  return text
end

local text = page(model.read "lua/zklock/meta",
  read "doc/make/reference.md")
if arg[1] == "--check" then
  if read(TARGET) == text then os.exit(0) end
  io.stderr:write(TARGET, " is not what `make reference` writes\n")
  os.exit(1)
end
local file = assert(io.open(TARGET, "w"))
file:write(text)
file:close()

--- Writes doc/api.md, the reference, from the annotations and reference.md.
--
--     lua doc/make/api.lua
--
-- Any Lua does.  It is called in the directory that has doc/ and lua/ in it.
local here = (arg and arg[0] or ""):match "^(.*)/[^/]*$" or "."
package.path = here .. "/?.lua;" .. package.path

local model = require "model"
local page = require "page"

local file = assert(io.open "doc/make/reference.md")
local text = page(model.read "lua/zklock/meta", file:read "*a")
file:close()
file = assert(io.open("doc/api.md", "w"))
file:write(text)
file:close()

--- What lua/zklock/meta documents, and what there is.
local files = require "support.files"

local root = os.getenv "SPEC_ROOT" or "."

local reference = {}

local path = package.path
package.path = root .. "/doc/make/?.lua;" .. path
local annotations = require "annotations"
local model = require "model"
local page = require "page"
package.path = path

reference.parse = annotations.parse
reference.fields = model.fields
reference.new = model.new

--- The names and texts of the files, for reference.new.
function reference.texts()
  local texts = {}
  for _, name in ipairs(annotations.files) do
    texts[name] = files.read(("%s/lua/zklock/meta/%s.lua"):format(root, name))
  end
  return texts
end

function reference.read() return model.new(reference.texts()) end

--- The page that is made of it.
function reference.page(all)
  return page(all, files.read(root .. "/doc/make/reference.md"))
end

--- What users call a function: "session:mutex".
function reference.name(entry) return model.prefix(entry) .. entry.name end

--- All functions, in the order of the reference.
function reference.functions(all)
  local list = {}
  for _, entry in ipairs(all.entries) do
    if entry.kind == "function" then list[#list + 1] = entry end
  end
  return list
end

--- The words of an alias.
function reference.words(all, alias)
  local words = {}
  for _, choice in ipairs(all.aliases[alias].choices) do
    words[choice.value] = true
  end
  return words
end

--- The library's modules, loaded once more, while `edit(check)` has changed
-- what checks do: by their names.  What was loaded before stays.  `kept`: the
-- name of a module that is not loaded once more, the core's by default.
function reference.load(edit, names, kept)
  kept = kept or "zklock.core"
  local before = {}
  for name, module in pairs(package.loaded) do
    if name:find "^zklock" and name ~= kept then before[name] = module end
  end
  for name in pairs(before) do package.loaded[name] = nil end
  local loaded = {}
  local ok, problem = pcall(function()
    if kept ~= "zklock.core" then require(kept) end
    edit(require "zklock.check")
    for _, name in ipairs(names) do loaded[name] = require(name) end
  end)
  for name in pairs(package.loaded) do
    if name:find "^zklock" and name ~= kept then
      package.loaded[name] = nil
    end
  end
  for name, module in pairs(before) do package.loaded[name] = module end
  assert(ok, problem)
  return loaded
end

return reference

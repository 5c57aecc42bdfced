--- Model: all that the annotations say, by name, and checked as a whole.
local annotations = require "annotations"

local model = {}

local function fail(entry, ...)
  error(("%s:%d: %s"):format(entry.file, entry.line, (...):format(
    select(2, ...))), 0)
end

-- Every word of a type is defined somewhere.
local function check_type(all, entry, type)
  local words = type:gsub('"[^"]*"', "")
  -- The names of a function's parameters are no types.
  words = words:gsub("([%w_]+)%??:%s", " "):gsub("%.%.%.", " ")
  for word in words:gmatch "[%a_][%w_.]*" do
    if not annotations.builtin[word] and not all.classes[word]
        and not all.aliases[word] then
      fail(entry, "there is no type %s", word)
    end
  end
end

local function check_codes(all, entry)
  local known = {}
  for _, choice in ipairs(all.aliases["zklock.Code"].choices) do
    known[choice.value] = true
  end
  for _, code in ipairs(entry.codes or {}) do
    if not known[code] then fail(entry, "there is no error code %s", code) end
  end
  local returns = false
  for _, result in ipairs(entry.results) do
    returns = returns or result.name == "..."
      or result.type:find("zklock.Code", 1, true) ~= nil
  end
  if returns ~= (entry.codes ~= nil) then
    fail(entry, "%s: a function that returns a code lists its codes, and no "
      .. "other does", entry.name)
  end
end

local function check_function(all, entry)
  if #entry.text == 0 then fail(entry, "%s is not explained", entry.name) end
  for _, param in ipairs(entry.params) do
    check_type(all, entry, param.type)
    -- (Options are explained where they stand, paths once for all, and the
    -- name and type of the others say what they are.)
    if param.text == "" and not all.classes[param.type]
        and not param.type:find "[|?(]" and param.name ~= "path"
        and param.name ~= "i" then
      fail(entry, "%s: %s is not explained", entry.name, param.name)
    end
  end
  for _, result in ipairs(entry.results) do
    check_type(all, entry, result.type)
  end
  for _, overload in ipairs(entry.overloads) do
    check_type(all, entry, overload)
  end
  check_codes(all, entry)
end

local function check_class(all, entry)
  if #entry.text == 0 and #entry.fields > 0 then
    fail(entry, "%s is not explained", entry.name)
  end
  for _, parent in ipairs(entry.parents) do check_type(all, entry, parent) end
  for _, field in ipairs(entry.fields) do
    check_type(all, entry, field.type)
    if field.optional and not field.default and entry.name:find "Options$" then
      fail(entry, "%s.%s has no default", entry.name, field.name)
    end
  end
end

-- Every function is called in an example: its own, or another's.
local function check_examples(all)
  local code = {}
  for _, entry in ipairs(all.entries) do
    if entry.example then code[#code + 1] = entry.example.code end
  end
  code = table.concat(code, "\n")
  for _, entry in ipairs(all.entries) do
    if entry.kind == "function" and not code:find("[.:]" .. entry.name
        .. "%f[^%w_]") then
      fail(entry, "%s is in no example", entry.name)
    end
  end
end

local checks = { ["function"] = check_function, class = check_class }

function checks.alias(all, entry)
  if entry.type then check_type(all, entry, entry.type) end
end

-- Classes that stand in several files are one.
local function add_class(all, entry)
  local known = all.classes[entry.name]
  if not known then
    all.classes[entry.name] = entry
    entry.functions = {}
  elseif #entry.text + #entry.fields > 0 then
    fail(entry, "%s is explained twice", entry.name)
  end
end

--- From `{ name = text }` of the files: `{ entries =, classes =, aliases = }`,
-- the entries in the order of the reference.
function model.new(texts)
  local all = { entries = {}, classes = {}, aliases = {} }
  for _, name in ipairs(annotations.files) do
    if texts[name] then
      local file = "lua/zklock/meta/" .. name .. ".lua"
      for _, entry in ipairs(annotations.parse(texts[name], file)) do
        table.insert(all.entries, entry)
        if entry.kind == "class" then add_class(all, entry) end
        if entry.kind == "alias" then all.aliases[entry.name] = entry end
        if entry.kind == "function" then
          local functions = all.classes[entry.class].functions
          if functions[entry.name] then
            fail(entry, "%s is documented twice", entry.name)
          end
          functions[entry.name] = entry
        end
      end
    end
  end
  for _, entry in ipairs(all.entries) do
    if checks[entry.kind] then checks[entry.kind](all, entry) end
  end
  check_examples(all)
  return all
end

--- Those in the directory `meta`.
function model.read(meta)
  local texts = {}
  for _, name in ipairs(annotations.files) do
    local file = assert(io.open(("%s/%s.lua"):format(meta, name)))
    texts[name] = file:read "*a"
    file:close()
  end
  return model.new(texts)
end

--- All fields of a class, its parents' among them, by name.
function model.fields(all, name)
  local fields = {}
  for _, parent in ipairs(all.classes[name].parents) do
    for field, what in pairs(model.fields(all, parent)) do
      fields[field] = what
    end
  end
  for _, field in ipairs(all.classes[name].fields) do
    fields[field.name] = field
  end
  return fields
end

--- What users write before the name of a function: `session:`, `zklock.`.
function model.prefix(entry)
  local module = entry.class:match "^(.*)%.Module$"
  return (module or entry.variable) .. entry.separator
end

return model

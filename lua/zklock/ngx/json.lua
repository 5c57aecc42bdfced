--- JSON: writes and reads the reports that workers share (board.lua), and
-- writes the answer to `?format=json`.
--
-- The only escape in strings is \u00XX, for quotes and backslashes. All other
-- bytes of paths stay as they are; json.plain makes them fit to be shown.
local plain = require "zklock.plain"

local json = {}

local escapes = { ['"'] = "\\u0022", ["\\"] = "\\u005c" }

-- The fields whose values are JSON objects even if they are empty.
local objects = { refusals = true, losses = true }

--- Returns the text of a value. Lists must have no gaps, keys of objects must
-- be names, and numbers must be finite. `key`: the key of the value in the
-- table that contains it.
function json.write(value, key)
  if type(value) == "string" then
    return '"' .. value:gsub('["\\]', escapes) .. '"'
  elseif type(value) == "number" then
    return ("%.14g"):format(value) -- with a point, in any locale of nginx
  elseif type(value) ~= "table" then
    return tostring(value)
  end
  local parts = {}
  if value[1] ~= nil or not next(value) and not objects[key] then
    for i, item in ipairs(value) do parts[i] = json.write(item) end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  for name, item in pairs(value) do
    parts[#parts + 1] = '"' .. name .. '":' .. json.write(item, name)
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

--- Turns a text of json.write into valid JSON of visible characters.
function json.plain(text)
  return (text:gsub("[^ -~]+", function(run)
    return (plain.text(run):gsub("\\", escapes))
  end))
end

local closing = { ["["] = "]", ["{"] = "}" }
local words = { ["true"] = true, ["false"] = false }

local function unescape(digits) return string.char(tonumber(digits, 16)) end

-- Returns the value that begins at `i`, and the index after it; nil if there is
-- none.
local function read(text, i)
  local string, after = text:match('^"([^"]*)"()', i)
  if string then return string:gsub("\\u00(%x%x)", unescape), after end
  local word, behind = text:match("^([%w.+-]+)()", i)
  if words[word] ~= nil then return words[word], behind end
  if word then return tonumber(word), behind end
  local close, value = closing[text:sub(i, i)], {}
  i = close and i + 1
  while i and text:sub(i, i) ~= close do
    local key, from = text:match('^"([^"]*)":()', i)
    key = key or #value + 1
    value[key], i = read(text, from or i)
    i = value[key] ~= nil and text:match("^,?()", i) or nil
  end
  if i then return value, i + 1 end
end

--- Parses a text of json.write. Returns nil if the text is not valid.
function json.read(text)
  local value, after = read(text, 1)
  return after == #text + 1 and value or nil
end

return json

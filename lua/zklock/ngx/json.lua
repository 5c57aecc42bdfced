--- JSON: writes and reads the text in which a worker reports to the others. The
-- answer to `?format=json` also consists of these texts.
--
-- The only escape in strings is \u00XX, for quotes and backslashes. All other
-- bytes of paths stay as they are; json.plain makes them fit to be shown.
local decimal = require "zklock.decimal"
local plain = require "zklock.plain"

local json = {}

local escapes = { ['"'] = "\\u0022", ["\\"] = "\\u005c" }

-- The fields whose values are always JSON objects. If such a value is an empty
-- table, it is written as {}, not as [].
local objects = { refusals = true, losses = true, internal = true }

local function is_finite(value)
  return type(value) ~= "number" or value - value == 0
end

--- Returns the text of a value. Lists must have no gaps, and keys of objects
-- must be names. Omits numbers that are not finite. `key`: the key of the value
-- in the table that contains it.
function json.write(value, key)
  if type(value) == "string" then
    return '"' .. value:gsub('["\\]', escapes) .. '"'
  elseif type(value) == "number" then
    return decimal.format("%.14g", value)
  elseif type(value) ~= "table" then
    return tostring(value)
  elseif key == "buckets" then -- most of a report: whole numbers only
    return "[" .. table.concat(value, ",") .. "]"
  end
  local parts = {}
  for i, item in ipairs(value) do parts[i] = json.write(item) end
  if parts[1] or not next(value) and not objects[key] then
    return "[" .. table.concat(parts, ",") .. "]"
  end
  for name, item in pairs(value) do
    if is_finite(item) then
      parts[#parts + 1] = '"' .. name .. '":' .. json.write(item, name)
    end
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

--- Parses a text that json.write produced. Returns its value, or nil if the
-- text is not valid.
function json.read(text)
  local value, after = read(text, 1)
  if after == #text + 1 then return value end
end

return json

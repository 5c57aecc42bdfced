--- Report: a worker's snapshots of its sessions, as text for the other workers.
--
-- The text is a Lua table of strings, numbers, booleans and tables.  Reading it
-- never runs code, whatever the text is.  A report that was read has all fields
-- that the page needs, of the right type.
local decimal = require "zklock.decimal"
local Meters = require "zklock.meters"

local report = {}

-- Writing.

local writers = {}

local function write(value) return writers[type(value)](value) end

function writers.string(value) return ("%q"):format(value) end
function writers.boolean(value) return tostring(value) end

function writers.number(value)
  if value ~= value or value == math.huge or value == -math.huge then
    return "1e999" -- no report has NaN or negative infinity
  end
  return decimal.format("%.17g", value)
end

-- Lists of numbers are histograms, the greater part of a report; their items
-- are counts.  Keys are names of fields, codes and reasons.
function writers.table(value)
  local n = #value
  local parts = {}
  if type(value[1]) == "number" then
    parts[1] = table.concat(value, ",")
  else
    for i = 1, n do parts[i] = write(value[i]) end
  end
  for key, item in pairs(value) do
    if type(key) == "string" then
      parts[#parts + 1] = '["' .. key .. '"]=' .. write(item)
    end
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

report.write = write

-- Reading.  `read_value(text, i, depth)` returns the value at `i` and the
-- index after it, or nil if there is none.

local DEPTH = 6 -- of nested tables
local read_value

-- %q keeps a newline, and writes other control characters as numbers.
local function unescape(letter, digits)
  if letter:find "%d" then
    local byte = tonumber(letter .. digits)
    return byte < 256 and string.char(byte) or ""
  end
  return (letter == "r" and "\r" or letter) .. digits
end

local function read_string(text, i)
  local last = i
  repeat
    last = text:find('["\\]', last + 1)
    if not last then return nil end
    local is_end = text:byte(last) == 34
    if not is_end then last = last + 1 end
  until is_end
  local value = text:sub(i + 1, last - 1)
  return value:gsub("\\(.)(%d?%d?)", unescape), last + 1
end

local function read_number(text, i)
  local digits, after = text:match("^(%-?%d[%w.+-]*)()", i)
  return digits and tonumber(digits), after
end

local function read_item(text, i, into, depth)
  local key, after = text:match('^%["([%w_-]+)"%]=()', i)
  local value, following = read_value(text, after or i, depth)
  if value == nil then return nil end
  into[key or #into + 1] = value
  return following
end

local function read_table(text, i, depth)
  local value, mark = {}, text:byte(i + 1)
  if mark == 125 then return value, i + 2 end
  repeat
    i = read_item(text, i + 1, value, depth - 1)
    mark = i and text:byte(i)
    if mark == 125 then return value, i + 1 end
  until mark ~= 44
  return nil
end

function read_value(text, i, depth)
  local mark = text:byte(i)
  if mark == 123 then
    if depth > 0 then return read_table(text, i, depth) end
  elseif mark == 34 then
    return read_string(text, i)
  elseif text:find("^true", i) then
    return true, i + 4
  elseif text:find("^false", i) then
    return false, i + 5
  else
    return read_number(text, i)
  end
end

-- The fields of a report.  Each function checks a value.

local function is(kind)
  return function(value) return type(value) == kind end
end

local function list_of(is_item)
  return function(value)
    if type(value) ~= "table" then return false end
    for _, item in pairs(value) do
      if not is_item(item) then return false end
    end
    return true
  end
end

local function record(fields)
  return function(value)
    if type(value) ~= "table" then return false end
    for name, is_field in pairs(fields) do
      if not is_field(value[name]) then return false end
    end
    return true
  end
end

local text, number, boolean = is "string", is "number", is "boolean"
local numbers = list_of(number)

local function histogram(value)
  return numbers(value) and #value == #Meters.bounds + 1 and number(value.sum)
end

local function rows(fields)
  fields.path, fields.mode = text, text
  return list_of(record(fields))
end

local counts = rows { n = number }

local is_report = record {
  worker = text, pid = number, time = number,
  leaving = boolean, too_large = boolean,
  sessions = list_of(record {
    hosts = text, state = text, id = text, index = number,
    timeout = number, lease = number,
    counters = record { reconnects = number, expirations = number,
      requests = number, pending_releases = number, internal = numbers },
    locks = rows { waits = histogram, holds = histogram, refusals = numbers,
      losses = numbers },
    holds = rows { seconds = number, lease = number, token = text,
      node = text, state = text },
    waits = rows { seconds = number },
    holding = counts, waiting = counts,
  }),
}

--- Returns the report that a worker has written; nil if the text is not a
-- report.
function report.read(given)
  if not text(given) then return nil end
  local value, after = read_value(given, 1, DEPTH)
  return after == #given + 1 and is_report(value) and value or nil
end

return report

--- Checks of what users pass, each with a message that names the argument and
-- the rule.  `level` is where the blame goes, counted from our caller.
local core = require "zklock.core"
local misuse = require "zklock.errors".misuse

local check = {}

function check.type(value, expected, name, level)
  if type(value) ~= expected then
    misuse(level + 1, "%s must be a %s, got %s", name, expected,
      value == nil and "nil" or "a " .. type(value))
  end
  return value
end

function check.path(path, name, level)
  check.type(path, "string", name, level + 1)
  local fault = core.check_path(path)
  if fault then
    misuse(level + 1, "%s %s, got %q", name, fault, path)
  end
  return path
end

--- A time in seconds; nil and math.huge mean no limit and give nil.
function check.duration(value, name, level)
  if value == nil then return nil end
  check.type(value, "number", name, level + 1)
  if value ~= value or value < 0 then
    misuse(level + 1, "%s must be a number of seconds, not negative, got %s",
      name, tostring(value))
  end
  if value >= 1e9 then return nil end
  return value
end

--- Every key of `options` must be in `known`: a typo never passes silently.
function check.options(options, known, what, level)
  if options == nil then return {} end
  check.type(options, "table", what, level + 1)
  for key in pairs(options) do
    if not known[key] then
      misuse(level + 1, "unknown option %q in %s", tostring(key), what)
    end
  end
  return options
end

function check.flag(value, default, name, level)
  if value == nil then return default end
  return check.type(value, "boolean", name, level + 1)
end

function check.callback(value, name, level)
  local meta = type(value) == "table" and getmetatable(value)
  if type(value) ~= "function"
      and not (type(meta) == "table" and meta.__call) then
    misuse(level + 1, "%s must be a function, got %s", name,
      value == nil and "nil" or "a " .. type(value))
  end
  return value
end

--- Text that a contender's node carries.
function check.data(value, name, level)
  check.type(value, "string", name, level + 1)
  if #value > core.data_max then
    misuse(level + 1, "%s must be at most %d bytes, got %d", name,
      core.data_max, #value)
  end
  return value
end

--- A set from words: `check.set "a b c"`.
function check.set(words)
  local set = {}
  for word in words:gmatch("%S+") do set[word] = true end
  return set
end

return check

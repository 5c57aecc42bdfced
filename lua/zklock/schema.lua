--- Schema: the options that one object or one call takes.
--
-- A schema is a list of rows, one for each option, in the order of the checks:
--   { name, check, default }
--   check(value, title, read)   returns the value to use, or raises an error.
--                               `title` is how messages call the option; `read`
--                               has the values of the rows before.  Without a
--                               check, any value is valid
-- If a row has the field `always`, the check is called for nil, too.
local bytes = require "zklock.bytes"
local check = require "zklock.check"
local misuse = require "zklock.errors".misuse

local Schema = {}
Schema.__index = Schema

local schema, nothing = {}, {}

local function any(value) return value end

--- Returns a schema with these rows. `what`: the name of the options table in
-- messages; nil if the table is itself the value of an option. `parent`: a
-- schema whose rows the new one has, too. `is_secret`: whether no message may
-- show an unknown key.
function schema.new(what, rows, parent, is_secret)
  local self = setmetatable({ what = what, has = {}, is_secret = is_secret },
    Schema)
  for _, list in ipairs { parent or nothing, rows } do
    for _, row in ipairs(list) do
      row[2] = row[2] or any
      row.title = ("option '%s'"):format(row[1])
      self[#self + 1], self.has[row[1]] = row, true
    end
  end
  return self
end

--- Returns a check for an option whose value is a list of tables, each of which
-- has the options of this schema. `of`: the elements in the message.
function Schema:list(of)
  return function(value, title)
    check.list(value, title, of)
    local list = {}
    for i, one in ipairs(value) do
      list[i] = self:read(one, nil, ("%s [%d]"):format(title, i))
    end
    return list
  end
end

-- Raises an error if a table of options has a key that the schema lacks, such
-- as a typo.
local function check_keys(self, given, what)
  check.type(given, "table", what)
  for key in pairs(given) do
    if not self.has[key] then
      local names = {}
      for name in pairs(self.has) do names[#names + 1] = name end
      bytes.sort(names)
      names = table.concat(names, ", ")
      misuse("unknown option %q in %s (known: %s)",
        self.is_secret and "..." or tostring(key), what, names)
    end
  end
end

--- Checks `given`, a table of options; nil counts as an empty table. Returns a
-- table with the given values and the defaults. `read`: a table to fill and
-- return instead of a new one, or nil. `of`: the name of the option whose value
-- this table is, or nil; messages then name an option "<of>.<name>".
function Schema:read(given, read, of)
  if given == nil and not of then given = nothing end
  if not read then read = {} end
  check_keys(self, given, of or self.what)
  for _, row in ipairs(self) do
    local name, value = row[1], given[row[1]]
    if value ~= nil or row.always then
      read[name] = row[2](value, of and of .. "." .. name or row.title, read)
    elseif read[name] == nil then
      read[name] = row[3]
    end
  end
  return read
end

--- Like read(), for calls whose argument can be a table of options or only the
-- timeout, in seconds. Without an argument, sets no defaults.
function Schema:read_call(given, read)
  if not read then read = {} end
  if given == nil then return read end
  if type(given) == "table" or not self.has.timeout then
    return self:read(given, read)
  elseif type(given) ~= "number" then
    check.type(given, "number or a table", self.what)
  end
  read.timeout = check.duration(given, "timeout")
  return read
end

return schema

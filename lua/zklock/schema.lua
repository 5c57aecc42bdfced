--- Schema: the options that one object or one call takes.
--
-- A schema is a list of rows, one for each option, in the order of the checks:
--   { name, check, default }
--   check(value, title, read)   returns the value to use, or raises an error.
--                               `title` is how messages call the option; `read`
--                               has the values of the rows before.  Without a
--                               check, any value is valid
-- A row can also have these fields:
--   title      instead of "option '<name>'"
--   always     the check is called for nil, too
--   only       the objects with this option, such as "a mutex or a rwlock"
--   rules      what must be true beside the check: `{ fits, message, other }`.
--              If `fits(value, read)` is false, the message is raised; it can
--              show the value and the option `other`
local bytes = require "zklock.bytes"
local check = require "zklock.check"
local misuse = require "zklock.errors".misuse

local Schema = {}
Schema.__index = Schema

local schema, nothing = {}, {}

local function any(value) return value end

--- Returns a schema with these rows. `what`: the name of the options table in
-- messages; nil if the table is itself the value of an option. `object`: the
-- kind of object that takes the options, such as "a mutex"; needed if rows have
-- `only`. `secret`: the message for an unknown key if the key itself could be a
-- secret.
function schema.new(what, rows, object, secret)
  local self = setmetatable({ what = what, object = object, has = {},
    only = {}, secret = secret }, Schema)
  for _, row in ipairs(rows) do
    local name = row[1]
    row[2] = row[2] or any
    row.title = row.title or ("option '%s'"):format(name)
    if row.only and object and not row.only:find(object, 1, true) then
      self.only[name] = row.only
    else
      self[#self + 1], self.has[name] = row, true
    end
  end
  return self
end

local function names_of(set)
  local names = {}
  for name in pairs(set) do names[#names + 1] = name end
  bytes.sort(names)
  return table.concat(names, ", ")
end

-- Raises an error if a table of options has a key that the schema lacks, such
-- as a typo.
local function check_keys(self, given, what)
  if type(given) ~= "table" then check.type(given, "table", what) end
  for key in pairs(given) do
    if self.only[key] then
      misuse("option '%s' goes with %s only, not with %s", key, self.only[key],
        self.object)
    elseif not self.has[key] then
      if self.secret then misuse(self.secret, what) end
      misuse("unknown option %q in %s (known: %s)", tostring(key), what,
        names_of(self.has))
    end
  end
end

local function check_rules(row, value, read)
  for _, rule in ipairs(row.rules) do
    if value ~= nil and not rule[1](value, read) then
      misuse(rule[2], tostring(value), tostring(read[rule[3]]))
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
    local name = row[1]
    local value = given[name]
    if value ~= nil or row.always then
      local title = of and of .. "." .. name or row.title
      read[name] = row[2](value, title, read)
      if row.rules then check_rules(row, value, read) end
    elseif read[name] == nil then
      read[name] = row[3]
    end
  end
  return read
end

--- Like read(), for calls whose argument can be a table of options or only the
-- timeout, in seconds.
function Schema:read_call(given, read)
  if type(given) == "table" then return self:read(given, read) end
  if not read then read = {} end
  if type(given) == "number" then
    read.timeout = check.duration(given, "timeout")
  elseif given ~= nil then
    misuse("%s must be a number or a table, got a %s", self.what, type(given))
  end
  return read
end

return schema

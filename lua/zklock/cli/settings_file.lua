--- Settings file: reads a file with lines `key = value`. At the beginning of a
-- line or after white space, `#` begins a comment.
local bytes = require "zklock.bytes"
local convert = require "zklock.cli.convert"
local exit = require "zklock.cli.exit"
local owned_file = require "zklock.cli.owned_file"
local quote = require "zklock.quote"

local settings_file = {}

--- The keys of settings, each with the function that reads its value.
settings_file.keys = {
  hosts = convert.hosts,
  chroot = convert.chroot,
  session_timeout = convert.timeout,
  connect_timeout = convert.timeout,
  tick_time = convert.timeout,
  auth_file = convert.text,
  acl = convert.acl,
  tls_ca = convert.text,
  tls_cert = convert.text,
  tls_key = convert.text,
  tls_name = convert.text,
}

local function list_keys()
  local names = {}
  for name in pairs(settings_file.keys) do names[#names + 1] = name end
  bytes.sort(names)
  return table.concat(names, ", ")
end

-- Returns the key and the value of a line; nil for a line without a setting.
local function split(line, where)
  line = (" " .. line):gsub("%s#.*$", ""):match "^%s*(.-)%s*$"
  if line == "" then return nil end
  local key, value = line:match "^([^=]-)%s*=%s*(.*)$"
  if not key then
    exit.fail("configuration", "%s: this is no line 'key = value'", where)
  elseif not settings_file.keys[key] then
    exit.fail("configuration", "%s: there is no setting %s; there are %s",
      where, quote(key), list_keys())
  elseif value == "" then
    exit.fail("configuration", "%s: %s has no value", where, key)
  end
  return key, value
end

--- Returns the settings of a file: key → `{ value =, where = "FILE:LINE" }`. If
-- there is no such file, the table is empty. If permissions deny access to the
-- file, returns an empty table and a message.
function settings_file.read(name)
  local text, problem, kind = owned_file.read(name, owned_file.public)
  if kind == "hidden" then
    return {}, name .. " " .. problem
  elseif problem and kind ~= "none" then
    exit.fail("configuration", "%s %s", name, problem)
  end
  local found, number = {}, 0
  for line in ((text or "") .. "\n"):gmatch "(.-)\r?\n" do
    number = number + 1
    local where = ("%s:%d"):format(name, number)
    local key, value = split(line, where)
    if key then
      if found[key] then
        exit.fail("configuration", "%s: %s is set in %s, too", where, key,
          found[key].where)
      end
      local read_value, fault = settings_file.keys[key](value)
      if fault then
        exit.fail("configuration", "%s: %s: %s", where, key, fault)
      end
      found[key] = { value = read_value, where = where }
    end
  end
  return found
end

return settings_file

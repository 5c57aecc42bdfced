--- Reads the hosts, the credentials and the other settings. Each setting comes
-- from the first of these sources that has it: an option, the environment,
-- ~/.config/zklock, /etc/zklock.conf.
local bytes = require "zklock.bytes"
local convert = require "zklock.cli.convert"
local credentials = require "zklock.cli.credentials"
local exit = require "zklock.cli.exit"
local owned_file = require "zklock.cli.owned_file"
local quote = require "zklock.quote"

local config = {}

config.system_file = "/etc/zklock.conf"

--- The source that is reported for a setting that has its default value.
config.BY_DEFAULT = "by default"

--- Maps the key of each setting to a table: `read`, the function that reads its
-- value; `variable`, its environment variable; `is_file`, whether it is the
-- name of a file; and `default`.
config.settings = {
  hosts = { read = convert.hosts, variable = "ZKLOCK_HOSTS",
    default = "127.0.0.1:2181" },
  chroot = { read = convert.chroot, variable = "ZKLOCK_CHROOT" },
  session_timeout = { read = convert.timeout,
    variable = "ZKLOCK_SESSION_TIMEOUT", default = 30 },
  connect_timeout = { read = convert.timeout, default = 10 },
  tick_time = { read = convert.timeout },
  acl = { read = convert.acl },
  auth_file = { read = convert.text, variable = "ZKLOCK_AUTH_FILE",
    is_file = true },
  tls_ca = { read = convert.text, variable = "ZKLOCK_TLS_CA", is_file = true },
  tls_cert = { read = convert.text, variable = "ZKLOCK_TLS_CERT",
    is_file = true },
  tls_key = { read = convert.text, variable = "ZKLOCK_TLS_KEY",
    is_file = true },
  tls_name = { read = convert.text, variable = "ZKLOCK_TLS_NAME" },
}

--- Returns the keys of all settings in alphabetical order.
function config.keys()
  local keys = {}
  for key in pairs(config.settings) do keys[#keys + 1] = key end
  bytes.sort(keys)
  return keys
end

-- Returns the value of an environment variable; nil if it is empty or missing.
local function variable(name)
  local value = name and os.getenv(name)
  return value ~= "" and value or nil
end

-- Returns the name of the user's settings file, or nil. Ignores a relative
-- $XDG_CONFIG_HOME, as the XDG standard requires.
local function user_file()
  local home = variable "HOME"
  local directory = variable "XDG_CONFIG_HOME"
  if not (directory and directory:find "^/") then
    directory = home and home .. "/.config"
  end
  return directory and directory .. "/zklock"
end

-- Returns the value of a setting. Fails if the text is wrong.
local function convert_text(key, text, where)
  local value, fault = config.settings[key].read(text)
  if fault then exit.fail("configuration", "%s: %s", where, fault) end
  return value
end

local function of_options(request)
  local found = {}
  for key in pairs(config.settings) do
    if request[key] ~= nil then
      found[key] = { value = request[key], code = "usage",
        where = "--" .. key:gsub("_", "-") }
    end
  end
  return found
end

local function of_environment()
  local found = {}
  for key, setting in pairs(config.settings) do
    local text = variable(setting.variable)
    if text then
      local where = "$" .. setting.variable
      found[key] = { value = convert_text(key, text, where), where = where }
    end
  end
  return found
end

-- Returns the key and the value of a line `key = value`; nil for a line without
-- a setting. At the beginning of a line or after white space, `#` begins a
-- comment.
local function split(line, where)
  line = (" " .. line):gsub("%s#.*$", ""):match "^%s*(.-)%s*$"
  if line == "" then return nil end
  local key, value = line:match "^([^=]-)%s*=%s*(.*)$"
  if not key then
    exit.fail("configuration", "%s: this is no line 'key = value'", where)
  elseif not config.settings[key] then
    exit.fail("configuration", "%s: there is no setting %s; there are %s",
      where, quote(key), table.concat(config.keys(), ", "))
  elseif value == "" then
    exit.fail("configuration", "%s: %s has no value", where, key)
  end
  return key, value
end

-- Reads a settings file. If a setting is a relative file name, makes it
-- relative to the directory of the settings file. If permissions deny access to
-- the settings file, returns no settings, and a message.
local function of_file(name)
  local found, number = {}, 0
  local text, problem, kind = owned_file.read(name, owned_file.public)
  if kind == "hidden" then
    return found, name .. " " .. problem
  elseif problem and kind ~= "none" then
    exit.fail("configuration", "%s %s", name, problem)
  end
  for line in ((text or "") .. "\n"):gmatch "(.-)\r?\n" do
    number = number + 1
    local where = ("%s:%d"):format(name, number)
    local key, value = split(line, where)
    if key and found[key] then
      exit.fail("configuration", "%s: %s is set in %s, too", where, key,
        found[key].where)
    elseif key then
      value = convert_text(key, value, where .. ": " .. key)
      if config.settings[key].is_file and not value:find "^/" then
        value = name:match "^(.*/)" .. value
      end
      found[key] = { value = value, where = where }
    end
  end
  return found
end

--- Returns all settings: key → `{ value =, where =, code = }`. `where`: the
-- source; `code`: the exit code if the value is wrong.
function config.find(request)
  local own, hidden = user_file(), nil
  local sources = { of_options(request), of_environment(), {} }
  if own then sources[3], hidden = of_file(own) end
  local unreadable
  sources[4], unreadable = of_file(config.system_file)
  if unreadable then exit.fail("configuration", "%s", unreadable) end
  local found = {}
  for i = #sources, 1, -1 do
    for key, setting in pairs(sources[i]) do found[key] = setting end
  end
  if hidden and not found.hosts then
    exit.fail("configuration", "%s: name the hosts by --hosts or "
      .. "$ZKLOCK_HOSTS, or set HOME to a directory of yours", hidden)
  end
  for key, setting in pairs(config.settings) do
    found[key] = found[key] or setting.default
      and { value = setting.default, where = config.BY_DEFAULT }
  end
  return found
end

local function blame(setting, message, ...)
  exit.fail(setting.code or "configuration", "%s: " .. message, setting.where,
    ...)
end

-- Returns the hosts with the chroot appended. Fails if both have a chroot.
local function join(hosts, chroot)
  if not chroot or chroot.value == "/" then return hosts.value end
  if hosts.value:find("/", 1, true) then
    local later = chroot.code and chroot or hosts
    blame(later, "the hosts have a chroot already, %s (%s), and there is "
      .. "another one, %s (%s)", hosts.value:match "/.*", hosts.where,
      chroot.value, chroot.where)
  end
  return hosts.value .. chroot.value
end

-- Returns the option `tls` of zklock.connect; nil if TLS is not used.
local function read_tls(found)
  local tls = {}
  for _, name in ipairs { "ca", "cert", "key", "name" } do
    local setting = found["tls_" .. name]
    tls[name] = setting and setting.value
  end
  local any = found.tls_cert or found.tls_key or found.tls_name
  if any and not tls.ca then
    blame(any, "TLS needs the authority that has signed the servers' "
      .. "certificates: say where it is by --tls-ca, $ZKLOCK_TLS_CA or tls_ca")
  elseif not tls.cert ~= not tls.key then
    blame(found.tls_cert or found.tls_key, "tls_cert and tls_key go together, "
      .. "and there is only %s", tls.cert and "tls_cert" or "tls_key")
  end
  return tls.ca and tls
end

-- Fails if two settings contradict each other. The library would also refuse
-- them. But its message would name options of the library, which users of the
-- command do not know.
local function check(found)
  local acl, tick = found.acl, found.tick_time
  if acl and acl.value ~= "open" and not found.auth_file then
    blame(acl, "the ACL %s needs credentials: say where they are by "
      .. "--auth-file, $ZKLOCK_AUTH_FILE or auth_file", acl.value)
  elseif tick and 2 * tick.value > found.session_timeout.value then
    blame(tick, "the tick time %g must be at most half of the session timeout, "
      .. "%g (both in seconds)", tick.value, found.session_timeout.value)
  end
end

--- Returns three values: the hosts with the chroot, the options of
-- zklock.connect, and all settings with their sources.
function config.read(request)
  local found = config.find(request)
  check(found)
  local options = { loop = "luv" }
  for _, key in ipairs { "session_timeout", "connect_timeout", "tick_time",
      "acl" } do
    options[key] = found[key] and found[key].value
  end
  if found.auth_file then
    options.auth = credentials.read(found.auth_file.value)
  end
  options.tls = read_tls(found) or nil
  return join(found.hosts, found.chroot), options, found
end

return config

--- Reads the hosts, the credentials and the other settings. Each setting comes
-- from the first of these sources that has it: an option, the environment,
-- ~/.config/zklock, /etc/zklock.conf.
local credentials = require "zklock.cli.credentials"
local exit = require "zklock.cli.exit"
local settings_file = require "zklock.cli.settings_file"

local config = {}

config.system_file = "/etc/zklock.conf"

--- The source that is reported for a setting that has its default value.
config.BY_DEFAULT = "by default"

config.defaults = {
  hosts = "127.0.0.1:2181",
  session_timeout = 30,
  connect_timeout = 10,
}

--- The environment variable of each setting that has one.
config.variables = {}
for key in ([[hosts chroot auth_file session_timeout tls_ca tls_cert tls_key
    tls_name]]):gmatch "%S+" do
  config.variables[key] = "ZKLOCK_" .. key:upper()
end

-- The settings that are names of files.
local names_of_files = { "auth_file", "tls_ca", "tls_cert", "tls_key" }

-- Returns the value of an environment variable; nil if it is empty or missing.
local function variable(name)
  local value = os.getenv(name)
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

local function of_options(request)
  local found = {}
  for key in pairs(settings_file.keys) do
    if request[key] ~= nil then
      found[key] = { value = request[key], code = "usage",
        where = "--" .. key:gsub("_", "-") }
    end
  end
  return found
end

local function of_environment()
  local found = {}
  for key, name in pairs(config.variables) do
    local text = variable(name)
    if text then
      local value, fault = settings_file.keys[key](text)
      if fault then exit.fail("configuration", "$%s: %s", name, fault) end
      found[key] = { value = value, where = "$" .. name }
    end
  end
  return found
end

-- Reads a settings file. If a setting is a relative file name, makes it
-- relative to the directory of the settings file. Returns the settings, and a
-- message if the file is hidden (settings_file.read).
local function of_file(name)
  local found, hidden = settings_file.read(name)
  for _, key in ipairs(names_of_files) do
    local file = found[key]
    if file and not file.value:find "^/" then
      file.value = name:match "^(.*/)" .. file.value
    end
  end
  return found, hidden
end

--- Returns all settings: key → `{ value =, where =, code = }`. `where`: the
-- source; `code`: the exit code if the value is wrong.
function config.find(request)
  local sources = { of_options(request), of_environment() }
  local own, hidden = user_file(), nil
  if own then sources[3], hidden = of_file(own) end
  local of_all, unreadable = of_file(config.system_file)
  if unreadable then exit.fail("configuration", "%s", unreadable) end
  sources[#sources + 1] = of_all
  local found = {}
  for i = #sources, 1, -1 do
    for key, setting in pairs(sources[i]) do found[key] = setting end
  end
  if hidden and not found.hosts then
    exit.fail("configuration", "%s: name the hosts by --hosts or "
      .. "$ZKLOCK_HOSTS, or set HOME to a directory of yours", hidden)
  end
  for key, value in pairs(config.defaults) do
    found[key] = found[key] or { value = value, where = config.BY_DEFAULT }
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

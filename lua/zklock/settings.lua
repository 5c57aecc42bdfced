--- Settings: checks the arguments of `connect`.
local access = require "zklock.access"
local check = require "zklock.check"
local core = require "zklock.core"
local loops = require "zklock.loop"
local misuse = require "zklock.errors".misuse

local settings = {}

local connect_options = check.set [[session_timeout min_session_timeout
  tick_time connect_timeout auth acl tls loop on_event log]]

local function positive(value, default, name)
  if value == nil then return default end
  check.type(value, "number", name)
  if not (value > 0 and value <= 86400) then
    misuse("%s must be more than 0 and at most 86400 seconds, got %s",
      name, tostring(value))
  end
  return value
end

--- The shortest session timeout that can be requested, in seconds.  No server
-- grants a shorter one, and heartbeats could not keep it alive, however near
-- the servers are.
local SHORTEST = 0.1

local function read_timeout(value)
  value = positive(value, 10, "option 'session_timeout'")
  if value < SHORTEST then
    misuse("option 'session_timeout' must be at least %g (seconds), got %s",
      SHORTEST, tostring(value))
  end
  return value
end

local function read_minimum(minimum, session_timeout)
  minimum = positive(minimum, nil, "option 'min_session_timeout'")
  if minimum and minimum > session_timeout then
    misuse("option 'min_session_timeout' must not be more than option "
      .. "'session_timeout', got %s and %s", tostring(minimum),
      tostring(session_timeout))
  end
  return minimum
end

--- Checks `tick_time`, in seconds.  Servers grant no session timeout below two
-- ticks, so a larger tick is an error, such as a value in milliseconds.
local function read_tick(tick, session_timeout)
  tick = positive(tick, nil, "option 'tick_time'")
  if tick and 2 * tick > session_timeout then
    misuse("option 'tick_time' must be at most half of option "
      .. "'session_timeout' (both in seconds), got %s and %s",
      tostring(tick), tostring(session_timeout))
  end
  return tick
end

local of_tls = check.set "ca cert key name"

--- Checks option `tls` and returns a copy of it.
local function read_tls(tls)
  if tls == nil then return nil end
  check.type(tls, "table", "option 'tls'")
  local copy = {}
  for name, value in pairs(check.options(tls, of_tls, "option 'tls'")) do
    check.type(value, "string", ("option 'tls'.%s"):format(name))
    if value == "" or value:find "%z" then
      misuse("option 'tls'.%s must be %s, got %q", name,
        name == "name" and "a host name" or "the name of a file", value)
    end
    copy[name] = value
  end
  if not copy.ca then
    misuse("option 'tls' must have ca, the file of the authority that has "
      .. "signed the servers' certificates")
  elseif not copy.cert ~= not copy.key then
    misuse("option 'tls' must have both cert and key, or none of them, got "
      .. "only %s", copy.cert and "cert" or "key")
  elseif copy.name and (#copy.name > 255 or copy.name:find "%s") then
    misuse("option 'tls'.name must be a host name of at most 255 bytes, got "
      .. "%q", copy.name)
  end
  return copy
end

local function callback(value, name)
  return value ~= nil and check.callback(value, name) or nil
end

--- Checks the arguments of connect; returns them as a table, with all defaults.
function settings.read(hosts, options)
  check.type(hosts, "string", "argument 1 of connect (hosts)")
  local fault, chroot = core.check_hosts(hosts)
  if fault then misuse("argument 1 of connect (hosts) %s", fault) end
  options = check.options(options, connect_options, "connect options")
  local auth = access.read_auth(options.auth)
  local acl, is_sure = access.read_acl(options.acl, auth)
  local session_timeout = read_timeout(options.session_timeout)
  return {
    chroot = chroot,
    session_timeout = session_timeout,
    min_session_timeout = read_minimum(options.min_session_timeout,
      session_timeout),
    tick_time = read_tick(options.tick_time, session_timeout),
    connect_timeout = positive(options.connect_timeout, 10,
      "option 'connect_timeout'"),
    auth = auth,
    acl = acl,
    doubts_acl = not is_sure,
    tls = read_tls(options.tls),
    loop = loops.check(options.loop),
    log = callback(options.log, "option 'log'"),
    on_event = callback(options.on_event, "option 'on_event'"),
  }
end

return settings

--- Settings: the schema of the options of `connect`.
local access = require "zklock.access"
local check = require "zklock.check"
local core = require "zklock.core"
local loops = require "zklock.loop"
local misuse = require "zklock.errors".misuse
local schema = require "zklock.schema"

local settings = {}

local seconds = check.number("more than 0 and at most 86400 seconds",
  function(n) return n > 0 and n <= 86400 end)

local function acl(value, _, read)
  local list, is_sure = access.read_acl(value, read.auth)
  read.doubts_acl = not is_sure
  return list
end

local function text_of_tls(noun)
  return function(value, title)
    check.type(value, "string", title)
    if value == "" or value:find "%z" then
      misuse("%s must be %s, got %q", title, noun, value)
    end
    return value
  end
end

local file, host_name = text_of_tls "the name of a file",
  text_of_tls "a host name"

-- Returns whether the text can be a host name or an address. An address can end
-- with the name of an interface, as in fe80::1%eth0.
local function is_host(text)
  return #text <= 255 and text:find "^[%w_:][%w_.:-]*%%?[%w_.-]*$"
end

local of_tls = schema.new(nil, {
  { "ca", file },
  { "cert", file },
  { "key", file },
  { "name", host_name, rules = {
    { is_host, "option 'tls'.name must be a host name or address of at most "
      .. "255 bytes, got %q" } } },
})

local function tls(value, title)
  local read = of_tls:read(value, {}, title)
  if not read.ca then
    misuse("option 'tls' must have ca, the file of the authority that has "
      .. "signed the servers' certificates")
  elseif not read.cert ~= not read.key then
    misuse("option 'tls' must have both cert and key, or none of them, got "
      .. "only %s", read.cert and "cert" or "key")
  end
  return read
end

local of_connect = schema.new("connect options", {
  { "auth", access.read_auth, {} },
  { "acl", acl },
  -- A shorter timeout is an error, because no server grants it. Heartbeats
  -- could not keep such a session alive either, even with servers nearby.
  { "session_timeout", seconds, 10, rules = {
    { function(n) return n >= 0.1 end,
      "option 'session_timeout' must be at least 0.1 (seconds), got %s" } } },
  { "min_session_timeout", seconds, rules = {
    { function(n, read) return n <= read.session_timeout end,
      "option 'min_session_timeout' must not be more than option "
        .. "'session_timeout', got %s and %s", "session_timeout" } } },
  -- Servers grant no session timeout below two ticks. So a tick above half of
  -- `session_timeout` is an error; often it is a value in milliseconds.
  { "tick_time", seconds, rules = {
    { function(n, read) return 2 * n <= read.session_timeout end,
      "option 'tick_time' must be at most half of option 'session_timeout' "
        .. "(both in seconds), got %s and %s", "session_timeout" } } },
  { "connect_timeout", seconds, 10 },
  { "tls", tls },
  { "loop", loops.check, "auto" },
  { "log", check.callback },
  { "on_event", check.callback },
})

--- Checks the arguments of connect; returns them as a table, with all defaults.
function settings.read(hosts, given)
  check.type(hosts, "string", "argument 1 of connect (hosts)")
  local fault, chroot = core.check_hosts(hosts)
  if fault then misuse("argument 1 of connect (hosts) %s", fault) end
  return of_connect:read(given, { hosts = hosts, chroot = chroot })
end

return settings

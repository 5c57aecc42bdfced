--- What `connect` was given, checked.
local check = require "zklock.check"
local core = require "zklock.core"
local loops = require "zklock.loop"
local misuse = require "zklock.errors".misuse

local settings = {}

local connect_options = check.set [[session_timeout least_session_timeout
  tick_time connect_timeout auth acl tls loop on_event log]]

local permission_bits = { r = 1, w = 2, c = 4, d = 8, a = 16 }

local function read_permissions(text, name)
  local seen, sum = {}, 0
  check.type(text, "string", name)
  for letter in text:gmatch(".") do
    local bit = permission_bits[letter]
    if not bit or seen[letter] then
      misuse("%s must be made of the letters c, d, r, w, a, got %q",
        name, text)
    end
    seen[letter] = true
    sum = sum + bit
  end
  return sum
end

local function read_acl(acl, credentials)
  if acl == nil or acl == "open" then return nil end
  local creator = { scheme = "auth", id = "", permissions = 31 }
  if acl == "creator" or acl == "read" then
    if #credentials == 0 then
      misuse("option 'acl' = %q needs option 'auth'", acl)
    end
    if acl == "creator" then return { creator } end
    return { creator, { scheme = "world", id = "anyone", permissions = 1 } }
  end
  if type(acl) ~= "table" or #acl == 0 then
    misuse("option 'acl' must be \"open\", \"creator\", \"read\" or "
      .. "a list of { scheme =, id =, perms = }")
  end
  local list = {}
  for i, entry in ipairs(acl) do
    local name = ("option 'acl' [%d]"):format(i)
    check.options(entry, check.set "scheme id perms", name)
    list[i] = {
      scheme = check.type(entry.scheme, "string", name .. ".scheme"),
      id = check.type(entry.id, "string", name .. ".id"),
      permissions = read_permissions(entry.perms, name .. ".perms"),
    }
  end
  return list
end

local function read_auth(auth)
  if auth == nil then return {} end
  check.type(auth, "table", "option 'auth'")
  if auth.scheme ~= nil or auth.credential ~= nil then auth = { auth } end
  local list = {}
  for i, entry in ipairs(auth) do
    local name = ("option 'auth' [%d]"):format(i)
    check.options(entry, check.set "scheme credential", name)
    list[i] = {
      scheme = check.type(entry.scheme, "string", name .. ".scheme"),
      credential = check.type(entry.credential, "string",
        name .. ".credential"),
    }
  end
  return list
end

local function positive(value, default, name)
  if value == nil then return default end
  check.type(value, "number", name)
  if not (value > 0 and value <= 86400) then
    misuse("%s must be more than 0 and at most 86400 seconds, got %s",
      name, tostring(value))
  end
  return value
end

--- No server grants less, so what is asked for cannot be less either.
-- Shorter ones could not be kept, however near the servers are.
local SHORTEST = 0.1

local function read_timeout(value)
  value = positive(value, 10, "option 'session_timeout'")
  if value < SHORTEST then
    misuse("option 'session_timeout' must be at least %g (seconds), got %s",
      SHORTEST, tostring(value))
  end
  return value
end

local function read_least(least, session_timeout)
  least = positive(least, nil, "option 'least_session_timeout'")
  if least and least > session_timeout then
    misuse("option 'least_session_timeout' must not be more than option "
      .. "'session_timeout', got %s and %s", tostring(least),
      tostring(session_timeout))
  end
  return least
end

--- A server grants no timeout below two ticks (and who says milliseconds is
-- told).
local function read_tick(tick, session_timeout)
  tick = positive(tick, nil, "option 'tick_time'")
  if tick and 2 * tick > session_timeout then
    misuse("option 'tick_time' must be at most half of option "
      .. "'session_timeout' (both in seconds), got %s and %s",
      tostring(tick), tostring(session_timeout))
  end
  return tick
end

local function callback(value, name)
  return value ~= nil and check.callback(value, name) or nil
end

--- The arguments of connect, as a table with every default filled in.
function settings.read(hosts, options)
  check.type(hosts, "string", "argument 1 of connect (hosts)")
  local fault = core.check_hosts(hosts)
  if fault then misuse("argument 1 of connect (hosts) %s", fault) end
  options = check.options(options, connect_options, "connect options")
  local auth = read_auth(options.auth)
  local session_timeout = read_timeout(options.session_timeout)
  return {
    session_timeout = session_timeout,
    least_session_timeout = read_least(options.least_session_timeout,
      session_timeout),
    tick_time = read_tick(options.tick_time, session_timeout),
    connect_timeout = positive(options.connect_timeout, 10,
      "option 'connect_timeout'"),
    auth = auth,
    acl = read_acl(options.acl, auth),
    tls = options.tls ~= nil
      and check.type(options.tls, "table", "option 'tls'") or nil,
    loop = loops.check(options.loop),
    log = callback(options.log, "option 'log'"),
    on_event = callback(options.on_event, "option 'on_event'"),
  }
end

return settings

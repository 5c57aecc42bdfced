--- Options: one schema for each object and each call that takes options. Its
-- rows are those of a class in meta/options.lua.
local access = require "zklock.access"
local check = require "zklock.check"
local core = require "zklock.core"
local loops = require "zklock.loop"
local misuse = require "zklock.errors".misuse
local schema = require "zklock.schema"

local options = {}

local function seconds(least, most)
  return check.number("a number of seconds", least, most)
end

-- Sessions.

local file = check.rule("string", "the name of a file", function(text)
  return text ~= "" and not text:find "%z"
end)

-- An address can end with the name of an interface, as in fe80::1%eth0.
local host_name = check.rule("string", "a host name or address of at most 255 "
  .. "bytes", function(text)
    return #text <= 255 and text:find "^[%w_:][%w_.:-]*%%?[%w_.-]*$"
  end)

local of_tls = schema.new(nil, {
  { "ca", file, always = true },
  { "cert", file },
  { "key", file },
  { "name", host_name },
})

local function tls(value, title)
  local read = of_tls:read(value, nil, title)
  if (read.cert == nil) ~= (read.key == nil) then
    misuse("%s must have both cert and key, or none of them", title)
  end
  return read
end

local of_connect = schema.new("connect options", {
  { "auth", access.read_auth, {} },
  { "acl", access.read_acl },
  -- A shorter timeout is an error, because no server grants it. Heartbeats
  -- could not keep such a session alive either, even with servers nearby.
  { "session_timeout", seconds(0.1, 86400), 10 },
  { "min_session_timeout", check.rule("number", "more than 0 and at most "
    .. "option 'session_timeout'", function(n, read)
      return n > 0 and n <= read.session_timeout
    end) },
  -- Servers grant no session timeout below two ticks. So a tick above half of
  -- `session_timeout` is an error; often it is a value in milliseconds.
  { "tick_time", check.rule("number", "more than 0 and at most half of option "
    .. "'session_timeout' (both in seconds)", function(n, read)
      return n > 0 and 2 * n <= read.session_timeout
    end) },
  { "connect_timeout", seconds(0.001, 86400), 10 },
  { "tls", tls },
  { "loop", loops.check, "auto" },
  { "log", check.callback },
  { "on_event", check.callback },
})

--- Checks the arguments of connect; returns them as a table, with all defaults.
function options.read_connect(hosts, given)
  check.type(hosts, "string", "argument 1 of connect (hosts)")
  local fault, chroot = core.check_hosts(hosts)
  if fault then misuse("argument 1 of connect (hosts) %s", fault) end
  return of_connect:read(given, { hosts = hosts, chroot = chroot })
end

-- Locks.

local pause = seconds(0.001, 1e9)

local max_hold = { "max_hold", check.duration }
local data = { "data", check.data }

local of_lock = schema.new("lock options", {
  { "lose_on_suspend", check.boolean, false },
  { "share_path", check.boolean, false },
  data,
  max_hold,
})

local of_family = {
  semaphore = schema.new("semaphore options", {}, of_lock),
  ["double barrier"] = schema.new("double barrier options", {}, of_lock),
  election = schema.new("election options", {
    { "layout", check.one_of "curator latch kazoo", "curator" },
  }, of_lock),
  rwlock = schema.new("rwlock options", {
    { "reentrant", check.boolean, true },
    { "layout", check.one_of "curator kazoo", "curator" },
  }, of_lock),
}
of_family.mutex = schema.new("mutex options", {
  { "fair", check.boolean, true },
  { "wait", check.one_of "predecessor parent poll", "predecessor" },
  { "poll_interval", pause, 1 },
  { "local_turns", check.number("a whole number", 0, 1e6), 0 },
}, of_family.rwlock)

-- The options of locks for which the user has passed no options. They are
-- shared, because a session may have thousands of such locks.
local plain_options = setmetatable({}, { __mode = "v" })

--- Checks the options of a lock.  `family`: "mutex", "rwlock", "semaphore",
-- "election" or "double barrier"; `kind`: the mode of its contenders.
function options.read_lock(given, family, kind, permits)
  local key = given == nil
    and ("%s %s %s"):format(family, kind, tostring(permits))
  if key and plain_options[key] then return plain_options[key] end
  local read = of_family[family]:read(given, { kind = kind, permits = permits,
    layout = "curator", local_turns = 0 })
  if read.fair == false then
    if given.wait or given.layout or read.local_turns > 0 then
      misuse "option 'fair' = false goes with none of wait, layout, local_turns"
    end
    read.kind = "unfair"
  end
  if read.local_turns > 0 and read.wait ~= "predecessor" then
    misuse "option 'local_turns' needs option 'wait' = \"predecessor\""
  elseif read.wait ~= "poll" and given and given.poll_interval then
    misuse "option 'poll_interval' needs option 'wait' = \"poll\""
  end
  -- Converts the options for the C core once, here, so that each acquisition
  -- need not convert them again.
  read.prepared = core.lock_options(read)
  if key then plain_options[key] = read end
  return read
end

-- Calls.

local timeout = { "timeout", check.duration }
local owner = { "owner", check.rule(nil, "a value other than NaN",
  function(value) return value == value end) }

local of_try = schema.new("try_acquire options", { owner, max_hold, data })
local of_acquire = schema.new("acquire options", { timeout }, of_try)
local of_with_lock = schema.new("with_lock options", { timeout, owner },
  of_family.mutex)
local of_release = schema.new("release options", {
  { "wait", check.boolean, false },
})

options.acquire, options.try = of_acquire, of_try
options.wait = schema.new("wait options", { timeout })
options.leave = schema.new("leave options", { timeout, { "guard" } })
options.run = schema.new("run options", {
  { "backoff", pause, 1 },
  { "max_backoff", check.rule("number", "from option 'backoff' to "
    .. "1000000000", function(n, read)
      return n >= read.backoff and n <= 1e9
    end), 30 },
  { "on_error", check.callback, false },
  max_hold,
  data,
})
options.once = schema.new("once options", {
  { "per", check.duration, always = true },
  timeout,
  data,
})

--- Checks the options of session:with_lock. Returns the lock's options (nil if
-- `given` is not a table) and the options for acquire.
function options.read_with_lock(given)
  local read = of_with_lock:read_call(given)
  local of_call = { timeout = read.timeout, owner = read.owner }
  if type(given) ~= "table" then return nil, of_call end
  local of_mutex = {}
  for name in pairs(of_family.mutex.has) do of_mutex[name] = given[name] end
  return of_mutex, of_call
end

local of_this_release = {} -- releases are many: they share one table

--- Checks the options of release; returns whether to wait for a server.
function options.read_release(given)
  if given == nil then return false end
  of_this_release.wait = nil
  return of_release:read(given, of_this_release).wait
end

return options

--- Options: checks the options of locks and of their methods; settings.lua
-- checks those of connect.
local check = require "zklock.check"
local core = require "zklock.core"
local errors = require "zklock.errors"

local misuse, with_article = errors.misuse, errors.with_article

local options = {}

local always = "data max_hold lose_on_suspend share_path"
local common = "reentrant " .. always
local of_family = {
  mutex = check.set(common .. " fair wait poll_interval local_turns layout"),
  rwlock = check.set(common .. " layout"),
  semaphore = check.set(always),
  ["double barrier"] = check.set(always),
  election = check.set(always .. " layout"),
}

-- The families of locks, in the order in which messages list them.
local families = { "mutex", "rwlock", "semaphore", "election",
  "double barrier" }

-- Returns the choices as a list in words: 'a b c' → '"a", "b" or "c"'.
local function alternatives(choices)
  local text = choices:gsub("%S+", '"%0"'):gsub(" ", ", ")
  return (text:gsub(", ([^,]*)$", " or %1"))
end

local function one_of(value, default, choices, name)
  if value == nil then return default end
  for choice in choices:gmatch "%S+" do
    if value == choice then return value end
  end
  misuse("%s must be %s, got %s", name, alternatives(choices), tostring(value))
end

local function whole(value, least, name)
  check.type(value, "number", name)
  if value ~= math.floor(value) or value < least or value > 1e6 then
    misuse("%s must be a whole number from %d to 1000000, got %s", name, least,
      tostring(value))
  end
  return value
end

-- Checks the keys of a lock's options.  If only locks of other families have an
-- option, the message names these families.
local function check_family(given, family)
  for key in pairs(type(given) == "table" and given or {}) do
    if not of_family[family][key] then
      local others = {}
      for _, other in ipairs(families) do
        if of_family[other][key] then
          others[#others + 1] = with_article(other)
        end
      end
      if #others > 0 then
        misuse("option '%s' goes with %s only, not with %s", key,
          table.concat(others, " or "), with_article(family))
      end
    end
  end
  return check.options(given, of_family[family], family .. " options")
end

-- Checks option `layout`; only elections have "latch", the layout of Curator's
-- LeaderLatch.
local function read_layout(value, family)
  if value == "latch" and family ~= "election" then
    misuse("option 'layout' = \"latch\" goes with an election only, not with "
      .. with_article(family))
  end
  return one_of(value, "curator", family == "election" and "curator latch kazoo"
    or "curator kazoo", "option 'layout'")
end

-- Checks a flag that is off by default; returns 1 or 0, as the core needs it.
local function as_number(value, name)
  return check.flag(value, false, name) and 1 or 0
end

-- Returns the options for the core: how it contends for the lock.
local function make_lock_options(given, family, kind, permits)
  local fair = check.flag(given.fair, true, "option 'fair'")
  local lock_options = {
    kind = fair and kind or "unfair",
    permits = permits,
    wait = one_of(given.wait, "predecessor", "predecessor parent poll",
      "option 'wait'"),
    poll_interval = check.duration(given.poll_interval,
      "option 'poll_interval'") or 1,
    local_turns = whole(given.local_turns or 0, 0, "option 'local_turns'"),
    layout = read_layout(given.layout, family),
    lose_on_suspend = as_number(given.lose_on_suspend,
      "option 'lose_on_suspend'"),
    shares_path = as_number(given.share_path, "option 'share_path'"),
  }
  if lock_options.poll_interval < 0.001 then
    misuse("option 'poll_interval' must be at least 0.001 seconds, got %s",
      tostring(lock_options.poll_interval))
  elseif given.poll_interval and lock_options.wait ~= "poll" then
    misuse("option 'poll_interval' needs option 'wait' = \"poll\"")
  elseif not fair and (given.wait or given.layout
      or lock_options.local_turns > 0) then
    misuse("option 'fair' = false goes with none of wait, layout, local_turns")
  elseif lock_options.local_turns > 0
      and lock_options.wait ~= "predecessor" then
    misuse("option 'local_turns' needs option 'wait' = \"predecessor\"")
  end
  -- Converted here, so that acquisitions need not convert them again.
  lock_options.prepared = core.lock_options(lock_options)
  return lock_options
end

-- The core's options of locks for which the user has given none, by kind and
-- permits. They are shared, because a session may have thousands of such locks.
local plain_options = setmetatable({}, { __mode = "v" })

local function read_lock_options(given, family, kind, permits)
  if next(given) ~= nil then
    return make_lock_options(given, family, kind, permits)
  end
  local key = permits and kind .. permits or kind
  local lock_options = plain_options[key]
  if not lock_options then
    lock_options = make_lock_options(given, family, kind, permits)
    plain_options[key] = lock_options
  end
  return lock_options
end

local function read_data(value, default)
  if value == nil then return default end
  return check.data(value, "option 'data'")
end

--- Checks the options of a lock.  `family`: "mutex", "rwlock", "semaphore",
-- "election" or "double barrier"; `kind`: the mode of its contenders; `data`:
-- the default data of its nodes.
function options.read_lock(given, family, kind, permits, data)
  given = check_family(given, family)
  return {
    lock_options = read_lock_options(given, family, kind, permits),
    reentrant = check.flag(given.reentrant, family ~= "election"
      and family ~= "double barrier", "option 'reentrant'"),
    data = read_data(given.data, data),
    max_hold = check.duration(given.max_hold, "option 'max_hold'"),
  }
end

--- Checks the number of permits of a semaphore, or of members of a double
-- barrier.
function options.check_count(count, name)
  whole(count, 1, name)
end

local of_acquire = check.set "timeout data max_hold owner"

--- Checks the argument of acquire: nil, seconds, or options.  Returns the
-- options and the timeout.  `what`: what messages call the options.
function options.read_acquire(given, what)
  return check.acquire_options(given, of_acquire, what or "acquire options")
end

-- Requests: the inputs of one acquisition.  The fields that most requests do
-- not set have their defaults here, because a table has room for four fields
-- before it doubles.  A request can also have `max_hold`, and `asked`: the
-- user's timeout for all parts of a multi.
local Request = {
  refusal = "timeout",
  taking = false, -- the multi's acquisition of which this is a part
  scope = false,
  gathers = false, -- true if it enters a double barrier
}
Request.__index = Request

--- Checks the options of acquire, and returns a request.  `terms`: see
-- lock.lua.
function options.read_request(terms, given, what)
  local timeout
  given, timeout = options.read_acquire(given, what)
  if given.owner ~= given.owner then
    misuse("option 'owner' must not be NaN")
  end
  local max_hold = terms.max_hold
  if given.max_hold ~= nil then
    max_hold = check.duration(given.max_hold, "option 'max_hold'")
  end
  local request = setmetatable({
    timeout = timeout,
    data = read_data(given.data, terms.data),
    owner = given.owner,
  }, Request)
  if max_hold then request.max_hold = max_hold end
  return request
end

local timeout_only = check.set "timeout"

--- Checks an argument that is a timeout or options with only a timeout; returns
-- the timeout.
function options.read_timeout(given, what)
  local _, timeout = check.acquire_options(given, timeout_only, what)
  return timeout
end

local of_leave = check.set "timeout guard"

--- Checks the options of a double barrier's leave; returns the timeout and the
-- guard. `is_of(guard, owners)` returns whether the guard belongs to the double
-- barrier.
function options.read_leave(given, is_of, owners)
  local timeout
  given, timeout = check.acquire_options(given, of_leave, "leave options")
  if given.guard ~= nil and not is_of(given.guard, owners) then
    misuse("option 'guard' must be what enter has given, of %s", owners.path)
  end
  return timeout, given.guard
end

--- Checks the options of try_acquire, and returns them.
function options.check_try(given)
  if given == nil then return {} end
  check.type(given, "table", "argument 1 of try_acquire")
  if given.timeout ~= nil then
    misuse("try_acquire takes no timeout")
  end
  return given
end

local of_release = check.set "wait"

--- Checks the options of release; returns whether it waits for a confirmation.
function options.read_release(given)
  if given == nil then return false end
  check.options(given, of_release, "release options")
  return check.flag(given.wait, false, "option 'wait'")
end

local of_run = check.set "backoff max_backoff on_error data max_hold"

local BACKOFF, MAX_BACKOFF = 1, 30

local function read_pause(value, name)
  if value == nil then return nil end
  check.type(value, "number", name)
  if not (value >= 0.001 and value < 1e9) then
    misuse("%s must be a number of seconds, at least 0.001, got %s", name,
      tostring(value))
  end
  return value
end

--- Checks the options of an election's run; returns those of the run, and those
-- of its campaigns.
function options.read_run(given)
  given = check.options(given, of_run, "run options")
  local backoff = read_pause(given.backoff, "option 'backoff'") or BACKOFF
  local most = read_pause(given.max_backoff, "option 'max_backoff'")
  if most and most < backoff then
    misuse("option 'max_backoff' must be at least option 'backoff', got %s",
      tostring(most))
  end
  if given.on_error ~= nil then
    check.callback(given.on_error, "option 'on_error'")
  end
  return {
    backoff = backoff,
    max_backoff = most or math.max(backoff, MAX_BACKOFF),
    on_error = given.on_error or false,
  }, { data = given.data, max_hold = given.max_hold }
end

local of_once = check.set "per timeout data"

--- Checks the options of session:once; returns the period, which may be
-- infinite, and the options of acquire.
function options.read_once(given)
  given = check.options(given, of_once, "once options")
  check.type(given.per, "number", "option 'per'")
  return check.duration(given.per, "option 'per'") or math.huge,
    { timeout = given.timeout, data = given.data }
end

local of_with_lock = check.set [[timeout owner reentrant data max_hold
  lose_on_suspend share_path fair wait poll_interval local_turns layout]]

--- Checks the options of session:with_lock; returns those of the lock, and
-- those of acquire.
function options.read_with_lock(given)
  local timeout
  given, timeout = check.acquire_options(given, of_with_lock,
    "with_lock options")
  local of_lock = {}
  for key, value in pairs(given) do of_lock[key] = value end
  of_lock.timeout, of_lock.owner = nil, nil
  return of_lock, { timeout = timeout, owner = given.owner }
end

return options

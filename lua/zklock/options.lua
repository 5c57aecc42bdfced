--- Option schemas of the locks and of their methods. The schema of connect's
-- options is in settings.lua.
local check = require "zklock.check"
local core = require "zklock.core"
local errors = require "zklock.errors"
local schema = require "zklock.schema"

local misuse, with_article = errors.misuse, errors.with_article

local options = {}

-- Checks of one option.

local function not_nan(value)
  if value ~= value then misuse "option 'owner' must not be NaN" end
  return value
end

local layout_of_election = check.one_of "curator latch kazoo"
local layout_of_lock = check.one_of "curator kazoo"

-- Only an election has "latch", the layout of Curator's LeaderLatch.
local function layout(value, title, read)
  if read.family == "election" then return layout_of_election(value, title) end
  if value == "latch" then
    misuse("option 'layout' = \"latch\" goes with an election only, not with "
      .. with_article(read.family))
  end
  return layout_of_lock(value, title)
end

local pause = check.number("a number of seconds, at least 0.001",
  function(n) return n >= 0.001 and n < 1e9 end)

local function max_backoff(value, title, read)
  return value == nil and math.max(read.backoff, 30) or pause(value, title)
end

local function guard(value, _, read)
  if not read.is_of(value, read.owners) then
    misuse("option 'guard' must be what enter has given, of %s",
      read.owners.path)
  end
  return value
end

-- Locks.

local max_hold = { "max_hold", check.duration }
local data = { "data", check.data }

local of_locks = {
  { "fair", check.boolean, true, only = "a mutex" },
  { "wait", check.one_of "predecessor parent poll", "predecessor",
    only = "a mutex" },
  { "poll_interval", check.duration, 1, only = "a mutex", rules = {
    { function(n) return n >= 0.001 end,
      "option 'poll_interval' must be at least 0.001 seconds, got %s" },
    { function(_, read) return read.wait == "poll" end,
      "option 'poll_interval' needs option 'wait' = \"poll\"" } } },
  { "local_turns", check.whole(0), 0, only = "a mutex", rules = {
    { function(n, read) return n == 0 or read.wait == "predecessor" end,
      "option 'local_turns' needs option 'wait' = \"predecessor\"" } } },
  { "layout", layout, "curator", only = "a mutex or a rwlock or an election" },
  { "lose_on_suspend", check.boolean, false },
  { "share_path", check.boolean, false },
  { "reentrant", check.boolean, true, only = "a mutex or a rwlock" },
  data,
  max_hold,
}

local of_family = {}
for _, family in ipairs { "mutex", "rwlock", "semaphore", "election",
  "double barrier" } do
  of_family[family] = schema.new(family .. " options", of_locks,
    with_article(family))
end

-- Calls.

local timeout = { "timeout", check.duration, title = "timeout" }
local owner = { "owner", not_nan }

local of_acquire = { timeout, owner, max_hold, data }

options.acquire = schema.new("acquire options", of_acquire)
options.campaign = schema.new("campaign options", of_acquire)
options.enter = schema.new("enter options", of_acquire)
options.release = schema.new("release options", {
  { "wait", check.boolean, false },
})
options.wait = schema.new("wait options", { timeout })
-- The table that the caller passes to read_call must have `is_of(guard,
-- owners)` and `owners`, which the check of `guard` needs.
options.leave = schema.new("leave options", { timeout, { "guard", guard } })
options.run = schema.new("run options", {
  { "backoff", pause, 1 },
  { "max_backoff", max_backoff, always = true, rules = {
    { function(n, read) return n >= read.backoff end,
      "option 'max_backoff' must be at least option 'backoff', got %s" } } },
  { "on_error", check.callback, false },
  max_hold,
  data,
})
options.once = schema.new("once options", {
  { "per", check.duration, always = true },
  timeout,
  data,
})
options.with_lock = schema.new("with_lock options",
  { timeout, owner, (unpack or table.unpack)(of_family.mutex) })

-- Reading.

local function read_lock_options(given, family, kind, permits)
  local read = of_family[family]:read(given, { family = family, kind = kind,
    permits = permits, layout = "curator", local_turns = 0 })
  if read.fair == false then
    if given.wait or given.layout or read.local_turns > 0 then
      misuse "option 'fair' = false goes with none of wait, layout, local_turns"
    end
    read.kind = "unfair"
  end
  -- Converts the options for the C core once, here, so that each acquisition
  -- need not convert them again.
  read.prepared = core.lock_options(read)
  return read
end

-- The options of locks for which the user has passed no options. They are
-- shared, because a session may have thousands of such locks.
local plain_options = setmetatable({}, { __mode = "v" })

--- Checks the options of a lock.  `family`: "mutex", "rwlock", "semaphore",
-- "election" or "double barrier"; `kind`: the mode of its contenders.
function options.read_lock(given, family, kind, permits)
  if given ~= nil then
    return read_lock_options(given, family, kind, permits)
  end
  local key = ("%s %s %s"):format(family, kind, tostring(permits))
  local shared = plain_options[key]
    or read_lock_options(nil, family, kind, permits)
  plain_options[key] = shared
  return shared
end

--- Checks the options of session:with_lock. Returns the lock's options (nil if
-- `given` is not a table) and the options for acquire.
function options.read_with_lock(given)
  local read = options.with_lock:read_call(given, { family = "mutex" })
  local of_call = { timeout = read.timeout, owner = read.owner }
  if type(given) ~= "table" then return nil, of_call end
  local of_lock = {}
  for name in pairs(of_family.mutex.has) do of_lock[name] = given[name] end
  return of_lock, of_call
end

local of_this_release = {} -- releases are many: they share one table

--- Checks the options of release; returns whether to wait for a server.
function options.read_release(given)
  if given == nil then return false end
  of_this_release.wait = nil
  return options.release:read(given, of_this_release).wait
end

--- Checks the options of try_acquire, and returns them.
function options.check_try(given)
  if given == nil then return nil end
  check.type(given, "table", "argument 1 of try_acquire")
  if given.timeout ~= nil then misuse "try_acquire takes no timeout" end
  return given
end

-- Request: the inputs of one acquisition. Fields that few requests set have
-- their defaults in this class. So most requests have at most four fields of
-- their own; a fifth would double the table's size. A request can also have
-- `max_hold`, and `asked`, the user's timeout for all parts of a multi.
local Request = {
  refusal = "timeout",
  taking = false, -- the acquisition of a multi with this part
  scope = false,
  gathers = false, -- true if the request enters a double barrier
}
Request.__index = Request

--- Checks `given`, the argument of acquire or of a similar method, and returns
-- a request. `terms`: what all acquisitions of the lock share (locks.terms).
-- `of_call`: the schema of the method; nil for acquire's.
function options.read_request(terms, given, of_call)
  local request = setmetatable({ timeout = nil, data = terms.data,
    owner = nil }, Request)
  local limit = terms.lock_options.max_hold
  if limit then request.max_hold = limit end
  return (of_call or options.acquire):read_call(given, request)
end

return options

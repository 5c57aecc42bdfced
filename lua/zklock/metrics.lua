--- Metrics: what is known of a session at a moment, and how it is told in
-- Prometheus' text format, version 0.0.4.
--
-- A snapshot is plain: tables, strings, numbers.  So it can be sent to another
-- process, which tells it together with its own (zklock.ngx.status).
local check = require "zklock.check"
local errors = require "zklock.errors"
local Meters = require "zklock.meters"
local plain = require "zklock.plain"
local tally = require "zklock.tally"

local metrics = {}

-- Reading.

-- Acquisitions under way: those of a wait that has terms.
local function read_waits(engine)
  local found = {}
  for _, place in ipairs(engine.waits.answers) do
    for _, wait in pairs(place) do
      if wait.terms and not wait.done then
        found[#found + 1] = { path = wait.terms.path, mode = wait.terms.mode,
          seconds = wait.share:waited(), id = wait.number }
      end
    end
  end
  return found
end

local function read_holds(engine)
  local found = {}
  for number, hold in pairs(engine.holds) do
    local share = engine.shares[number]
    if share and not hold.lost then
      local seconds, mode = share:held()
      found[#found + 1] = { path = hold.owners.path, mode = mode,
        seconds = seconds, id = number, token = share:token(),
        node = share:node(), lease = share:lease(), state = share:state() }
    end
  end
  return found
end

local function by_id(a, b) return a.id < b.id end

local function copy(from)
  local to = {}
  for key, value in pairs(from) do to[key] = value end
  return to
end

local function read_locks(engine)
  local found = {}
  for i, meter in ipairs(engine.meters.list) do
    found[i] = { path = meter.path, mode = meter.mode,
      waits = copy(meter.waits), holds = copy(meter.holds),
      refusals = copy(meter.refusals), losses = copy(meter.losses) }
  end
  return found
end

--- What is known of a session now; of a closed one, what was known then.
function metrics.read(engine)
  local is_closed, last = engine.state.is.closed, engine.state.last
  local holds = is_closed and {} or read_holds(engine)
  local waiting = is_closed and {} or read_waits(engine)
  table.sort(holds, by_id)
  table.sort(waiting, by_id)
  local known = read_locks(engine)
  return {
    hosts = engine.hosts,
    state = is_closed and "closed" or engine.core:state(),
    id = last and last.id or engine.core:id(),
    timeout = is_closed and 0 or engine.core:timeout(),
    lease = is_closed and 0 or engine.core:lease(),
    counters = last and last.stats or engine.core:stats(),
    locks = known,
    holds = holds,
    waits = waiting,
    holding = tally.rows(holds, known),
    waiting = tally.rows(waiting, known),
  }
end

-- Telling.

local marks = { ["\\"] = "\\\\", ['"'] = '\\"', ["\n"] = "\\n" }

-- (What looks like a byte that plain.text has written is told apart from one:
-- two paths must not become one sample twice.)
local function write_value(value)
  value = value:gsub("\\(x%x%x)", "\\x5c%1")
  return (plain.text(value):gsub('[\\"\n]', marks))
end

-- `{ name = value, … }` as `name="value",…`, in order.
local function write_labels(labels)
  local parts = {}
  for name, value in pairs(labels) do
    parts[#parts + 1] = ('%s="%s"'):format(name, write_value(value))
  end
  table.sort(parts)
  return table.concat(parts, ",")
end

local function write_number(value)
  if value ~= value then return "NaN" end
  if value == math.huge then return "+Inf" end
  if value == math.floor(value) and math.abs(value) < 2 ^ 53 then
    return ("%.0f"):format(value)
  end
  -- (The program's locale may write a comma, which no reader takes.)
  return (("%.9g"):format(value):gsub(",", "."))
end

local limits = { (table.unpack or unpack)(Meters.bounds) }
limits[#limits + 1] = math.huge

-- A family collects its samples over all sessions: a format's rule.
local Family = {}
Family.__index = Family

-- `all`: what write_labels has written.
function Family:write(all, value, suffix)
  self[#self + 1] = ("%s%s%s %s"):format(self.name, suffix or "",
    all == "" and "" or "{" .. all .. "}", write_number(value))
end

function Family:add(labels, value) self:write(write_labels(labels), value) end

-- (These are most of all lines: their labels are written once.)
function Family:add_histogram(labels, histogram)
  local all, sum = write_labels(labels), 0
  local first = all == "" and "" or all .. ","
  for i, bound in ipairs(limits) do
    sum = sum + histogram[i]
    self:write(('%sle="%s"'):format(first, write_number(bound)), sum, "_bucket")
  end
  self:write(all, histogram.sum, "_sum")
  self:write(all, sum, "_count")
end

-- Labels, and one more, or some.
local function with(labels, more)
  local all = copy(labels)
  for name, value in pairs(more) do all[name] = value end
  return all
end

local function one_of(words)
  return function(family, labels, value)
    for word in words:gmatch("%a+") do
      family:add(with(labels, { state = word }), value == word and 1 or 0)
    end
  end
end

local function of_path(row) return { path = row.path, mode = row.mode } end

local function each_word(field, label)
  return function(family, labels, snapshot)
    for _, lock in ipairs(snapshot.locks) do
      for word, count in pairs(lock[field]) do
        family:add(with(labels, { path = lock.path, mode = lock.mode,
          [label] = word }), count)
      end
    end
  end
end

local function each_histogram(field)
  return function(family, labels, snapshot)
    for _, lock in ipairs(snapshot.locks) do
      family:add_histogram(with(labels, of_path(lock)), lock[field])
    end
  end
end

metrics.count = tally.count

-- (A worker of an older version, which is about to leave, tells no oldest.)
local function each_row(field, what)
  return function(family, labels, snapshot)
    for _, row in ipairs(snapshot[field]) do
      family:add(with(labels, of_path(row)), row[what] or 0)
    end
  end
end

local function each_sum(field, label)
  return function(family, labels, snapshot)
    for word, n in pairs(snapshot[field]) do
      family:add(with(labels, { [label] = word }), n)
    end
  end
end

local function counter(name)
  return function(family, labels, snapshot)
    family:add(labels, snapshot.counters[name] or 0)
  end
end

local function field(name)
  return function(family, labels, snapshot)
    family:add(labels, snapshot[name])
  end
end

local tell_state = one_of "connecting connected suspended expired closed"

-- Name, type, what it is, and what its samples are.
local families = {
  { "zklock_session_up", "gauge",
    "1 if the session has a connection, and what it holds can be proved.",
    function(family, labels, snapshot)
      family:add(labels, snapshot.state == "connected" and 1 or 0)
    end },
  { "zklock_session_state", "gauge",
    "1 for the state that the session is in, 0 for the others.",
    function(family, labels, snapshot)
      tell_state(family, labels, snapshot.state)
    end },
  { "zklock_session_timeout_seconds", "gauge",
    "The session timeout that the servers have granted.", field "timeout" },
  { "zklock_session_lease_seconds", "gauge",
    "For how long what is held can be proved without hearing from a server.",
    field "lease" },
  { "zklock_session_reconnects_total", "counter",
    "Connections after the first one.", counter "reconnects" },
  { "zklock_session_expiries_total", "counter",
    "ZooKeeper sessions that have expired.", counter "expiries" },
  { "zklock_session_rounds_total", "counter",
    "Rounds that a quorum has committed to keep the lease.",
    counter "heartbeats" },
  { "zklock_session_requests_total", "counter",
    "Requests to the servers.", counter "requests" },
  { "zklock_session_pending_releases", "gauge",
    "Nodes that are to be deleted, and are still there.",
    counter "pending_releases" },
  { "zklock_session_refused_releases", "gauge",
    "Of these, nodes that a server has refused to delete.",
    counter "refused_releases" },
  { "zklock_session_grants_total", "counter",
    "Acquisitions that were granted, at all paths.", field "grants" },
  { "zklock_session_refusals_total", "counter",
    "Acquisitions that ended without the lock, at all paths, by their code.",
    each_sum("refusals", "code") },
  { "zklock_session_losses_total", "counter",
    "Holds that were lost, at all paths, by the reason.",
    each_sum("losses", "reason") },
  { "zklock_lock_wait_seconds", "histogram",
    "How long those waited who were granted the lock.",
    each_histogram "waits" },
  { "zklock_lock_hold_seconds", "histogram",
    "How long the lock was held, until it was released or lost.",
    each_histogram "holds" },
  { "zklock_lock_grants_total", "counter", "Acquisitions that were granted.",
    function(family, labels, snapshot)
      for _, lock in ipairs(snapshot.locks) do
        family:add(with(labels, of_path(lock)), tally.count(lock.waits))
      end
    end },
  { "zklock_lock_refusals_total", "counter",
    "Acquisitions that ended without the lock, by their code.",
    each_word("refusals", "code") },
  { "zklock_lock_losses_total", "counter",
    "Holds that were lost, by the reason.", each_word("losses", "reason") },
  { "zklock_lock_waiting", "gauge", "Who waits for the lock now.",
    each_row("waiting", "n") },
  { "zklock_lock_holding", "gauge", "Who holds the lock now.",
    each_row("holding", "n") },
  { "zklock_lock_oldest_wait_seconds", "gauge",
    "How long who waits now has waited, at the most; 0 where nobody does.",
    each_row("waiting", "oldest") },
  { "zklock_lock_oldest_hold_seconds", "gauge",
    "How long who holds now has held, at the most; 0 where nobody does.",
    each_row("holding", "oldest") },
}

-- Samples in an order that does not change, but for buckets.
local function sort_samples(family)
  if family.type ~= "histogram" then table.sort(family) end
end

--- The text of many sessions: `{ labels =, snapshot = }` of each.
function metrics.text(sources)
  local lines, full = {}, {}
  for i, source in ipairs(sources) do full[i] = tally.fill(source.snapshot) end
  for _, description in ipairs(families) do
    local name, kind, help, tell = (table.unpack or unpack)(description)
    local family = setmetatable({ name = name, type = kind }, Family)
    for i, source in ipairs(sources) do
      tell(family, source.labels, full[i])
    end
    sort_samples(family)
    lines[#lines + 1] = ("# HELP %s %s"):format(name, help)
    lines[#lines + 1] = ("# TYPE %s %s"):format(name, kind)
    for _, line in ipairs(family) do lines[#lines + 1] = line end
  end
  return table.concat(lines, "\n") .. "\n"
end

--- Names and texts that are added to each sample: a copy of what was given.
function metrics.check_labels(labels, what)
  if labels == nil then return {} end
  check.type(labels, "table", what)
  local taken = check.set "path mode state code reason le"
  for name, value in pairs(labels) do
    if type(name) ~= "string" or not name:find "^[%a_][%w_]*$"
        or name:find "^__" or taken[name] then
      errors.misuse("a label of %s must be a name of letters, digits and _, "
        .. "and none of ours (path, mode, state, code, reason, le), got %s",
        what, tostring(name))
    end
    check.type(value, "string", ("label '%s' of %s"):format(name, what))
  end
  return copy(labels)
end

return metrics

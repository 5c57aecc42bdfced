--- Tally: totals of a snapshot (census.lua), for metrics and the page of nginx.
-- Adds zeros for counters that have no event yet.
--
-- Why zeros: a counter that first appears with its first event begins at 1, and
-- Prometheus' increase and rate never see that event.  So the counters of
-- alerts exist from the beginning.  A session has all codes and reasons.  A
-- path has all reasons of losses, and `timeout` as soon as there is a waiter;
-- all codes for each path would make the text a sixth longer, and are seldom
-- needed.
--
-- Zeros are added when the text is made, so that the snapshots that processes
-- send to each other stay small.
local errors = require "zklock.errors"
local Meters = require "zklock.meters"

local tally = {}

--- The codes of acquisitions that ended without the lock, and the reasons of
-- losses.
tally.codes = { "timeout", "busy", "cancelled", "closed", "lost",
  "disconnected", "auth", "denied", "invalid", "conflict", "deadlock" }
tally.reasons = {}
for reason in pairs(errors.losses) do table.insert(tally.reasons, reason) end

local states = { "connecting", "connected", "suspended", "expired", "closed" }

--- Counts rows (holds or waits) by path and mode: `{ path =, mode =, n =,
-- oldest = }`, with the longest time of a row as `oldest`.  A path with a meter
-- in `locks` and no row counts 0.  Beyond Meters.most counts, all further paths
-- of a mode share one count.
function tally.rows(rows, locks)
  local counts, found = {}, {}
  local function at(path, mode)
    local key = mode .. path
    if not found[key] and #counts >= Meters.most then
      path, key = Meters.others, mode .. Meters.others
    end
    if not found[key] then
      found[key] = { path = path, mode = mode, n = 0, oldest = 0 }
      counts[#counts + 1] = found[key]
    end
    return found[key]
  end
  for _, lock in ipairs(locks) do at(lock.path, lock.mode) end
  for _, row in ipairs(rows) do
    local count = at(row.path, row.mode)
    count.n = count.n + 1
    count.oldest = math.max(count.oldest, row.seconds)
  end
  return counts
end

local function zeros(words)
  local counts = {}
  for _, word in ipairs(words) do counts[word] = 0 end
  return counts
end

--- Adds all numbers of `from` to those of `to`, also in nested tables; copies
-- texts.  Returns `to`.
function tally.add(to, from)
  for key, value in pairs(from) do
    if type(value) == "table" then
      to[key] = tally.add(to[key] or {}, value)
    else
      to[key] = type(value) == "number" and (to[key] or 0) + value or value
    end
  end
  return to
end

local function new_row(path, mode)
  local row = Meters.meter(path, mode)
  row.refusals, row.losses = zeros { "timeout" }, zeros(tally.reasons)
  row.waiting, row.oldest_wait, row.holding, row.oldest_hold = 0, 0, 0, 0
  return row
end

--- Returns the totals of a snapshot: `rows`, one for each path and mode, with
-- the counts of a lock and `waiting`, `oldest_wait`, `holding` and
-- `oldest_hold`.  The sums of all rows are the session's `grants`, `refusals`
-- and `losses`.  `states` has 1 for the session's state.  All other fields are
-- the snapshot's.
function tally.fill(snapshot)
  local rows, known = {}, {}
  local full = { rows = rows, grants = 0, refusals = zeros(tally.codes),
    losses = zeros(tally.reasons), states = zeros(states) }
  local function at(of)
    local key = of.mode .. of.path
    if not known[key] then
      known[key] = new_row(of.path, of.mode)
      rows[#rows + 1] = known[key]
    end
    return known[key]
  end
  for _, lock in ipairs(snapshot.locks) do
    tally.add(at(lock), lock)
    full.grants = full.grants + lock.waits.count
    tally.add(full.refusals, lock.refusals)
    tally.add(full.losses, lock.losses)
  end
  -- A path gets a meter with its first outcome.  If a path has only waiters, it
  -- has no meter, and `at` adds its row here.
  for _, count in ipairs(snapshot.waiting) do
    tally.add(at(count), { waiting = count.n, oldest_wait = count.oldest })
  end
  for _, count in ipairs(snapshot.holding) do
    tally.add(at(count), { holding = count.n, oldest_hold = count.oldest })
  end
  full.states[snapshot.state] = 1
  full.up = full.states.connected
  return setmetatable(full, { __index = snapshot })
end

return tally

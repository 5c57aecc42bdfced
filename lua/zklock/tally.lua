--- Tally: totals of a snapshot for metrics.lua, with zeros.
--
-- A counter that first appears with its first event begins at 1, and
-- Prometheus' increase and rate never see that event.  So the counters of
-- alerts exist from the beginning.  A session has all codes and reasons; a path
-- has all reasons of losses and `timeout` as soon as there is a waiter.  All
-- codes for each path would add a sixth to the text, and are seldom needed by
-- path.
--
-- Zeros are added when the text is made, so that snapshots between processes
-- stay small.
local errors = require "zklock.errors"
local Meters = require "zklock.meters"

local tally = {}

--- The codes of acquisitions without the lock, and the reasons of losses.
tally.codes = { "timeout", "busy", "cancelled", "closed", "lost",
  "disconnected", "auth", "denied", "invalid", "conflict", "deadlock" }
tally.reasons = {}
for reason in pairs(errors.losses) do table.insert(tally.reasons, reason) end

--- Returns how many values a histogram has counted.
function tally.count(histogram)
  local n = 0
  for i = 1, #Meters.bounds + 1 do n = n + histogram[i] end
  return n
end

--- Counts rows by path and mode: `{ path =, mode =, n =, oldest = }`; `oldest`:
-- the longest time of a row.  Paths with a meter and no row count 0.  Beyond a
-- number of paths, the rest of a mode shares one count.
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

local function add(to, from)
  for word, n in pairs(from) do to[word] = (to[word] or 0) + n end
  return to
end

local empty = { sum = 0 }
for i = 1, #Meters.bounds + 1 do empty[i] = 0 end

local function fill(lock)
  return { path = lock.path, mode = lock.mode,
    waits = lock.waits or empty, holds = lock.holds or empty,
    refusals = add(zeros { "timeout" }, lock.refusals or {}),
    losses = add(zeros(tally.reasons), lock.losses or {}) }
end

--- Returns the snapshot with zeros, and with the session's `grants`, `refusals`
-- and `losses`, summed over all paths.
function tally.fill(snapshot)
  local locks, known = {}, {}
  local full = { locks = locks, grants = 0, refusals = zeros(tally.codes),
    losses = zeros(tally.reasons) }
  -- A path with waiters has no meter before its first outcome.
  for _, rows in ipairs { snapshot.locks, snapshot.waiting } do
    for _, row in ipairs(rows) do
      local key = row.mode .. row.path
      if not known[key] then
        known[key] = true
        locks[#locks + 1] = fill(row)
      end
    end
  end
  for _, lock in ipairs(locks) do
    full.grants = full.grants + tally.count(lock.waits)
    add(full.refusals, lock.refusals)
    add(full.losses, lock.losses)
  end
  return setmetatable(full, { __index = snapshot })
end

return tally

--- Tally: what a snapshot of metrics.lua amounts to, and its zeros.
--
-- A counter that is there only from its first event on begins at 1, and who
-- looks at how it grows (Prometheus' increase and rate) never sees that event.
-- So what alerts look at is told from the beginning: of a session all codes and
-- all reasons, of a path, as soon as somebody waits there, all reasons of
-- losses, and timeouts.  (All the codes of each path would be a sixth more of
-- text, for what is seldom asked path by path.)
--
-- Zeros are added when the text is made: what one process tells another of
-- stays small.
local errors = require "zklock.errors"
local Meters = require "zklock.meters"

local tally = {}

--- With what an acquisition can end without the lock, and why a hold can end.
tally.codes = { "timeout", "busy", "cancelled", "closed", "lost",
  "disconnected", "auth", "denied", "invalid", "conflict", "deadlock" }
tally.reasons = {}
for reason in pairs(errors.losses) do table.insert(tally.reasons, reason) end

--- How many a histogram has counted.
function tally.count(histogram)
  local n = 0
  for i = 1, #Meters.bounds + 1 do n = n + histogram[i] end
  return n
end

--- How many rows there are of each path and mode, of those that have a meter
-- also none, and how long the oldest has lasted: `{ path =, mode =, n =,
-- oldest = }`.  However many paths there are, so many are told apart; the rest
-- of a mode is one.
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

--- The same snapshot with zeros, and with the session's `grants`, `refusals`
-- and `losses`, which are those of all its paths.
function tally.fill(snapshot)
  local locks, known = {}, {}
  local full = { locks = locks, grants = 0, refusals = zeros(tally.codes),
    losses = zeros(tally.reasons) }
  -- (Who waits at a path has no meter there before its first outcome.)
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

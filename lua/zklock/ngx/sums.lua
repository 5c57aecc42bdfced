--- Sums: what the reports of all workers (board.lua) amount to, for who looks
-- at the page in a hurry.
local Meters = require "zklock.meters"
local metrics = require "zklock.metrics"

local sums = {}

--- Calls `fn(session, report)` for each session of each worker.
function sums.each_session(reports, fn)
  for _, report in ipairs(reports) do
    for _, session in ipairs(report.sessions) do fn(session, report) end
  end
end

local function add_histogram(to, from)
  for i = 1, #Meters.bounds + 1 do to[i] = (to[i] or 0) + from[i] end
  to.sum = to.sum + from.sum
end

local function add_words(to, from)
  for word, n in pairs(from) do to[word] = (to[word] or 0) + n end
end

local function total(words)
  local n = 0
  for _, count in pairs(words) do n = n + count end
  return n
end

-- What needs a look comes first.
local function by_urgency(a, b)
  if a.waiting ~= b.waiting then return a.waiting > b.waiting end
  local i, j = total(a.losses), total(b.losses)
  if i ~= j then return i > j end
  i, j = metrics.count(a.waits), metrics.count(b.waits)
  if i ~= j then return i > j end
  return a.path < b.path
end

--- Of all workers, by servers, path and mode: `{ hosts =, path =, mode =,
-- waiting =, holding =, waits =, holds =, refusals =, losses = }`.
function sums.paths(reports)
  local list, found = {}, {}
  local function at(session, row)
    local key = session.hosts .. " " .. row.mode .. row.path
    if not found[key] then
      found[key] = { hosts = session.hosts, path = row.path, mode = row.mode,
        waiting = 0, holding = 0, waits = { sum = 0 }, holds = { sum = 0 },
        refusals = {}, losses = {} }
      for i = 1, #Meters.bounds + 1 do
        found[key].waits[i], found[key].holds[i] = 0, 0
      end
      list[#list + 1] = found[key]
    end
    return found[key]
  end
  sums.each_session(reports, function(session)
    for _, lock in ipairs(session.locks) do
      local one = at(session, lock)
      add_histogram(one.waits, lock.waits)
      add_histogram(one.holds, lock.holds)
      add_words(one.refusals, lock.refusals)
      add_words(one.losses, lock.losses)
    end
    for _, field in ipairs { "waiting", "holding" } do
      for _, row in ipairs(session[field]) do
        local one = at(session, row)
        one[field] = one[field] + row.n
      end
    end
  end)
  table.sort(list, by_urgency)
  return list
end

--- `{ sessions =, up =, held =, waiting =, losses =, expiries =,
-- pending_releases =, longest = }`: the last is for how long somebody waits.
function sums.totals(reports)
  local all = { sessions = 0, up = 0, held = 0, waiting = 0, losses = 0,
    expiries = 0, pending_releases = 0, longest = 0 }
  sums.each_session(reports, function(session)
    all.sessions = all.sessions + 1
    all.up = all.up + (session.state == "connected" and 1 or 0)
    for _, row in ipairs(session.holding) do all.held = all.held + row.n end
    for _, row in ipairs(session.waiting) do
      all.waiting = all.waiting + row.n
    end
    for _, lock in ipairs(session.locks) do
      all.losses = all.losses + total(lock.losses)
    end
    for _, wait in ipairs(session.waits) do
      all.longest = math.max(all.longest, wait.seconds)
    end
    all.expiries = all.expiries + session.counters.expiries
    all.pending_releases = all.pending_releases
      + session.counters.pending_releases
  end)
  return all
end

--- The bound below which so much of a histogram is, 0 to 1; math.huge above the
-- last; nil if there is nothing in it.
function sums.quantile(histogram, share)
  local wanted, n = metrics.count(histogram) * share, 0
  if wanted == 0 then return nil end
  for i, bound in ipairs(Meters.bounds) do
    n = n + histogram[i]
    if n >= wanted then return bound end
  end
  return math.huge
end

return sums

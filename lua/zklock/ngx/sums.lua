--- Sums: totals of all workers' reports (board.lua), for the top of the page.
local bytes = require "zklock.bytes"
local Meters = require "zklock.meters"
local tally = require "zklock.tally"

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

local function new_row(hosts, path, mode)
  local row = { hosts = hosts, path = path, mode = mode, waiting = 0,
    holding = 0, waits = { sum = 0 }, holds = { sum = 0 }, refusals = {},
    losses = {} }
  for i = 1, #Meters.bounds + 1 do row.waits[i], row.holds[i] = 0, 0 end
  return row
end

local function add_counts(to, from)
  add_histogram(to.waits, from.waits)
  add_histogram(to.holds, from.holds)
  add_words(to.refusals, from.refusals)
  add_words(to.losses, from.losses)
end

-- Sorts urgent rows first.
local function by_urgency(a, b)
  if a.waiting ~= b.waiting then return a.waiting > b.waiting end
  if a.lost ~= b.lost then return a.lost > b.lost end
  if a.holding ~= b.holding then return a.holding > b.holding end
  if a.granted ~= b.granted then return a.granted > b.granted end
  if a.path ~= b.path then return bytes.less(a.path, b.path) end
  return bytes.less(a.mode, b.mode)
end

local function sort(list)
  for _, row in ipairs(list) do
    row.lost, row.granted = total(row.losses), tally.count(row.waits)
  end
  table.sort(list, by_urgency)
end

-- Sums all rows after the first `most` into one; nil if there are none.
local function cut(list, most)
  if #list <= most then return nil end
  local rest = new_row()
  rest.n = #list - most
  for _ = 1, rest.n do
    local row = table.remove(list)
    add_counts(rest, row)
    rest.waiting = rest.waiting + row.waiting
    rest.holding = rest.holding + row.holding
  end
  return rest
end

--- Returns the sums of all workers by servers, path and mode: `{ hosts =, path
-- =, mode =, waiting =, holding =, waits =, holds =, refusals =, losses = }`,
-- urgent ones first.  Also returns the sum of all rows beyond `most`, with
-- their number `n`.  Calls `pause()` now and then.
function sums.paths(reports, most, pause)
  local list, found = {}, {}
  local function at(session, row)
    local key = session.hosts .. " " .. row.mode .. row.path
    if not found[key] then
      found[key] = new_row(session.hosts, row.path, row.mode)
      list[#list + 1] = found[key]
    end
    return found[key]
  end
  sums.each_session(reports, function(session)
    for _, lock in ipairs(session.locks) do
      add_counts(at(session, lock), lock)
    end
    for _, field in ipairs { "waiting", "holding" } do
      for _, row in ipairs(session[field]) do
        local one = at(session, row)
        one[field] = one[field] + row.n
      end
    end
    pause()
  end)
  sort(list)
  local rest = cut(list, most)
  return list, rest
end

--- Returns `{ sessions =, up =, held =, waiting =, losses =, expirations =,
-- pending_releases =, longest = }`; `longest`: the longest present wait.
function sums.totals(reports)
  local all = { sessions = 0, up = 0, held = 0, waiting = 0, losses = 0,
    expirations = 0, pending_releases = 0, longest = 0 }
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
    all.expirations = all.expirations + session.counters.expirations
    all.pending_releases = all.pending_releases
      + session.counters.pending_releases
  end)
  return all
end

--- Returns the bound below which this share (0 to 1) of a histogram lies;
-- math.huge above the last bound; nil if the histogram is empty.
function sums.quantile(histogram, share)
  local wanted, n = tally.count(histogram) * share, 0
  if wanted == 0 then return nil end
  for i, bound in ipairs(Meters.bounds) do
    n = n + histogram[i]
    if n >= wanted then return bound end
  end
  return math.huge
end

return sums

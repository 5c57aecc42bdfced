--- Metrics: writes snapshots (census.lua) in Prometheus' text format, version
-- 0.0.4.
local bytes = require "zklock.bytes"
local check = require "zklock.check"
local decimal = require "zklock.decimal"
local errors = require "zklock.errors"
local Meters = require "zklock.meters"
local plain = require "zklock.plain"
local tally = require "zklock.tally"

local metrics = {}

-- Numbers and labels.

local function write_number(value)
  if value ~= value then return "NaN" end
  if value == math.huge then return "+Inf" end
  if value == math.floor(value) and math.abs(value) < 2 ^ 53 then
    return ("%.0f"):format(value)
  end
  return decimal.format("%.9g", value)
end

local marks = { ["\\"] = "\\\\", ['"'] = '\\"', ["\n"] = "\\n" }

-- Returns `name="value"`.  plain.text writes a hidden byte as `\xNN`.  So a
-- text that already has `\xNN` is escaped first: otherwise two paths could
-- become the same sample.
local function write_label(name, value)
  value = plain.text((value:gsub("\\(x%x%x)", "\\x5c%1")))
  return ('%s="%s"'):format(name, (value:gsub('[\\"\n]', marks)))
end

-- Returns `{ name = value, … }` as `name="value",…`, in the order of the bytes.
local function write_labels(labels)
  local parts = {}
  for name, value in pairs(labels) do
    parts[#parts + 1] = write_label(name, value)
  end
  bytes.sort(parts)
  return table.concat(parts, ",")
end

-- A writer writes families of samples, one after the other.  The format
-- requires that all samples of a family are together.  Their order is fixed, so
-- that two texts can be compared.
local Writer = {}
Writer.__index = Writer

local function new_writer(pause)
  return setmetatable({
    name = false, -- the name of the current family
    parts = {}, -- strings of the current piece
    n = 0, -- the number of parts
    pieces = {},
    pause = pause,
  }, Writer)
end

-- The lines that are written between two pauses, in about a millisecond.
local PIECE = 2000

-- Adds a line, in three parts.  The parts are joined only with the whole piece,
-- because there may be hundreds of thousands of lines.
function Writer:write(head, middle, tail)
  local n, parts = self.n, self.parts
  parts[n + 1], parts[n + 2], parts[n + 3], parts[n + 4] = head, middle, tail,
    "\n"
  self.n = n + 4
  if self.n < PIECE * 4 then return end
  self:flush()
  self.pause()
end

function Writer:flush()
  self.pieces[#self.pieces + 1] = table.concat(self.parts, "", 1, self.n)
  self.n = 0
end

function Writer:add(words, value, suffix)
  self:write(self.name .. (suffix or ""),
    words == "" and " " or "{" .. words .. "} ", write_number(value))
end

local ends = {} -- the ends of the labels of each bucket
for i, bound in ipairs(Meters.bounds) do
  ends[i] = write_label("le", write_number(bound)) .. "} "
end
ends[#ends + 1] = 'le="+Inf"} '

function Writer:add_histogram(words, histogram)
  local sum, head = 0, ("%s_bucket{%s,"):format(self.name, words)
  for i = 1, #ends do
    sum = sum + histogram.buckets[i]
    self:write(head, ends[i], write_number(sum))
  end
  self:add(words, histogram.sum, "_sum")
  self:add(words, sum, "_count")
end

-- Adds a sample for each word of `counts`, such as `{ timeout = 2, busy = 1 }`.
function Writer:add_counts(words, label, counts)
  local list = {}
  for word in pairs(counts) do list[#list + 1] = word end
  bytes.sort(list)
  for _, word in ipairs(list) do
    self:add((words == "" and "" or words .. ",") .. write_label(label, word),
      counts[word])
  end
end

-- The families: name, type and help text; where the value is (the session, its
-- counters, or the row of each path: tally.fill) and in which field; and the
-- name of the label if the field has a number for each word.
local families = {
  { "zklock_session_up", "gauge",
    "1 if the session has a connection and can prove its holds, otherwise 0.",
    "session", "up" },
  { "zklock_session_state", "gauge",
    "1 for the current state of the session, 0 for the others.",
    "session", "states", "state" },
  { "zklock_session_timeout_seconds", "gauge",
    "Session timeout that the servers granted; 0 before the first connection "
      .. "and after close.",
    "session", "timeout" },
  { "zklock_session_lease_seconds", "gauge",
    "How long the session can prove its holds without a reply from a server.",
    "session", "lease" },
  { "zklock_session_reconnects_total", "counter",
    "Reconnects of the same ZooKeeper session. After an expiration the "
      .. "connection of the new session does not count.",
    "counters", "reconnects" },
  { "zklock_session_expirations_total", "counter",
    "ZooKeeper sessions that expired.", "counters", "expirations" },
  { "zklock_session_heartbeats_total", "counter",
    "Heartbeats that the servers have committed. Each renews the lease.",
    "counters", "heartbeats" },
  { "zklock_session_requests_total", "counter",
    "Requests sent to the servers.", "counters", "requests" },
  { "zklock_session_pending_releases", "gauge",
    "Nodes of ended acquisitions whose deletion no server has confirmed.",
    "counters", "pending_releases" },
  { "zklock_session_refused_releases", "gauge",
    "Nodes of ended acquisitions that a server has refused to delete.",
    "counters", "refused_releases" },
  { "zklock_session_grants_total", "counter",
    "Acquisitions that were granted, at all paths.", "session", "grants" },
  { "zklock_session_refusals_total", "counter",
    "Acquisitions that ended without the lock, at all paths, by their code.",
    "session", "refusals", "code" },
  { "zklock_session_losses_total", "counter",
    "Holds that were lost, at all paths, by their reason.",
    "session", "losses", "reason" },
  { "zklock_lock_wait_seconds", "histogram",
    "How long granted acquisitions waited.", "rows", "waits" },
  { "zklock_lock_hold_seconds", "histogram",
    "How long the lock was held, until it was released or lost.",
    "rows", "holds" },
  { "zklock_lock_refusals_total", "counter",
    "Acquisitions that ended without the lock, by their code.",
    "rows", "refusals", "code" },
  { "zklock_lock_losses_total", "counter",
    "Holds that were lost, by their reason.", "rows", "losses", "reason" },
  { "zklock_lock_waiting", "gauge",
    "Acquisitions of this session that wait now.", "rows", "waiting" },
  { "zklock_lock_holding", "gauge", "Current holds of this session.",
    "rows", "holding" },
  { "zklock_lock_oldest_wait_seconds", "gauge",
    "Age of the oldest current wait; 0 if there is none.",
    "rows", "oldest_wait" },
  { "zklock_lock_oldest_hold_seconds", "gauge",
    "Age of the oldest current hold; 0 if there is none.",
    "rows", "oldest_hold" },
}

-- Returns the values of one session, with its labels as text.  The labels of
-- the session and of each path are written once here, because each path has
-- some fifty samples.
local function new_source(given)
  local full, own = tally.fill(given.snapshot), write_labels(given.labels)
  for _, row in ipairs(full.rows) do
    row.words = write_label("mode", row.mode) .. ","
      .. write_label("path", row.path) .. (own == "" and "" or "," .. own)
  end
  return { words = own, session = { full }, counters = { full.counters },
    rows = full.rows }
end

--- Returns the text for many sessions, in pieces.  `given`: a list of `{ labels
-- =, snapshot = }`.  Calls `pause()` now and then, because the text may be
-- long.
function metrics.pieces(given, pause)
  local sources, writer = {}, new_writer(pause)
  for i, one in ipairs(given) do
    sources[i] = new_source(one)
    pause()
  end
  for _, family in ipairs(families) do
    local name, kind, help, of, field, label = (table.unpack or unpack)(family)
    writer.name = name
    writer:write("# HELP ", name .. " ", help)
    writer:write("# TYPE ", name .. " ", kind)
    for _, source in ipairs(sources) do
      for _, row in ipairs(source[of]) do
        local words, value = row.words or source.words, row[field] or 0
        if label then
          writer:add_counts(words, label, value)
        elseif kind == "histogram" then
          writer:add_histogram(words, value)
        else
          writer:add(words, value)
        end
      end
    end
  end
  writer:flush()
  return writer.pieces
end

--- Returns the text for many sessions in one piece.
function metrics.text(given)
  return table.concat(metrics.pieces(given, function() end))
end

--- Checks the labels that a user adds to each sample; returns a copy of them.
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
  local copy = {}
  for name, value in pairs(labels) do copy[name] = value end
  return copy
end

return metrics

--- Metrics: writes snapshots (snapshot.lua) in Prometheus' text format, version
-- 0.0.4.
local bytes = require "zklock.bytes"
local check = require "zklock.check"
local decimal = require "zklock.decimal"
local errors = require "zklock.errors"
local Meters = require "zklock.meters"
local plain = require "zklock.plain"

local metrics = {}

-- Numbers and labels.

local function write_number(value)
  if value == math.floor(value) and math.abs(value) < 2 ^ 53 then
    return ("%.0f"):format(value)
  end
  return decimal.format("%.9g", value)
end

local marks = { ["\\"] = "\\\\", ['"'] = '\\"', ["\n"] = "\\n" }

-- Returns `name="value"`. plain.text writes a hidden byte as `\xNN`. A path can
-- also contain these four characters as text. So they are escaped first;
-- otherwise two paths could have the same label.
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

-- The following functions add samples to `lines`, one in each line. `name`: the
-- name of the family; `words`: the labels as text. add_histogram needs at least
-- one label in `words`.

local function add_sample(lines, name, words, value)
  if words ~= "" then name = name .. "{" .. words .. "}" end
  lines[#lines + 1] = name .. " " .. write_number(value)
end

local ends = {} -- the last label of each bucket
for i, bound in ipairs(Meters.bounds) do
  ends[i] = write_label("le", write_number(bound))
end
ends[#ends + 1] = 'le="+Inf"'

local function add_histogram(lines, name, words, histogram)
  local sum, head = 0, ("%s_bucket{%s,"):format(name, words)
  for i, last in ipairs(ends) do
    sum = sum + histogram.buckets[i]
    lines[#lines + 1] = head .. last .. "} " .. write_number(sum)
  end
  add_sample(lines, name .. "_sum", words, histogram.sum)
  add_sample(lines, name .. "_count", words, sum)
end

-- Adds a sample for each of the family's words. `counts` has the values, such
-- as `{ timeout = 2, busy = 1 }`; a missing one is 0.
local function add_counts(lines, name, words, counts, family)
  if words ~= "" then words = words .. "," end
  for _, word in ipairs(family.words) do
    if counts[word] or not family.first or family.first == word then
      add_sample(lines, name, words .. write_label(family.label, word),
        counts[word] or 0)
    end
  end
end

-- If a counter first appears with its first event, its first value is 1.
-- Prometheus' increase and rate then never see that event. So the counters that
-- alerts use appear earlier, with the value 0. Each session has the counters of
-- all codes and reasons. Each path has those of all reasons and of `timeout`;
-- all codes would make the text a sixth longer.

--- The codes of acquisitions that ended without the lock.
metrics.codes = { "timeout", "busy", "cancelled", "closed", "lost",
  "disconnected", "auth", "denied", "invalid", "conflict", "deadlock" }

local codes, reasons = metrics.codes, {}
for reason in pairs(errors.losses) do table.insert(reasons, reason) end
bytes.sort(reasons)

local states = { "connecting", "connected", "suspended", "expired", "closed" }

-- The families: name, type, field and help text. The field, of total()'s result
-- or of a meter, has the value. If the value is a table with a number for each
-- word, the family has a `label` for the word, and `words`. Each of them always
-- has a sample; but if the family has a `first` word, only this word.
local families = {
  { "session_up", "gauge", "up",
    "1 if the session has a connection and can prove its holds, otherwise 0." },
  { "session_state", "gauge", "states", label = "state", words = states,
    "1 for the current state of the session, 0 for the others." },
  { "session_timeout_seconds", "gauge", "timeout",
    "Session timeout that the servers granted; 0 before the first connection "
      .. "and after close." },
  { "session_lease_seconds", "gauge", "lease",
    "How long the session can prove its holds without a reply from a server." },
  { "session_reconnects_total", "counter", "reconnects",
    "Reconnects of the same ZooKeeper session. After an expiration the "
      .. "connection of the new session does not count." },
  { "session_expirations_total", "counter", "expirations",
    "ZooKeeper sessions that expired." },
  { "session_heartbeats_total", "counter", "heartbeats",
    "Heartbeats that the servers have committed. Each renews the lease." },
  { "session_requests_total", "counter", "requests",
    "Requests sent to the servers." },
  { "session_pending_releases", "gauge", "pending_releases",
    "Nodes of ended acquisitions whose deletion no server has confirmed." },
  { "session_refused_releases", "gauge", "refused_releases",
    "Nodes of ended acquisitions that a server has refused to delete." },
  { "session_grants_total", "counter", "grants",
    "Acquisitions that were granted, at all paths." },
  { "session_refusals_total", "counter", "refusals",
    label = "code", words = codes,
    "Acquisitions that ended without the lock, at all paths, by their code." },
  { "session_losses_total", "counter", "losses",
    label = "reason", words = reasons,
    "Holds that were lost, at all paths, by their reason." },
  { "lock_wait_seconds", "histogram", "waits",
    "How long granted acquisitions waited." },
  { "lock_hold_seconds", "histogram", "holds",
    "How long the lock was held, until it was released or lost." },
  { "lock_refusals_total", "counter", "refusals",
    label = "code", words = codes, first = "timeout",
    "Acquisitions that ended without the lock, by their code." },
  { "lock_losses_total", "counter", "losses",
    label = "reason", words = reasons,
    "Holds that were lost, by their reason." },
  { "lock_waiting", "gauge", "waiting",
    "Acquisitions of this session that wait now." },
  { "lock_holding", "gauge", "holding", "Current holds of this session." },
  { "lock_oldest_wait_seconds", "gauge", "oldest_wait",
    "Age of the oldest current wait; 0 if there is none." },
  { "lock_oldest_hold_seconds", "gauge", "oldest_hold",
    "Age of the oldest current hold; 0 if there is none." },
}

-- Returns the values of a session: its counters, and the sums over its meters.
local function total(snapshot)
  local all = { refusals = {}, losses = {}, grants = 0,
    up = snapshot.state == "connected" and 1 or 0,
    states = { [snapshot.state] = 1 },
    timeout = snapshot.timeout, lease = snapshot.lease }
  for _, meter in ipairs(snapshot.locks) do
    all.grants = all.grants + meter.waits.count
    Meters.add(all.refusals, meter.refusals)
    Meters.add(all.losses, meter.losses)
  end
  return setmetatable(all, { __index = snapshot.counters })
end

-- Returns two lists of rows, `{ words =, values = }`. `session` has a row for
-- each session; `lock` has one for each path and mode. `words` are the labels
-- as text. They are formatted only once, here, because each path has about
-- fifty samples.
local function read_rows(given, pause)
  local rows = { session = {}, lock = {} }
  for _, one in ipairs(given) do
    local words = write_labels(one.labels)
    table.insert(rows.session, { words = words, values = total(one.snapshot) })
    for _, meter in ipairs(one.snapshot.locks) do
      table.insert(rows.lock, { values = meter,
        words = write_label("mode", meter.mode) .. ","
          .. write_label("path", meter.path)
          .. (words == "" and "" or "," .. words) })
    end
    pause()
  end
  return rows
end

local ROWS = 100 -- are written in about a millisecond

--- Returns the text for many sessions, in pieces. `given`: a list of `{ labels
-- =, snapshot = }`. Calls `pause()` between parts of the work, so that other
-- tasks can run, because the text may be long.
function metrics.pieces(given, pause)
  local rows, pieces, n = read_rows(given, pause), {}, 0
  for _, family in ipairs(families) do
    local name, kind, field = "zklock_" .. family[1], family[2], family[3]
    local lines = { ("# HELP %s %s\n# TYPE %s %s"):format(name, family[4], name,
      kind) }
    for _, row in ipairs(rows[family[1]:match "^%l+"]) do
      local words, value = row.words, row.values[field] or 0
      if family.label then
        add_counts(lines, name, words, value, family)
      elseif kind == "histogram" then
        add_histogram(lines, name, words, value)
      else
        add_sample(lines, name, words, value)
      end
      n = n + 1
      if n % ROWS == 0 then pause() end
    end
    pieces[#pieces + 1] = table.concat(lines, "\n") .. "\n"
  end
  return pieces
end

--- Returns the text for many sessions in one piece.
function metrics.text(given)
  return table.concat(metrics.pieces(given, function() end))
end

local taken = check.set "path mode state code reason le"

local check_name = check.rule("string", "a name of letters, digits and _, and "
  .. "none of zklock's own (path, mode, state, code, reason, le)",
  function(name)
    return name:find "^[%a_][%w_]*$" and not name:find "^__" and not taken[name]
  end)

--- Checks the labels that a user adds to each sample, and returns a copy of
-- them. `what`: the name of the argument, for messages.
function metrics.check_labels(labels, what)
  local copy = {}
  if labels ~= nil then check.type(labels, "table", what) end
  for name, value in pairs(labels or copy) do
    check_name(name, "a label of " .. what)
    copy[name] = check.type(value, "string",
      ("label '%s' of %s"):format(name, what))
  end
  return copy
end

return metrics

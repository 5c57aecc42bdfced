--- The books of one story: each wait ends, and in time; each callback is called
-- once; what a session has counted adds up.
local virtual = require "zklock.virtual"

local Ledger = {}
Ledger.__index = Ledger

local PATIENCE = 15 -- seconds, by which a wait may outlive its deadline

local function new(world, violate)
  return setmetatable({ world = world, violate = violate, open = {}, count = 0,
    outcomes = {} }, Ledger)
end

-- ---- Waits ------------------------------------------------------------------

--- A call begins that may wait; `timeout`: seconds; nil: without end.
function Ledger:begin(name, timeout)
  self.count = self.count + 1
  local entry = { name = name, begun = virtual.now(), timeout = timeout,
    jumped = self.world.jumped, number = self.count }
  table.insert(self.open, entry)
  return entry
end

--- It has ended with a code of `codes`, or "true".
function Ledger:finish(entry, code, codes)
  if entry.over then self.violate("%s has ended twice", entry.name) end
  entry.over = true
  for i, other in ipairs(self.open) do
    if other == entry then table.remove(self.open, i) end
  end
  self.outcomes[code] = (self.outcomes[code] or 0) + 1
  if code ~= "true" and not codes[code] then
    self.violate("%s has ended with %s", entry.name, code)
  end
  local late = virtual.now() - entry.begun - (entry.timeout or math.huge)
    - (self.world.jumped - entry.jumped)
  if late > PATIENCE then
    self.violate("%s has ended %.1f s after its deadline", entry.name, late)
  end
end

--- Nothing waits any more, when all is quiet.
function Ledger:check_over()
  local names = {}
  for i, entry in ipairs(self.open) do
    names[i] = ("%s (for %.0f s)"):format(entry.name,
      virtual.now() - entry.begun)
  end
  if names[1] then
    self.violate("all is quiet, and these wait still: %s",
      table.concat(names, "; "))
  end
end

-- ---- A session's counters ---------------------------------------------------

local bounds = { 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
  2.5, 5, 10, 30, 60, 300 }

local function new_counts(slot)
  local counts = { name = slot.name, waits = {}, holds = {}, grants = 0,
    losses = 0, refusals = {}, events = 0, buckets = {} }
  for i = 1, #bounds do counts.buckets[i] = 0 end
  return counts
end

-- Each bucket of the metrics has the quicker ones, too.
local function note_wait(counts, seconds)
  for i, bound in ipairs(bounds) do
    if seconds <= bound then counts.buckets[i] = counts.buckets[i] + 1 end
  end
end

--- From now on a session's trace is kept.
function Ledger:watch(slot, session)
  local counts = new_counts(slot)
  slot.counts = counts
  session:on_trace(function(event)
    local what, id = event.what, event.id
    if what == "wait" then
      if counts.waits[id] then
        self.violate("%s: %s waits twice", slot.name, id)
      end
      counts.waits[id] = true
    elseif what == "grant" then
      counts.waits[id] = nil
      if counts.holds[id] then
        self.violate("%s: %s is granted twice", slot.name, id)
      end
      counts.holds[id] = true
      counts.grants = counts.grants + 1
      note_wait(counts, event.waited)
    elseif what == "refuse" then
      if id then counts.waits[id] = nil end
      counts.refusals[event.code] = (counts.refusals[event.code] or 0) + 1
    else
      if not counts.holds[id] then
        self.violate("%s: the trace has %s of %s, which is not held",
          slot.name, what, tostring(id))
      end
      counts.holds[id] = nil
      if what == "loss" then counts.losses = counts.losses + 1 end
    end
  end)
end

local function sum(text, metric)
  local total = 0
  for line in text:gmatch "[^\n]+" do
    local name, value = line:match "^([%w_]+)[^ ]* ([%d%.e+-]+)$"
    if name == metric then total = total + tonumber(value) end
  end
  return total
end

local function sum_bucket(text, bound)
  local total = 0
  for line in text:gmatch "zklock_lock_wait_seconds_bucket{[^\n]*" do
    if line:find(('le="%.14g"'):format(bound), 1, true) then
      total = total + tonumber(line:match " ([%d%.e+-]+)$")
    end
  end
  return total
end

local function check_buckets(self, slot, text)
  for i, bound in ipairs(bounds) do
    local told = sum_bucket(text, bound)
    if told ~= slot.counts.buckets[i] then
      self.violate("%s: %d were granted within %s s, and metrics say %d",
        slot.name, slot.counts.buckets[i], bound, told)
    end
  end
end

local quiet = { "waiting", "holding", "pending_releases", "refused_releases" }

--- When all is quiet, and nothing is held.
function Ledger:check_counts(slot)
  local session, counts = slot.session, slot.counts
  local stats, text = session:stats(), session:metrics()
  for _, name in ipairs(quiet) do
    if stats[name] ~= 0 then
      self.violate("%s: all is quiet, and %s is %d", slot.name, name,
        stats[name])
    end
  end
  -- (What was left to the collector has no end in the trace.)
  local open = {}
  for id in pairs(counts.holds) do open[#open + 1] = id end
  if next(counts.waits) or #open > slot.abandoned then
    self.violate("%s: the trace has no end of %d holds (%d were left), and of "
      .. "the wait %s", slot.name, #open, slot.abandoned,
      tostring(next(counts.waits)))
  end
  local histogram = 0
  for _, n in ipairs(stats.wait_histogram) do histogram = histogram + n end
  if histogram ~= stats.grants then
    self.violate("%s: %d grants, and %d in the histogram", slot.name,
      stats.grants, histogram)
  end
  check_buckets(self, slot, text)
  local told = sum(text, "zklock_session_grants_total")
  if counts.grants ~= told then
    self.violate("%s: the trace has %d grants, the metrics %d", slot.name,
      counts.grants, told)
  end
  local timeouts = counts.refusals.timeout or 0
  if stats.timeouts ~= timeouts then
    self.violate("%s: the trace has %d timeouts, the counter %d", slot.name,
      timeouts, stats.timeouts)
  end
end

return { new = new }

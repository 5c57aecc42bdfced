--- The books of one story: each wait ends, and in time; each callback is called
-- once; what a session has counted adds up.
local prometheus = require "support.prometheus"
local virtual = require "zklock.virtual"

local Ledger = {}
Ledger.__index = Ledger

local PATIENCE = 15 -- seconds, by which a wait may outlive its deadline

local function new(world, violate)
  return setmetatable({ world = world, violate = violate, open = {},
    blocked = 0, jumped = 0 }, Ledger)
end

--- A task had its turn. The loop `poll` blocks all other tasks meanwhile.
function Ledger:count_turn(seconds)
  self.blocked = self.blocked
    + math.max(seconds - (self.world.jumped - self.jumped), 0)
  self.jumped = self.world.jumped
end

-- ---- Waits ------------------------------------------------------------------

--- A call begins that may wait; `timeout`: seconds; nil: without end.
function Ledger:begin(name, timeout)
  local entry = { name = name, begun = virtual.now(), timeout = timeout,
    jumped = self.world.jumped, blocked = self.blocked }
  table.insert(self.open, entry)
  return entry
end

--- The codes that a call may end with.
Ledger.codes = { timeout = true, busy = true, cancelled = true, lost = true,
  disconnected = true, closed = true, deadlock = true }

--- It has ended with one of these codes, or "true".
function Ledger:finish(entry, code)
  if entry.over then self.violate("%s has ended twice", entry.name) end
  entry.over = true
  for i, other in ipairs(self.open) do
    if other == entry then table.remove(self.open, i) end
  end
  if code ~= "true" and not self.codes[code] then
    self.violate("%s has ended with %s", entry.name, code)
  end
  local late = virtual.now() - entry.begun - (entry.timeout or math.huge)
    - (self.world.jumped - entry.jumped) - (self.blocked - entry.blocked)
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

--- From now on a session's trace is kept.
function Ledger:watch(slot, session)
  local counts = { waits = {}, holds = {}, grants = 0, timeouts = 0 }
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
    elseif what == "refuse" then
      if id then counts.waits[id] = nil end
      if event.code == "timeout" then counts.timeouts = counts.timeouts + 1 end
    else
      if not counts.holds[id] then
        self.violate("%s: the trace has %s of %s, which is not held",
          slot.name, what, tostring(id))
      end
      counts.holds[id] = nil
    end
  end)
end

local quiet = { "waiting", "holding", "pending_releases", "refused_releases" }

--- When all is quiet, and nothing is held.
function Ledger:check_counts(slot)
  local session, counts = slot.session, slot.counts
  local stats = session:stats()
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
  local told = prometheus.sum(prometheus.read(session:metrics()),
    "zklock_session_grants_total")
  if counts.grants ~= told then
    self.violate("%s: the trace has %d grants, the metrics %d", slot.name,
      counts.grants, told)
  end
  if stats.timeouts ~= counts.timeouts then
    self.violate("%s: the trace has %d timeouts, the counter %d", slot.name,
      counts.timeouts, stats.timeouts)
  end
end

return { new = new }

--- Meters: a session's counts of its locks, by path and mode, and the events
-- for the callback of session:on_trace.
--
-- An acquisition counts once: when its caller gets the outcome, or when it is
-- certain that the caller gets none. A hold counts once: when it is released,
-- when its loss is reported, or when the session is closed. A re-entry belongs
-- to the same hold. If a hold is collected without a release, it does not
-- count. If a debug hook interrupts a call, a count can be lost; no lock
-- depends on it.
local core = require "zklock.core"

local Meters = {}
Meters.__index = Meters

--- The first `most` pairs of path and mode have their own meters. All further
-- paths share one meter for each mode, whose path is `others`.
Meters.most, Meters.others = 100, "others"

--- Upper bounds of the histograms' buckets, in seconds; one more bucket counts
-- all longer times.
Meters.bounds = { 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
  2.5, 5, 10, 30, 60, 300 }

-- Returns an empty histogram. The constructor lists all buckets, so that the
-- table is allocated once, in its final size.
local function new_histogram()
  return { count = 0, sum = 0,
    buckets = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } }
end

-- Counts a time in its bucket.
local function observe(histogram, seconds)
  local i, bounds = 1, Meters.bounds
  while bounds[i] and seconds > bounds[i] do i = i + 1 end
  histogram.buckets[i] = histogram.buckets[i] + 1
  histogram.count = histogram.count + 1
  histogram.sum = histogram.sum + seconds
end

--- Returns a new meter: the counts of one path and mode, all zero.
function Meters.meter(path, mode)
  return { path = path, mode = mode, waits = new_histogram(),
    holds = new_histogram(), refusals = {}, losses = {},
    -- The waits and holds at the time of the last snapshot.
    waiting = 0, oldest_wait = 0, holding = 0, oldest_hold = 0 }
end

--- Adds each number of the meter `from` to the same number of `to`, also in
-- nested tables; copies texts. Returns `to`.
function Meters.add(to, from)
  for key, value in pairs(from) do
    if type(value) == "table" then
      to[key] = Meters.add(to[key] or {}, value)
    else
      to[key] = type(value) == "number" and (to[key] or 0) + value or value
    end
  end
  return to
end

function Meters.new(callbacks)
  return setmetatable({
    callbacks = callbacks,
    by_mode = {}, -- meters by mode, then by path
    list = {}, -- all meters, in the order of their creation
    trace = false, -- the function of on_trace
    untold = {}, -- events not yet passed to the trace callback
  }, Meters)
end

--- Returns the meter of a path and a mode; makes it if needed.  `mode`: a mode
-- of contenders.
function Meters:at(path, mode)
  local of_mode = self.by_mode[mode] or {}
  if of_mode[path] then return of_mode[path] end
  self.by_mode[mode] = of_mode
  if #self.list >= Meters.most then path = Meters.others end
  if not of_mode[path] then
    of_mode[path] = Meters.meter(path, mode)
    table.insert(self.list, of_mode[path])
  end
  return of_mode[path]
end

-- Keeps an event until tell() passes it to the trace callback. The callback may
-- wait, call step() or close the session, but nothing can wait inside a
-- release. So the caller calls tell() after the release. tell() passes each
-- event on once, in order.
local function note(self, what, path, mode, hold_ref, event)
  event.what, event.path, event.mode = what, path, mode
  event.id, event.time = hold_ref and hold_ref:number(), core.now()
  local untold = self.untold
  untold[#untold + 1] = event
end

--- Passes the kept events to the trace callback. An error of this callback is
-- treated like errors of other callbacks.
function Meters:tell()
  while self.untold[1] do
    self.callbacks:call({ fn = self.trace }, table.remove(self.untold, 1))
  end
end

local function count(counters, word)
  counters[word] = (counters[word] or 0) + 1
end

--- Reports the beginning of a wait to the trace callback.
function Meters:begin(terms, hold_ref, timeout)
  note(self, "wait", terms.path, terms.mode, hold_ref, { timeout = timeout })
  self:tell()
end

--- Counts a grant. Called when the caller of acquire gets the guard.
function Meters:grant(terms, hold_ref)
  local waited = hold_ref:take()
  observe(self:at(terms.path, terms.mode).waits, waited)
  if not self.trace then return end
  note(self, "grant", terms.path, terms.mode, hold_ref,
    { waited = waited, token = hold_ref:token() })
  self:tell()
end

--- Counts an acquisition that ended without the lock. `hold_ref`: nil if the
-- acquisition was refused before the C core began it. `is_silent`: whether the
-- caller of this function calls tell() later.
function Meters:refuse(terms, hold_ref, code, is_silent)
  count(self:at(terms.path, terms.mode).refusals, code)
  if not self.trace then return end
  note(self, "refuse", terms.path, terms.mode, hold_ref,
    { waited = hold_ref and hold_ref:waited() or 0, code = code })
  if not is_silent then self:tell() end
end

--- Counts the end of a hold. `reason`: why the hold was lost; nil if its last
-- guard was released. The caller of this function must call tell() later.
function Meters:finish(path, hold_ref, reason)
  local held, mode = hold_ref:held()
  local meter = self:at(path, mode)
  observe(meter.holds, held)
  if reason then count(meter.losses, reason) end
  if not self.trace then return end
  note(self, reason and "loss" or "release", path, mode, hold_ref,
    { held = held, token = hold_ref:token(), reason = reason })
end

return Meters

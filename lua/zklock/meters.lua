--- Meters: what a session counts of its locks, by path and mode, and who hears
-- of it at once (session:on_trace).
--
-- An acquisition is counted once, when its outcome reaches its user, or when
-- it is certain that none will; a hold once, when it is released, or its loss
-- is told, or the session is closed.  What is entered again by its owner is the
-- same hold.  What is collected without a release is not counted.
-- (What a hook interrupts may be missed here; no lock depends on it.)
local check = require "zklock.check"
local core = require "zklock.core"

local Meters = {}
Meters.__index = Meters

--- So many paths and modes have a meter of their own; all others share one of
-- each mode, as if they had this path.
Meters.most, Meters.others = 100, "others"

--- Upper bounds of the histograms' buckets, in seconds; there is one more, for
-- what is longer.
Meters.bounds = { 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
  2.5, 5, 10, 30, 60, 300 }

local limits = { math.huge }
for i, bound in ipairs(Meters.bounds) do table.insert(limits, i, bound) end

-- (Written out it is made at once, and in its size.)
local function new_histogram()
  return { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, sum = 0 }
end

-- (Each grant and each release comes through here: it looks at six of seventeen
-- limits at the most.)
local function observe(histogram, seconds)
  local i = seconds > limits[8] and 9 or 1
  if seconds > limits[i + 3] then i = i + 4 end
  while seconds > limits[i] do i = i + 1 end
  histogram[i] = histogram[i] + 1
  histogram.sum = histogram.sum + seconds
end

local function new_meter(path, mode)
  return { path = path, mode = mode, waits = new_histogram(),
    holds = new_histogram(), refusals = {}, losses = {} }
end

function Meters.new(callbacks)
  return setmetatable({
    callbacks = callbacks,
    by_mode = {}, -- and by path
    list = {}, -- in the order in which they came
    trace = false, -- what on_trace was given
    untold = {}, -- events that it has yet to hear of
  }, Meters)
end

local function add(self, path, mode)
  local of_mode = self.by_mode[mode]
  if not of_mode then
    of_mode = {}
    self.by_mode[mode] = of_mode
  end
  if #self.list >= Meters.most then path = Meters.others end
  local meter = of_mode[path]
  if not meter then
    meter = new_meter(path, mode)
    of_mode[path] = meter
    self.list[#self.list + 1] = meter
  end
  return meter
end

-- That of a path and a mode, which is one of `contenders`.
local function meter_of(self, path, mode)
  local of_mode = self.by_mode[mode]
  return of_mode and of_mode[path] or add(self, path, mode)
end

--- `fn(event)` at each event from now on; nil: nobody any more.
function Meters:listen(fn)
  if fn ~= nil then check.callback(fn, "argument 1 of on_trace") end
  self.trace = fn or false
end

-- What happens is noted when it happens.  It is told outside of what protects a
-- release, which nothing can wait in, and each once, in order: who hears of it
-- may wait, and turn the session, or close it.
local function note(self, what, path, mode, share, event)
  event.what, event.path, event.mode = what, path, mode
  event.id, event.time = share and share:number(), core.now()
  local untold = self.untold
  untold[#untold + 1] = event
end

--- Tells what was noted.  What is raised there goes where the errors of
-- callbacks go.
function Meters:tell()
  local untold = self.untold
  local event = untold[1]
  while event do
    if untold[2] then table.remove(untold, 1) else untold[1] = nil end
    self.callbacks:call({ fn = self.trace }, event)
    event = untold[1]
  end
end

local function count(counters, word)
  counters[word] = (counters[word] or 0) + 1
end

--- An acquisition has begun, which is not over yet: for who listens.
function Meters:begin(terms, share, timeout)
  note(self, "wait", terms.path, terms.mode, share, { timeout = timeout })
  self:tell()
end

--- Its user has it.
function Meters:grant(terms, share)
  local waited = share:take()
  observe(meter_of(self, terms.path, terms.mode).waits, waited)
  if not self.trace then return end
  note(self, "grant", terms.path, terms.mode, share,
    { waited = waited, token = share:token() })
  self:tell()
end

local function refuse(self, terms, share, code)
  count(meter_of(self, terms.path, terms.mode).refusals, code)
  if not self.trace then return end
  note(self, "refuse", terms.path, terms.mode, share,
    { waited = share and share:waited() or 0, code = code })
end

--- It ended without, for this reason.
function Meters:refuse(terms, share, code)
  refuse(self, terms, share, code)
  self:tell()
end

--- It has no user any more.  Tell this later.
function Meters:abandon(terms, share)
  refuse(self, terms, share, "cancelled")
end

--- One that its session refuses at once, and that has never begun.
function Meters:deny(terms, code)
  self:refuse(terms, nil, code)
end

--- It is over: released, by the last of its guards.  Tell this later.
function Meters:release(path, share)
  local held, mode = share:held()
  observe(meter_of(self, path, mode).holds, held)
  if not self.trace then return end
  note(self, "release", path, mode, share,
    { held = held, token = share:token() })
end

--- Of a session that is closed: holds as Hold.take_all gives them.
function Meters:release_all(taken)
  for _, one in ipairs(taken) do
    self:release(one.hold.owners.path, one.share)
  end
  self:tell()
end

--- It is over: lost, for this reason.
function Meters:lose(path, share, reason)
  local held, mode = share:held()
  local meter = meter_of(self, path, mode)
  observe(meter.holds, held)
  count(meter.losses, reason)
  if not self.trace then return end
  note(self, "loss", path, mode, share,
    { held = held, token = share:token(), reason = reason })
  self:tell()
end

return Meters

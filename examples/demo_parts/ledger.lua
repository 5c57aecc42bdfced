--- What has happened in the demo, and what follows from it.
--
-- `processes[n]` has number, pid, state, since, turns and spans, which are
-- its past states: { from =, to =, state = }.  The states are
--   starts   the process connects
--   away     it does not want the lock
--   waits    it waits for the lock
--   holds    it has the lock
--   gone     it was killed
--   ended    it is through
local Ledger = {}
Ledger.__index = Ledger

function Ledger.new(count, start)
  local self = setmetatable({
    start = start,
    processes = {},
    holder = nil,     -- who has the lock
    token = nil,      -- the last one that was given
    turns = 0,
    moved_at = start, -- when the last turn began
    handovers = {},   -- seconds, each from the release to the next holder
    deaths = {},      -- of holders: { number =, at =, passed_to =, after = }
    ghost_until = 0,  -- till then a dead waiter may still stand in the line
    killed = 0,       -- processes
    restarted = 0,
    lost = 0,
    overlaps = 0,     -- two at a time
    regressions = 0,  -- tokens that did not grow
    problems = {},    -- sentences
  }, Ledger)
  for n = 1, count do
    self.processes[n] = {
      number = n, state = "starts", since = start, turns = 0, spans = {},
    }
  end
  return self
end

local function enter(process, state, at)
  table.insert(process.spans,
    { from = process.since, to = at, state = process.state })
  process.state, process.since = state, at
end

local events = {}

function events.ready(self, process, at, pid, timeout)
  process.pid = pid
  self.session_timeout = tonumber(timeout)
  enter(process, "away", at)
end

function events.waits(_, process, at)
  enter(process, "waits", at)
end

local function note_handover(self, process, at)
  local death = self.deaths[#self.deaths]
  if death and not death.passed_to then
    death.passed_to, death.after = process.number, at - death.at
    return death.after
  elseif self.left_at and process.since < self.left_at
      and at > self.ghost_until then
    local seconds = at - self.left_at
    table.insert(self.handovers, seconds)
    return seconds
  end
end

function events.holds(self, process, at, token)
  if self.holder then self.overlaps = self.overlaps + 1 end
  if self.token and token <= self.token then
    self.regressions = self.regressions + 1
  end
  self.first_token = self.first_token or token
  self.holder, self.token = process, token
  self.turns, self.moved_at = self.turns + 1, at
  process.turns = process.turns + 1
  local seconds = note_handover(self, process, at)
  self.left_at = nil
  enter(process, "holds", at)
  return seconds
end

function events.leaves(self, process, at)
  if self.holder == process then self.holder = nil end
  self.left_at, self.left_by = at, process
  enter(process, "away", at)
end

function events.lost(self)
  self.lost = self.lost + 1
  self.left_at = nil
end

function events.suspended() end

events.reconnected, events.expired = events.suspended, events.suspended

function events.overlap(self)
  self.overlaps = self.overlaps + 1
end

function events.fails(self, process, _, ...)
  table.insert(self.problems, ("process %d: %s"):format(process.number,
    table.concat({ ... }, " ")))
end

function events.ends(_, process, at)
  enter(process, "ended", at)
end

-- Its supervisor tells that the process is gone, with its exit status.
function events.gone(self, process, at, status)
  if status == "0" and process.state == "ended" then return end
  local held = self.holder == process
    or self.left_at and self.left_by == process
  if status ~= "137" then
    table.insert(self.problems, ("process %d ended with status %s"):format(
      process.number, status))
  else
    self.killed = self.killed + 1
  end
  if held then
    self.holder, self.left_at = nil, nil
    table.insert(self.deaths, { number = process.number, at = at })
  elseif process.state == "waits" then
    self.ghost_until = at + 2 * self.session_timeout
  end
  enter(process, "gone", at)
end

function events.starts(self, process, at)
  self.restarted = self.restarted + 1
  enter(process, "starts", at)
end

--- Writes down what process `number` did; what the event's function gives.
function Ledger:note(at, number, what, ...)
  local process = self.processes[number]
  return events[what](self, process, math.max(at, process.since), ...)
end

--- Those who wait, in the order in which they came.
function Ledger:queue()
  local queue = {}
  for _, process in ipairs(self.processes) do
    if process.state == "waits" then table.insert(queue, process) end
  end
  table.sort(queue, function(a, b) return a.since < b.since end)
  return queue
end

--- Has every process come to its end?
function Ledger:over()
  for _, process in ipairs(self.processes) do
    if process.state ~= "ended" and process.state ~= "gone" then
      return false
    end
  end
  return true
end

function Ledger:missing()
  local missing = {}
  for _, process in ipairs(self.processes) do
    if process.state ~= "ended" and process.state ~= "gone" then
      table.insert(missing, process.number)
    end
  end
  return missing
end

--- The median and the longest of the hand-over times.
function Ledger:handover_times()
  local sorted = {}
  for i, seconds in ipairs(self.handovers) do sorted[i] = seconds end
  table.sort(sorted)
  return sorted[math.floor((#sorted + 1) / 2)], sorted[#sorted]
end

return Ledger

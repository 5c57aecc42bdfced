--- Snapshot: describes a session at one moment: its state, its counts of locks
-- (meters.lua), its holds and its waits.
--
-- A snapshot has only tables, strings and numbers. So another process can
-- receive it, and show it together with its own sessions (zklock.ngx.status).
local guards = require "zklock.guard"
local waits = require "zklock.wait"

local snapshots = {}

-- Returns the acquisitions in progress. Only a wait for an acquisition has
-- `terms`.
local function read_waits(engine)
  local found = {}
  for _, wait in ipairs(waits.list(engine.waits)) do
    if wait.terms and not wait.done then
      found[#found + 1] = { path = wait.terms.path, mode = wait.terms.mode,
        seconds = wait.hold_ref:waited(), id = wait.number }
    end
  end
  return found
end

local function read_holds(engine)
  local found = {}
  for _, guard in ipairs(guards.list(engine)) do
    local hold_ref = guard._hold_ref
    if not hold_ref:reason() then
      local seconds, mode = hold_ref:held()
      found[#found + 1] = { path = guard.path, mode = mode, seconds = seconds,
        id = hold_ref:number(), token = hold_ref:token(),
        node = hold_ref:node(), lease = hold_ref:lease(),
        state = hold_ref:state() }
    end
  end
  return found
end

local function by_id(a, b) return a.id < b.id end

-- Counts rows (holds or waits) in the meters of their paths. Stores the number
-- of rows in the field `number`, and the longest time in the field `oldest`.
local function count(meters, rows, number, oldest)
  table.sort(rows, by_id)
  for _, meter in ipairs(meters.list) do meter[number], meter[oldest] = 0, 0 end
  for _, row in ipairs(rows) do
    local meter = meters:at(row.path, row.mode)
    meter[number] = meter[number] + 1
    meter[oldest] = math.max(meter[oldest], row.seconds)
  end
end

--- Returns a snapshot of a session; after close, the last values. The field
-- `locks` is not a copy, so the session's later counts change it.
function snapshots.read(engine)
  local is_closed, session = engine.state.is.closed, engine.session
  local holds = is_closed and {} or read_holds(engine)
  local waiting = is_closed and {} or read_waits(engine)
  count(engine.meters, holds, "holding", "oldest_hold")
  count(engine.meters, waiting, "waiting", "oldest_wait")
  return {
    hosts = engine.hosts,
    state = session:state(),
    id = session:id(),
    timeout = is_closed and 0 or engine.core:timeout(),
    lease = is_closed and 0 or engine.core:lease(),
    counters = session:stats(),
    locks = engine.meters.list,
    holds = holds,
    waits = waiting,
  }
end

return snapshots

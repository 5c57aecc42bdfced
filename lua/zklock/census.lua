--- Census: makes a snapshot of a session: its state, its counts of locks
-- (meters.lua), its holds and its waits.
--
-- A snapshot has only tables, strings and numbers.  So another process can
-- receive it and show it together with its own (zklock.ngx.status).
local tally = require "zklock.tally"

local census = {}

-- Returns the acquisitions in progress: the waits that have terms.
local function read_waits(engine)
  local found = {}
  for _, place in ipairs(engine.waits.answers) do
    for _, wait in pairs(place) do
      if wait.terms and not wait.done then
        found[#found + 1] = { path = wait.terms.path, mode = wait.terms.mode,
          seconds = wait.hold_ref:waited(), id = wait.number }
      end
    end
  end
  return found
end

local function read_holds(engine)
  local found = {}
  for number, hold in pairs(engine.holds) do
    local hold_ref = engine.hold_refs[number]
    if hold_ref and not hold.lost then
      local seconds, mode = hold_ref:held()
      found[#found + 1] = { path = hold.owners.path, mode = mode,
        seconds = seconds, id = number, token = hold_ref:token(),
        node = hold_ref:node(), lease = hold_ref:lease(),
        state = hold_ref:state() }
    end
  end
  return found
end

local function by_id(a, b) return a.id < b.id end

--- Returns a snapshot of a session; after close, the last values. The table
-- `locks` is not a copy: the session goes on counting in it.
function census.read(engine)
  local is_closed, last = engine.state.is.closed, engine.state.last
  local holds = is_closed and {} or read_holds(engine)
  local waiting = is_closed and {} or read_waits(engine)
  table.sort(holds, by_id)
  table.sort(waiting, by_id)
  local locks = engine.meters.list
  return {
    hosts = engine.hosts,
    state = is_closed and "closed" or engine.core:state(),
    id = last and last.id or engine.core:id(),
    timeout = is_closed and 0 or engine.core:timeout(),
    lease = is_closed and 0 or engine.core:lease(),
    counters = last and last.stats or engine.core:stats(),
    locks = locks,
    holds = holds,
    waits = waiting,
    holding = tally.rows(holds, locks),
    waiting = tally.rows(waiting, locks),
  }
end

return census

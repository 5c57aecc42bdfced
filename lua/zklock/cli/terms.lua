--- Computes how long a hold lasts after the servers stop answering. "The lease"
-- in doc/dev/protocol.md and src/protocol/lease.h have the formulas.
local terms = {}

-- Durations, as parts of the session timeout.
local SETTLING, ANSWER, MARGIN = 1 / 24, 1 / 40, 1 / 20

--- Returns the least and the most seconds from the servers' last answer to the
-- loss of the hold. If the servers stop just before a heartbeat, it is the
-- least. If they stop just after a heartbeat, it is the most. This is true of
-- a lock that has been held for a third of the timeout, if answers take at
-- most T/40 (T: the timeout). `tick`: the servers' tickTime, or nil.
function terms.lease(timeout, tick)
  local gap = tick and tick / 2 or timeout / 4
  local span = gap + ANSWER * timeout -- from Q to P in lease.h
  local rounds = math.floor(span / (timeout / 10)) + 1
  local pace = math.max(span / rounds, (SETTLING + ANSWER) * timeout)
  local between = math.ceil(span / pace - 1e-9) * pace
  local most = timeout - MARGIN * timeout - between - pace
  return most - pace, most
end

return terms

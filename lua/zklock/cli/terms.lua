--- Computes how long a hold lasts after servers stop answering. See "The lease"
-- in doc/dev/protocol.md and src/protocol/lease.h.
local terms = {}

-- Parts of the session timeout T.
local SETTLING, ANSWER, MARGIN = 1 / 24, 1 / 40, 1 / 20

--- Returns the least and the most seconds from the last answer to the loss of
-- the hold. The time is least if the servers stop answering just before a
-- heartbeat, and most if they stop just after one. This holds for a lock that
-- has been held for a third of the timeout, with answers within T/40. `tick`
-- may be nil.
function terms.lease(timeout, tick)
  local gap = tick and tick / 2 or timeout / 4
  local span = gap + ANSWER * timeout -- from Q to P
  local rounds = math.floor(span / (timeout / 10)) + 1
  local pace = math.max(span / rounds, (SETTLING + ANSWER) * timeout)
  local between = math.ceil(span / pace - 1e-9) * pace
  local most = timeout - MARGIN * timeout - between - pace
  return most - pace, most
end

return terms

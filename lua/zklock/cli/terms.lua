--- How long a hold is believed in when the servers fall silent: the numbers of
-- doc/protocol.md, "The lease", as src/protocol/lease.h derives them.
local terms = {}

-- Shares of the session timeout T.
local SETTLING, ANSWER, MARGIN = 1 / 24, 1 / 40, 1 / 20

--- Seconds from the last answer to the loss: at least, when the silence begins
-- just before a round; at most, just after one.  For who has held for a third
-- of the timeout, and was answered within T/40; `tick` may be nil.
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

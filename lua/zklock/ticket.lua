--- Ticket: the result of a call that does not wait; cancel() ends what the call
-- has begun.
local check = require "zklock.check"

--- Returns new(it), which makes tickets; `cancel(it)` ends what a ticket stands
-- for.  `ticket._it` is false while there is nothing to end.
return function(cancel)
  local Ticket = {}
  Ticket.__index = Ticket

  function Ticket:cancel()
    if self._it then cancel(self._it) end
  end

  check.methods(Ticket, "ticket:cancel()")

  return function(it) return setmetatable({ _it = it }, Ticket) end
end

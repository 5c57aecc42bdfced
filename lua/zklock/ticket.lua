--- Ticket: the result of a call that does not wait. Its cancel() ends what the
-- call has begun.
local check = require "zklock.check"

--- Returns a function `new(it)`, which makes a ticket for `it`, a wait or
-- another operation in progress. The ticket's cancel() calls `cancel(it)`.
-- While `ticket._it` is false, cancel() does nothing.
return function(cancel)
  local Ticket = {}
  Ticket.__index = Ticket

  function Ticket:cancel()
    if self._it then cancel(self._it) end
  end

  check.methods(Ticket, "ticket:cancel()")

  return function(it) return setmetatable({ _it = it }, Ticket) end
end

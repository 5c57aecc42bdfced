--- Ticket: what a call returns that does not wait; cancel() ends what it has
-- begun.
local check = require "zklock.check"

--- How tickets of one kind are made: new(it), where `cancel(it)` ends it; false
-- while there is nothing to be ended (`ticket._it`, until it has begun).
return function(cancel)
  local Ticket = {}
  Ticket.__index = Ticket

  function Ticket:cancel()
    if self._it then cancel(self._it) end
  end

  check.methods(Ticket, "ticket:cancel()")

  return function(it) return setmetatable({ _it = it }, Ticket) end
end

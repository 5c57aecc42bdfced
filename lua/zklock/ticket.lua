--- Ticket: the result of a call that does not wait. Its cancel() ends what the
-- call has begun.
local check = require "zklock.check"

local Ticket = {}
Ticket.__index = Ticket

function Ticket:cancel()
  if self._it then self._it:cancel() end
end

check.methods(Ticket, "ticket:cancel()")

--- Returns a ticket for `it`, an operation in progress with the method
-- cancel(). If `it` is false, the ticket's cancel() does nothing.
return function(it) return setmetatable({ _it = it }, Ticket) end

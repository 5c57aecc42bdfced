--- Ticket: the result of a call that does not wait. Its cancel() ends what the
-- call has begun.
local check = require "zklock.check"

--- Returns `new(it)`, which makes tickets for something in progress, `it`. A
-- ticket's cancel() calls `cancel(it)`. While `ticket._it` is false, there is
-- nothing to cancel.
return function(cancel)
  local Ticket = {}
  Ticket.__index = Ticket

  function Ticket:cancel()
    if self._it then cancel(self._it) end
  end

  check.methods(Ticket, "ticket:cancel()")

  return function(it) return setmetatable({ _it = it }, Ticket) end
end

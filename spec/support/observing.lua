--- Who leads, as an election's leader(fn) tells it.
local support = require "support"

local observing = {}

--- Whatever fn is told: `{ leader, message, code }`, in order.
function observing.observe(session, path, options)
  local told = {}
  local election = session:election(path, options)
  told.ticket = election:leader(function(leader, message, code)
    told[#told + 1] = { leader or false, message, code }
  end)
  return told
end

--- What it is told as the n-th, and no more.
function observing.await(session, told, n)
  support.step_until(session, function() return #told >= n end, 10,
    n .. " changes told")
  assert(n == #told, "more was told")
  return told[n][1], told[n][2], told[n][3]
end

--- Another session leads: its guard, and itself.
function observing.lead(path, data, options)
  local session = support.connect()
  local guard = assert(session:election(path, options):campaign { timeout = 30,
    data = data })
  return support.closing(guard, guard.release), session
end

return observing

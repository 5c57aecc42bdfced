--- What befalls a session: a wire that is cut, and what it says of that.
local support = require "support"

local mishaps = {}

--- A session behind a wire, whose timeout none of it outlasts.
function mishaps.connect_through(proxy, options)
  options = options or {}
  options.hosts = proxy.hosts
  options.session_timeout = options.session_timeout or 60
  return support.connect(options)
end

function mishaps.await_state(session, state)
  support.step_until(session, function() return session:state() == state end,
    15, "the state " .. state)
end

return mishaps

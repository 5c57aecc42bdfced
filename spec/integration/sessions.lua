--- Sessions with something around them: a proxy, a loop of the test's own.
-- Not a spec itself: `require "integration.sessions"`.
local new_scheduler = require "support.scheduler".new
local start_proxy = require "support.proxy".start
local support = require "support"

local sessions = {}

--- A session whose connections go through a proxy, and the proxy.
function sessions.behind_proxy(options)
  local proxy = start_proxy()
  options = options or {}
  options.hosts = proxy.hosts
  return support.connect(options), proxy
end

--- A session whose tasks are the scheduler's, and the scheduler.
function sessions.in_loop(options)
  local scheduler = new_scheduler()
  options = options or {}
  options.loop = scheduler.adapter
  return support.connect(options), scheduler
end

--- Ends the session's connections; there are no others until the proxy heals.
function sessions.cut_off(session, proxy)
  proxy:refuse()
  support.until_state(session, "suspended")
end

return sessions

--- support.seizure in virtual time: ends another's session.
local virtual = require "zklock.virtual"

--- Closes session `id` at the server at `host` ("ip:port"): true, or false if
-- there was no such session.
local function seize(host, id)
  return virtual.find(host):end_session(id)
end

return { seize = seize }

--- Opens a session with the user's settings. If that fails, the command ends.
local config = require "zklock.cli.config"
local exit = require "zklock.cli.exit"
local leaving = require "zklock.cli.leaving"
local talk = require "zklock.cli.talk"
local zklock = require "zklock"

-- Prints all settings and their sources. For credentials it prints the name of
-- their file, never their text.
local function tell_settings(found)
  for _, key in ipairs(config.keys()) do
    local setting = found[key]
    if setting then
      talk.say("%s = %s (%s)", key, tostring(setting.value), setting.where)
    end
  end
end

--- Opens a session, which is closed when the process ends. `limit`: the maximum
-- time to wait for a connection, in seconds, or nil.
return function(request, limit)
  local hosts, options, found = config.read(request)
  options.connect_timeout = math.min(options.connect_timeout,
    limit or math.huge)
  if request.verbose then
    tell_settings(found)
    options.log = function(level, message)
      talk.say("%s: %s", level, talk.bare(message))
    end
  end
  local begun = zklock.now()
  local session, message, code = zklock.connect(hosts, options)
  if not session then
    if found.hosts.where == config.BY_DEFAULT then
      message = message .. "; these hosts are the default: name yours by "
        .. "--hosts, $ZKLOCK_HOSTS or hosts in ~/.config/zklock"
    end
    exit.refuse(message, code)
  end
  leaving.sessions[#leaving.sessions + 1] = session
  if request.verbose then
    talk.say("connected in %.0f ms: session %s, session timeout %g s",
      1000 * (zklock.now() - begun), session:id(), session:timeout())
  end
  return session
end

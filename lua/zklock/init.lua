--- zklock: distributed locks on ZooKeeper.
local core = require "zklock.loader"
local check = require "zklock.check"
local errors = require "zklock.errors"
local escaping = require "zklock.escape"
local sessions = require "zklock.session"
local version = require "zklock.version"

local check_signal = check.one_of "HUP INT QUIT TERM"

-- Installs handlers for signals. Before a signal ends the process, its handler
-- releases everything that the process holds.
local function release_on_signal(...)
  local names = { ... }
  if select("#", ...) == 0 then names = { "TERM", "HUP" } end
  for i = 1, math.max(#names, select("#", ...)) do
    check_signal(names[i], ("argument %d of release_on_signal"):format(i))
  end
  if rawget(_G, "ngx") then
    errors.misuse("release_on_signal is not for nginx, whose signals are its "
      .. "own")
  end
  for _, name in ipairs(names) do
    local ok, problem = core.end_on(name)
    if not ok then
      return errors.refusal("unsupported", "SIG%s cannot be handled: %s", name,
        problem)
    end
  end
  return true
end

---@type zklock.Module
local zklock = {
  --- Opens a session: `zklock.connect(hosts [, options])`.
  connect = sessions.connect,
  --- `release_on_signal("TERM", "HUP")`: makes these signals release all holds
  -- before they end the process.
  release_on_signal = release_on_signal,
  --- Returns a safe path component for any text, including untrusted input.
  escape = escaping.escape,
  --- Returns the text from which escape() has made a component; or nil, a
  -- message and a code.
  unescape = escaping.unescape,
  --- Returns the seconds on the clock that measures leases.
  now = core.now,
  --- The error codes: `zklock.errors.timeout == "timeout"`.
  errors = errors.codes,
  --- The name of the ZooKeeper client library in use: "st" (single-threaded).
  backend = core.backend,
  --- The version, such as "1.2.3".
  version = version,
  _VERSION = "zklock " .. version,
}

return zklock

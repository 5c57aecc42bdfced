--- nginx and OpenResty: one session for each worker.
require "zklock" -- first: it explains what cannot be loaded
local check = require "zklock.check"
local errors = require "zklock.errors"
local settings = require "zklock.settings"
local sessions = require "zklock.session"

local known = {} -- by what they were asked for with

local levels = { error = "ERR", warn = "WARN", info = "INFO" }

local function log(level, message)
  ngx.log(ngx[levels[level]] or ngx.NOTICE, "zklock: ", message)
end

-- Values that mean the same have the same text.  A function is where it was
-- written: a handler makes a new one each time.
local function describe(value)
  if type(value) == "function" then
    local info = debug.getinfo(value, "S")
    return ("%s:%d"):format(info.source, info.linedefined)
  elseif type(value) ~= "table" then
    return type(value) .. tostring(value)
  end
  local parts = {}
  for key, item in pairs(value) do
    parts[#parts + 1] = ("%q=%q"):format(tostring(key), describe(item))
  end
  table.sort(parts)
  return table.concat(parts, ",")
end

local function read(hosts, options)
  settings.read(hosts, options)
  local copy = {}
  for key, value in pairs(options or {}) do copy[key] = value end
  if copy.loop ~= nil and copy.loop ~= "auto" and copy.loop ~= "ngx" then
    errors.misuse("option 'loop' of zklock.ngx is \"ngx\", got %s",
      tostring(copy.loop))
  end
  copy.log = copy.log or log
  return copy
end

local M = {}

--- This worker's session with these hosts and options, which are those of
-- zklock.connect.  The first call opens it and does not wait for it: what needs
-- the connection does, as long as itself may wait.
function M.session(hosts, options, ...)
  check.arguments("zklock.ngx.session(hosts, options)", nil, ...)
  local key = options == nil and hosts
    or check.type(hosts, "string", "argument 1 of session (hosts)") .. " "
      .. describe(options)
  local session = known[key]
  if session and session:state() ~= "closed" then return session end
  local message, code
  session, message, code = sessions.open(hosts, read(hosts, options))
  if not session then return nil, message, code end
  known[key] = session
  local adapter = session._engine.adapters:for_waiting()
  adapter.arm() -- what it logs, nginx is told though nobody waits
  return session
end

--- For log_by_lua, where nginx cannot tell the end of a request by itself
-- (doc/loops.md): ends the waits and holds of the running request.
function M.cleanup()
  for _, session in pairs(known) do session._engine.adapters:cleanup() end
end

return M

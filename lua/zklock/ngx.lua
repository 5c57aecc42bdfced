--- nginx and OpenResty: one session for each worker.
local check = require "zklock.check"
local errors = require "zklock.errors"
local loops = require "zklock.loop"
local settings = require "zklock.settings"
local semaphore = require "ngx.semaphore"
local zklock = require "zklock"

local sessions = {} -- by what they were asked for with
local openings = {} -- likewise: those that are being opened

local levels = { error = "ERR", warn = "WARN", info = "INFO", debug = "DEBUG" }

-- The client library's lines begin with a time and a process of their own.
local function log(level, message)
  message = message:gsub("^[%d-]+ [%d:,]+:%d+:", "")
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

-- In a timer, which no end of a request interrupts.
local function open(_, key, hosts, options)
  local opening = openings[key]
  local ok, session, message, code = pcall(zklock.connect, hosts, options)
  if not ok then session, message, code = nil, session, "disconnected" end
  opening.done, opening.message, opening.code = true, message, code
  openings[key], sessions[key] = nil, session or nil
  local waiting = -opening.semaphore:count()
  if waiting > 0 then opening.semaphore:post(waiting) end
end

local function begin(key, hosts, options)
  local opening = { semaphore = semaphore.new() }
  local ok, problem = ngx.timer.at(0, open, key, hosts, options)
  if not ok then
    return errors.refusal("disconnected", "nginx cannot begin a timer: %s",
      problem)
  end
  openings[key] = opening
  return opening
end

local function opened(key)
  local session = sessions[key]
  return session and session:state() ~= "closed" and session or nil
end

local M = {}

--- This worker's session with these hosts and options, which are those of
-- zklock.connect.  The first call opens it.
function M.session(hosts, options)
  local key = options == nil and hosts
    or check.type(hosts, "string", "argument 1 of session (hosts)") .. " "
      .. describe(options)
  local session = opened(key)
  if session then return session end
  options = read(hosts, options)
  loops.find "auto" -- raises where nothing can wait
  local opening, message, code = openings[key]
  if not opening then
    opening, message, code = begin(key, hosts, options)
    if not opening then return nil, message, code end
  end
  opening.semaphore:wait((options.connect_timeout or 10) + 5)
  if opening.done and opening.message then
    return nil, opening.message, opening.code
  end
  session = opened(key)
  if session then return session end
  return errors.refusal("disconnected", "the session with %s was not opened",
    hosts)
end

--- For log_by_lua, where nginx cannot tell the end of a request by itself
-- (doc/loops.md): ends the waits and holds of the running request.
function M.cleanup()
  for _, session in pairs(sessions) do
    for _, adapter in pairs(session._adapters) do
      if adapter.cleanup then adapter.cleanup() end
    end
  end
end

return M

--- nginx and OpenResty: gives each worker one session for all its requests.
require "zklock" -- comes first: it explains errors of loading
local board = require "zklock.ngx.board"
local bytes = require "zklock.bytes"
local check = require "zklock.check"
local errors = require "zklock.errors"
local escaping = require "zklock.escape"
local scopes = require "zklock.ngx.scope"
local settings = require "zklock.options"
local sessions = require "zklock.session"
local status = require "zklock.ngx.status"

-- The maximum number of sessions in a worker; each session has a thread and a
-- connection. If requests need more, they probably pass different options by
-- mistake.
local MOST = 32

-- The worker's sessions: `{ session =, hosts =, options =, index = }`. The key
-- is a text made of the hosts and the options.
local known = {}
local last -- the session that was opened last

local function by_index(a, b) return a.index < b.index end

-- Returns the open sessions, by index, and forgets the closed ones.
function board.list()
  local list = {}
  for key, one in pairs(known) do
    if one.session:state() == "closed" then
      known[key] = nil
    else
      list[#list + 1] = one
    end
  end
  table.sort(list, by_index)
  return list
end

local levels = { error = "ERR", warn = "WARN", info = "INFO" }

local function log(level, message)
  ngx.log(ngx[levels[level]] or ngx.NOTICE, "zklock: ", message)
end

-- Returns a text for a value; equal values have the same text. For a function,
-- the text is its place in the source, because a handler creates a new function
-- each time. For a callable object, it is the object's address: the session
-- keeps the object. Options are not deeply nested, so tables below depth 4 are
-- ignored.
local function describe(value, depth)
  local meta = getmetatable(value)
  if type(value) == "function" then
    local info = debug.getinfo(value, "S")
    return ("%s:%d"):format(info.source, info.linedefined)
  elseif type(value) ~= "table" then
    return type(value) .. tostring(value)
  elseif type(meta) == "table" and meta.__call then
    return ("object %p"):format(value)
  end
  local parts = {}
  for key, item in pairs(depth < 4 and value or {}) do
    parts[#parts + 1] = ("%q=%q"):format(tostring(key),
      describe(item, depth + 1))
  end
  bytes.sort(parts)
  return table.concat(parts, ",")
end

local function read(hosts, options)
  settings.read_connect(hosts, options)
  local copy = {}
  for key, value in pairs(options or {}) do copy[key] = value end
  if copy.loop ~= nil and copy.loop ~= "auto" and copy.loop ~= "ngx" then
    errors.misuse("option 'loop' of zklock.ngx is \"ngx\", got %s",
      tostring(copy.loop))
  end
  copy.log = copy.log or log
  return copy
end

-- The functions with which handlers build paths.
---@type zklock.ngx.Module
local M = { escape = escaping.escape, unescape = escaping.unescape }

-- Returns the names of the options that differ, for a message.  Omits their
-- values, which can be secrets.
local function differences(a, b)
  local names, seen = {}, {}
  for _, options in ipairs { a.options, b.options } do
    for name in pairs(options) do
      if not seen[name] and describe(a.options[name], 1)
          ~= describe(b.options[name], 1) then
        names[#names + 1] = ("option '%s'"):format(name)
      end
      seen[name] = true
    end
  end
  bytes.sort(names)
  if a.hosts ~= b.hosts then table.insert(names, 1, "hosts") end
  return table.concat(names, ", ")
end

-- Returns the smallest free index; raises an error if the worker has no room
-- for one more session.  If handlers open their sessions in the same order
-- after a reload, each session gets the same index again.
local function new_index(hosts, options)
  local list, index = board.list(), 1
  if #list >= MOST then
    errors.misuse("this worker has %d sessions by zklock.ngx.session, the most "
      .. "that it may have, each with hosts or options of its own (the last "
      .. "one differs in %s): give the same ones in each request", MOST,
      differences(last, { hosts = hosts, options = options }))
  end
  for _, one in ipairs(list) do
    if one.index == index then index = index + 1 end
  end
  return index
end

local function open(key, hosts, options)
  local given = read(hosts, options)
  if scopes.is_over then
    return errors.refusal("closed", "this worker of nginx must exit, because "
      .. "worker_shutdown_timeout has passed: it opens no more sessions")
  end
  local index = new_index(hosts, given)
  local session, message, code = sessions.open(hosts, given)
  if not session then return nil, message, code end
  last = { session = session, hosts = hosts, options = given, index = index }
  known[key] = last
  local adapter = session._engine.adapters:for_waiting()
  adapter.arm() -- so that log lines reach nginx even if no task waits
  return session
end

--- Returns this worker's session with these hosts and options, the arguments of
-- zklock.connect. The first call opens the session, and does not wait. Calls
-- that need the connection wait for it within their own timeout.
function M.session(hosts, options, ...)
  check.no_more("zklock.ngx.session(hosts, options)", ...)
  local key = options == nil and hosts
    or check.type(hosts, "string", "argument 1 of session (hosts)") .. " "
      .. describe(options, 0)
  local one = known[key]
  if one and one.session:state() ~= "closed" then return one.session end
  return open(key, hosts, options)
end

--- Answers the running request with the operators' page (doc/metrics.md).
M.status = status

--- Ends the waits and holds of the running request.  Handlers call it in
-- log_by_lua if nginx does not report the end of their requests (doc/nginx.md).
function M.cleanup()
  for _, one in pairs(known) do one.session._engine.adapters:cleanup() end
end

return M

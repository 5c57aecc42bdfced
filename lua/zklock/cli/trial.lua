--- Trial: for `zklock check`, acquires a lock as any client would. Tests which
-- requests this session, and a session without credentials, may make.
local await = require "zklock.cli.await"
local exit = require "zklock.cli.exit"
local is_asked = require "zklock.cli.servers".is_asked
local talk = require "zklock.cli.talk"
local visit = require "zklock.cli.visit"
local zklock = require "zklock"

local trial = {}

-- PATIENCE: how many seconds to wait for another holder. TIMES: how often
-- zklock acquires the lock. REQUESTS: how many requests measure the round trip.
local PATIENCE = 5
local TIMES = 5
local REQUESTS = 20

-- Returns the minimum, the median and the maximum of a list of times.
local function summary(times)
  table.sort(times)
  return { min = times[1], median = times[math.ceil(#times / 2)],
    max = times[#times] }
end

local function timed(fn, ...)
  local begun = await.now()
  local result, message, code = fn(...)
  return await.now() - begun, result, message, code
end

--- Returns how long the servers take to answer a read of the path, as minimum,
-- median and maximum. The path need not exist.
function trial.round_trip(session, path)
  local times = {}
  for i = 1, REQUESTS do
    local seconds, answer, message, code = timed(session.stat, session, path)
    if answer == nil then exit.refuse(message, code) end
    times[i] = seconds
  end
  return summary(times)
end

-- Returns how many seconds the leader's clock is ahead of this machine's clock;
-- a negative number if it is behind. The leader's clock gives the creation time
-- of the lock's node. `before` and `after`: this machine's times before and
-- after the acquisition.
local function clock_ahead(session, path, guard, before, after)
  for _, row in ipairs(visit.answer(session:contenders(path))) do
    if guard.node:sub(-#row.node - 1) == "/" .. row.node then
      if row.created > after then return row.created - after end
      return math.min(row.created - before, 0)
    end
  end
end

local function unowned_node(session, path)
  for _, row in ipairs(visit.answer(session:contenders(path))) do
    if row.session == "0x0" then return row.node end
  end
end

-- Returns whether a session without credentials can join the queue. Must be
-- called while the lock is held, so that the session of this test is never
-- granted the lock.
local function is_open(hosts, options, path)
  local theirs = {}
  for name, value in pairs(options) do theirs[name] = value end
  theirs.auth, theirs.acl, theirs.doubts_acl = nil, nil, nil
  local session = zklock.connect(hosts, theirs)
  if not session then return nil end
  local _, _, code = session:mutex(path):try_acquire()
  session:close()
  return code == "busy"
end

-- Returns the option `tls` for a connection to a server by its address. The
-- server's certificate must have the name `host`.
local function with_name(tls, host)
  return tls and { ca = tls.ca, cert = tls.cert, key = tls.key,
    name = tls.name or host }
end

-- Returns whether this server has the node of the held lock. Asks in a separate
-- session, which connects to this server only. Returns nil if the session or
-- the request fails.
local function has_node(server, session, guard, asked)
  local theirs = {}
  for name, value in pairs(asked.options) do theirs[name] = value end
  theirs.connect_timeout = PATIENCE
  theirs.tls = with_name(theirs.tls, server.host)
  local host = server.address:find(":", 1, true) and "[%s]:%d%s" or "%s:%d%s"
  local own = zklock.connect(host:format(server.address, server.port,
    asked.hosts:match "/.*" or ""), theirs)
  if not own then return nil end
  local stat = own:stat(guard.node)
  own:close()
  if stat == nil or stat == true then return nil end
  return stat and stat.session == session:id()
end

local function has_credentials(options)
  return options.auth and next(options.auth)
    and (options.acl or "open") ~= "open"
end

-- Adds the results of tests that are possible only while the lock is held.
local function look_around(report, session, guard, asked)
  local path, hosts, options = report.path, asked.hosts, asked.options
  report.token = guard:token()
  report.clock_offset = clock_ahead(session, path, guard, asked.before,
    await.time_of_day())
  for _, server in ipairs(asked.servers) do
    if is_asked(server) then
      server.shares_data = has_node(server, session, guard, asked)
    end
  end
  if has_credentials(options) then
    report.open_to_anyone = is_open(hosts, options, path)
  end
end

--- Acquires and releases the lock several times. Returns `{ path=, granted=,
-- acquire=, release=, may_create=, may_delete=, token=, open_to_anyone=,
-- clock_offset=, reconnects=, message=, unowned= }`. `unowned`: a node that no
-- session owns, and that blocks the lock. Also sets `shares_data` of each
-- server: whether the server has the lock's node.
function trial.lock(session, path, hosts, options, servers)
  local lock = session:mutex(path)
  local report = { path = path, granted = false, reconnects = 0 }
  local acquiring, releasing = {}, {}
  for i = 1, TIMES + 1 do
    local before = await.time_of_day()
    local seconds, guard, message, code = timed(lock.acquire, lock, PATIENCE)
    report.reconnects = session:stats().reconnects
    if not guard then
      report.may_create = code ~= "auth" and code ~= "denied"
      report.message, report.code = talk.bare(message), code
      report.unowned = code == "timeout" and unowned_node(session, path) or nil
      return report
    end
    if i == 1 then
      look_around(report, session, guard,
        { hosts = hosts, options = options, before = before,
          servers = servers })
    end
    local release, done, why, kind = timed(guard.release, guard,
      { wait = true })
    report.granted, report.may_create = true, true
    report.may_delete = kind ~= "denied"
    if not done then
      report.message, report.code = talk.bare(why), kind
      return report
    end
    -- The first acquisition is not counted, because it may create the
    -- directory.
    if i > 1 then
      acquiring[#acquiring + 1], releasing[#releasing + 1] = seconds, release
    end
  end
  report.acquire, report.release = summary(acquiring), summary(releasing)
  return report
end

return trial

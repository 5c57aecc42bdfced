--- Verdict: divides the results of `zklock check` into problems and warnings. A
-- problem would disturb a lock.
local bytes = require "zklock.bytes"
local exit = require "zklock.cli.exit"
local quote = require "zklock.quote"
local servers_of = require "zklock.cli.servers"

local WRONG = 1

-- `zklock check` warns if this machine's clock and the leader's differ by more
-- than this, in seconds.
local CLOCKS = 1

-- `zklock check` warns of a certificate that expires in fewer than this many
-- days.
local EXPIRES_SOON = 30

local serving = { leader = true, follower = true, observer = true,
  standalone = true }

local name_of = servers_of.name_of

local function address_of(server) return server.host .. " " .. server.port end

local function judge_server(server, answers, problem, warning)
  local name = name_of(server)
  if servers_of.is_mute(server) then
    warning("%s does not answer the word srvr: its version is not known", name)
  elseif server.problem then
    -- A name can have an address at which no server listens, such as ::1 for
    -- localhost. If another address of the name answers, this is only a
    -- warning.
    local complain = answers[address_of(server)] and warning or problem
    complain("%s %s", name, server.problem)
  elseif not servers_of.is_new_enough(server.version) then
    problem("%s is ZooKeeper %s: 3.5 or later is needed", name, server.version)
  elseif not serving[server.mode] then
    problem("%s is %s", name, server.mode)
  end
end

-- Warns of a certificate that has expired or expires soon. `owner`: text that
-- names the certificate's server or setting.
local function judge_certificate(certificate, owner, warning)
  if not certificate then return end
  if certificate.days < 0 then
    warning("the certificate of %s expired on %s: renew it", owner,
      certificate.expires)
  elseif certificate.days < EXPIRES_SOON then
    warning("the certificate of %s expires on %s, in %d days: renew it",
      owner, certificate.expires, certificate.days)
  end
end

-- Adds a problem if servers do not have the node of the trial lock. Adds a
-- warning if zklock does not know this of some servers. Returns false if no
-- server is known to have the node. The results then do not show whether the
-- servers are one ensemble.
local function judge_data(servers, problem, warning)
  local function names(has_node)
    local list = {}
    for _, server in ipairs(servers) do
      if server.shares_data == has_node and servers_of.is_asked(server) then
        list[#list + 1] = name_of(server)
      end
    end
    return list[1] and table.concat(list, ", ")
  end
  local made_at, not_at, unknown = names(true), names(false), names(nil)
  if not made_at then return false end
  if not_at then
    problem("data are not shared: the lock's node was made at %s, and is not "
      .. "at %s. They are not one ensemble, and what is locked at one is free "
      .. "at the other", made_at, not_at)
  end
  if unknown then
    warning("cannot tell whether %s shares the data of %s: no session there "
      .. "could ask for the lock's node", unknown, made_at)
  end
  return not_at or not unknown
end

local function judge_servers(servers, problem, warning)
  local answers, modes, alone = {}, {}, {}
  for _, server in ipairs(servers) do
    if server.version then answers[address_of(server)] = server.mode end
  end
  for _, server in ipairs(servers) do
    judge_server(server, answers, problem, warning)
    judge_certificate(server.certificate, name_of(server), warning)
  end
  if judge_data(servers, problem, warning) then return end
  for _, mode in pairs(answers) do
    modes[mode] = (modes[mode] or 0) + 1
    alone[#alone + 1] = mode
  end
  if #alone > 1 and modes.standalone then
    problem("%d of %d servers stand alone: what is locked at one is free at "
      .. "the other", modes.standalone, #alone)
  elseif (modes.leader or 0) > 1 then
    problem("%d servers say that they lead: they are not one ensemble, or it "
      .. "has just elected", modes.leader)
  end
end

local function judge_session(session, problem, warning)
  if not session then return end
  if session.timeout ~= session.requested_timeout then
    warning("the servers grant a session timeout of %g s, where %g s were "
      .. "asked for", session.timeout, session.requested_timeout)
  end
  if session.round_trip.median > session.timeout / 40 then
    problem("an answer takes %g s, more than a fortieth of the session "
      .. "timeout: leases are shorter than they might be, and a longer session "
      .. "timeout helps",
      session.round_trip.median)
  end
end

local function judge_token(token, above, problem)
  if not above then return end
  if not token then
    problem("no fencing token was granted: it is not known whether they are "
      .. "above %s", above)
  elseif not bytes.less(above, token) then
    problem("a fencing token is %s, which is not above %s: the servers have "
      .. "lost their data, or are others", token, above)
  end
end

local function judge_lock(lock, problem, warning)
  if not lock then return end
  if lock.reconnects > 0 then
    problem("the connection was lost %d times while %s was tried: the network "
      .. "fails, or the servers' jute.maxbuffer is less than 16384 bytes",
      lock.reconnects, lock.path)
  end
  if lock.unowned then
    problem("no session owns the node %s of %s: it blocks the lock until it is "
      .. "deleted (zklock evict)", quote(lock.unowned), lock.path)
  elseif lock.code == "timeout" and lock.reconnects == 0 then
    warning("another process holds %s: it could not be tried", lock.path)
  elseif lock.message then
    problem("%s", lock.message)
  end
  if lock.open_to_anyone then
    problem("the ACL of %s is open: every client that reaches the servers can "
      .. "join its queue", lock.path)
  end
  local ahead = lock.clock_offset or 0
  if math.abs(ahead) > CLOCKS then
    warning("the servers' time of day is %.0f s %s of ours: ages are wrong, "
      .. "locks are not", math.abs(ahead), ahead > 0 and "ahead" or "behind")
  end
end

--- Adds `problems`, `warnings` and `code`, the exit code, to the report.
-- `above`: the token that the lock's token must exceed, or nil. `failure`: the
-- error that has ended the tests, or nil.
return function(report, above, failure)
  local function into(list)
    return function(message, ...) list[#list + 1] = message:format(...) end
  end
  report.problems, report.warnings = {}, {}
  local problem, warning = into(report.problems), into(report.warnings)
  judge_servers(report.servers, problem, warning)
  judge_certificate(report.tls.certificate, "tls.cert", warning)
  judge_session(report.session, problem, warning)
  judge_lock(report.lock, problem, warning)
  judge_token((report.lock or {}).token, above, problem)
  if failure then problem("%s", failure.message) end
  local code = report.lock and report.lock.code
  report.code = failure and failure.code
    or (code == "auth" or code == "denied") and exit.codes.refused
    or report.problems[1] and WRONG or exit.codes.ok
end

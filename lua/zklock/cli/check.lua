--- `zklock check`: shows the state of the servers, and whether locks on them
-- will work.
local config = require "zklock.cli.config"
local connect = require "zklock.cli.connect"
local core = require "zklock.core"
local exit = require "zklock.cli.exit"
local judge = require "zklock.cli.verdict"
local load = require "zklock.cli.load"
local output = require "zklock.cli.output"
local secure = require "zklock.secure"
local servers = require "zklock.cli.servers"
local show = require "zklock.cli.report"
local trial = require "zklock.cli.trial"
local visit = require "zklock.cli.visit"

local DEFAULT = "/zklock-check"

-- Returns how the session is authorized: the `schemes` of the user's
-- credentials, without the credentials themselves, and the `acl`.
local function access(options)
  local schemes, seen = {}, {}
  for _, entry in ipairs(options.auth or {}) do
    if not seen[entry.scheme] then
      seen[entry.scheme] = true
      schemes[#schemes + 1] = entry.scheme
    end
  end
  if options.tls and options.tls.cert then schemes[#schemes + 1] = "x509" end
  local acl = options.acl or "open"
  return { schemes = schemes, acl = type(acl) == "string" and acl or "list" }
end

-- Returns the client's certificate; or nil if there is none, or if the files of
-- the option `tls` cannot be used.
local function own_certificate(tls)
  local module = tls and secure.load()
  if not module then return nil end
  local ok, names, expires, days = module.check(tls)
  return ok and names and { names = names, expires = expires, days = days }
    or nil
end

-- Durations, as fractions of the session timeout; src/protocol/lease.h explains
-- them. SETTLING: the minimum time between a heartbeat's answer and the later
-- heartbeat that proves the lease. ANSWER: the longest time that a server's
-- answer may take. MARGIN: the part of the timeout that a lease never uses,
-- because the speeds of clocks differ.
local SETTLING, ANSWER, MARGIN = 1 / 24, 1 / 40, 1 / 20

-- Returns the shortest and the longest time, in seconds, from the servers' last
-- answer to the loss of the hold. The time is shortest if the servers stop just
-- before a heartbeat, and longest if they stop just after it. Both are valid
-- once a lock has been held for T/3, where T is the session timeout. Each
-- answer must take at most T/40. `tick`: the servers' tickTime, or nil. "The
-- lease" in doc/dev/protocol.md and src/protocol/lease.h have the formulas.
local function lease_of(timeout, tick)
  local gap = tick and tick / 2 or timeout / 4
  local span = gap + ANSWER * timeout -- from Q to P in lease.h
  local rounds = math.floor(span / (timeout / 10)) + 1
  local pace = math.max(span / rounds, (SETTLING + ANSWER) * timeout)
  local between = math.ceil(span / pace - 1e-9) * pace
  local most = timeout - MARGIN * timeout - between - pace
  return most - pace, most
end

local function measure_session(session, options, path)
  local timeout = session:timeout()
  local min, max = lease_of(timeout, options.tick_time)
  return {
    timeout = timeout,
    requested_timeout = options.session_timeout or timeout,
    lease = { min = min, max = max },
    round_trip = trial.round_trip(session, path),
  }
end

local function look(report, request, hosts, options)
  local say = request.json and function() end or output.line
  report.servers = servers.ask(hosts, options.tls)
  report.containers = servers.have_containers(report.servers)
  say(show.servers(report.servers, report.containers))
  local session = connect(request)
  report.session = measure_session(session, options, request.path)
  say(show.session(report.session))
  report.lock = trial.lock(session, request.path, hosts, options,
    report.servers)
  say(show.lock(report.lock))
end

return function(request)
  request.path = request.path or DEFAULT
  visit.begin(request)
  if request.json then load "dkjson" end
  local hosts, options = config.read(request)
  local report = { access = access(options),
    tls = { used = options.tls ~= nil,
      certificate = own_certificate(options.tls) },
    sasl = { used = false, supported = core.has_sasl() } }
  local ok, failure = xpcall(look, exit.explain, report, request, hosts,
    options)
  local code = not ok and failure.code
  if code == exit.codes.usage or code == exit.codes.internal then
    error(failure, 0)
  end
  judge(report, request.above, not ok and failure)
  output.line(request.json and show.json(report) or show.rest(report))
  return report.code
end

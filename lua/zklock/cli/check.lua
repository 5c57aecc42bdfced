--- `zklock check`: shows the state of the servers, and whether locks on them
-- will work.
local config = require "zklock.cli.config"
local core = require "zklock.core"
local exit = require "zklock.cli.exit"
local load = require "zklock.cli.load"
local output = require "zklock.cli.output"
local servers = require "zklock.cli.servers"
local show = require "zklock.cli.report"
local leaving = require "zklock.cli.leaving"
local terms = require "zklock.cli.terms"
local trial = require "zklock.cli.trial"
local verdict = require "zklock.cli.verdict"
local visit = require "zklock.cli.visit"

local DEFAULT = "/zklock-check"

-- Returns the schemes of the user's credentials, but no credentials; and the
-- ACL.
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

local function measure_session(session, options, path)
  local timeout = session:timeout()
  local min, max = terms.lease(timeout, options.tick_time)
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
  visit.servers(request, function(session)
    report.session = measure_session(session, options, request.path)
    say(show.session(report.session))
    report.lock = trial.lock(session, request.path, hosts, options,
      report.servers)
    say(show.lock(report.lock))
  end)
end

local function finish(report, request)
  local code = verdict(report, request.above)
  if request.json then
    output.line(show.json(report, code))
  else
    output.line(show.rest(report))
  end
  output.finish()
  return code
end

return function(request)
  request.path = request.path or DEFAULT
  visit.check_path(request.path)
  if request.json then load "dkjson" end
  leaving.heed()
  output.heed()
  local hosts, options = config.read(request)
  local report = { access = access(options),
    tls = { used = options.tls ~= nil },
    sasl = { used = false, supported = core.has_sasl() } }
  local ok, problem = xpcall(look, exit.explain, report, request, hosts,
    options)
  if not ok then
    if problem.code == exit.codes.usage or problem.code == exit.codes.internal
    then
      error(problem, 0)
    end
    report.error, report.code = problem.message, problem.code
  end
  return finish(report, request)
end

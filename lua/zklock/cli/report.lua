--- Report: formats the results of `zklock check` as text or as JSON.
local load = require "zklock.cli.load"
local name_of = require "zklock.cli.servers".name_of

local report = {}

local function ms(seconds) return ("%.1f ms"):format(seconds * 1000) end

local function spread(times)
  return ("%s (%s to %s)"):format(ms(times.median), ms(times.min),
    ms(times.max))
end

local function yes_or_no(value)
  if value == nil then return "not known" end
  return value and "yes" or "no"
end

local function section(title, lines)
  local parts = { title }
  for _, line in ipairs(lines) do
    parts[#parts + 1] = ("  %-12s %s"):format(line[1], line[2])
  end
  return table.concat(parts, "\n")
end

function report.servers(servers, containers)
  local lines = { "servers" }
  for _, one in ipairs(servers) do
    lines[#lines + 1] = ("  %-24s %s"):format(name_of(one), one.problem
      or ("ZooKeeper %s, %s, answers in %s"):format(one.version, one.mode,
        ms(one.response_time)))
    if one.certificate then
      lines[#lines + 1] = ("  %-24s certificate for %s, until %s"):format("",
        one.certificate.names, one.certificate.expires)
    end
  end
  lines[#lines + 1] = "  empty directories vanish (containers): "
    .. yes_or_no(containers)
  return table.concat(lines, "\n")
end

function report.session(session)
  return section("session", {
    { "timeout", ("%g s"):format(session.timeout) },
    { "lease", ("%.1f to %.1f s: how long a hold lasts when the servers stop "
      .. "responding"):format(session.lease.min, session.lease.max) },
    { "round trip", spread(session.round_trip) },
  })
end

function report.lock(lock)
  local lines = {}
  local function add(name, value)
    if value then lines[#lines + 1] = { name, value } end
  end
  add("acquire", lock.acquire and spread(lock.acquire))
  add("release", lock.release and spread(lock.release))
  add("token", lock.token)
  add("may create", yes_or_no(lock.may_create))
  add("may delete", yes_or_no(lock.may_delete))
  if lock.open_to_anyone ~= nil then
    add("open", yes_or_no(lock.open_to_anyone))
  end
  return section("lock " .. lock.path, lines)
end

local function security(found)
  local schemes = #found.access.schemes > 0
    and table.concat(found.access.schemes, ", ") or "none"
  local without = "no (the client library was built %s it)"
  return section("access", {
    { "credentials", schemes },
    { "acl", found.access.acl },
    { "TLS", found.tls.used and "yes" or "no: see doc/operations.md" },
    { "SASL", without:format(found.sasl.supported and "with" or "without") },
  })
end

local function list(title, messages)
  if #messages == 0 then return "" end
  return "\n" .. title .. "\n  " .. table.concat(messages, "\n  ")
end

--- Returns the last part of the report's text: access, warnings and problems.
function report.rest(found)
  return security(found) .. list("warnings", found.warnings)
    .. (#found.problems == 0 and "\nno problems"
      or list("problems", found.problems))
end

local order = { "code", "servers", "containers", "session", "lock", "access",
  "tls", "sasl", "problems", "warnings", "host", "port", "address",
  "reachable", "version", "mode", "response_time", "shares_data",
  "certificate", "names", "expires", "days", "problem", "timeout",
  "requested_timeout", "lease", "round_trip", "path", "granted",
  "acquire", "release", "token", "may_create", "may_delete",
  "open_to_anyone", "clock_offset", "reconnects", "unowned", "message", "min",
  "median", "max", "schemes", "acl", "used", "supported" }

--- Returns the report as one JSON object on one line, with all times in
-- seconds.
function report.json(found)
  local json = load "dkjson"
  for _, items in ipairs { found.problems, found.warnings, found.servers,
    found.access.schemes } do
    setmetatable(items, { __jsontype = "array" }) -- even if it is empty
  end
  return json.encode(found, { keyorder = order })
end

return report

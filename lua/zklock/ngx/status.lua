--- Status: the content handler of the operators' page.
--
--   LOCATION            the page; with `?format=json` as JSON for programs;
--                       `?refresh=5` reloads it every 5 seconds; `?queues=1`
--                       asks the servers for the contenders ahead of waiters
--   LOCATION/metrics    the metrics, for Prometheus
--
-- The handler changes no state. It sends requests to the servers only for
-- `queues`. So all other answers come at once, even if no server responds.
local board = require "zklock.ngx.board"
local check = require "zklock.check"
local core = require "zklock.core"
local json = require "zklock.ngx.json"
local Meters = require "zklock.meters"
local metrics = require "zklock.metrics"
local page = require "zklock.ngx.page"
local schema = require "zklock.schema"

-- nginx does not tell a handler the location of its page.
local options_of_status = schema.new("status options", {
  { "location", function(value)
    check.type(value, "string", "option 'location' of status")
    return (value:gsub("/+$", ""))
  end, "/zklock" },
})

local safe = {
  ["Cache-Control"] = "no-store",
  ["Content-Security-Policy"] = "default-src 'none'; "
    .. "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    .. "form-action 'none'; frame-ancestors 'none'",
  ["X-Content-Type-Options"] = "nosniff",
  ["Referrer-Policy"] = "no-referrer",
}

-- Lets other requests of the worker run, because it takes long to write the
-- text of many paths. Sleeps for 1 ms, not 0: an nginx without OpenResty's
-- patches logs a warning at 0.
local function pause() ngx.sleep(0.001) end

local function answer(code, kind, body)
  ngx.status = code
  for name, value in pairs(safe) do ngx.header[name] = value end
  ngx.header.content_type = kind
  ngx.header.content_length = #body
  ngx.print(body)
  return ngx.exit(ngx.HTTP_OK) -- also ends threads that still wait for a server
end

local function refuse(code, sentence, ...)
  return answer(code, "text/plain; charset=utf-8",
    "zklock: " .. sentence:format(...) .. "\n")
end

local taken = check.set "format=html format=json queues=0 queues=1"

-- Returns whether the page takes all parameters of the query.
local function fits(query)
  for name, value in pairs(query) do
    value = tostring(value)
    local seconds = name == "refresh" and tonumber(value:match "^%d+$")
    if not taken[name .. "=" .. value]
        and not (seconds and seconds >= 1 and seconds <= 3600) then
      return false
    end
  end
  return true
end

-- Queues: the contenders of the paths that have waiters.

local PATHS, CONTENDERS = 20, 20
local PATIENCE = 1 -- seconds to wait for the answers about all queues

local function ask(session, queue, done)
  local ok, found, message = pcall(session.contenders, session, queue.path)
  if ok and found then
    queue.problem, queue.count = nil, #found
    queue.contenders = { unpack(found, 1, CONTENDERS) }
  else
    queue.problem = tostring(ok and message or found)
  end
  done:post(1)
end

-- Asks for the queues of all waits at once, through this worker's sessions.
-- Waits for PATIENCE at most. Returns a list of `{ hosts =, path =, … }`.
local function read_queues(sessions)
  local queues, own, seen = {}, {}, {}
  local done, asked = require("ngx.semaphore").new(), 0
  for _, one in ipairs(board.list()) do
    if one.session:state() == "connected" then own[one.hosts] = one.session end
  end
  for _, wait in ipairs(page.rows(sessions, "waits")) do
    local key, session = wait.hosts .. " " .. wait.path, own[wait.hosts]
    if not seen[key] and #queues < PATHS then
      local queue = { hosts = wait.hosts, path = wait.path, contenders = {},
        problem = session and "no answer yet"
          or "this worker has no connection to these servers" }
      seen[key], queues[#queues + 1] = true, queue
      if session then ngx.thread.spawn(ask, session, queue, done) end
      asked = asked + (session and 1 or 0)
    end
  end
  local deadline = core.now() + PATIENCE
  for _ = 1, asked do done:wait(math.max(0, deadline - core.now())) end
  return queues
end

local function tell_metrics(reports)
  local sources = {}
  for _, report in ipairs(reports) do
    -- Omits a leaving worker: its counters end with it.
    for _, session in ipairs(not report.leaving and report.sessions or {}) do
      sources[#sources + 1] = { snapshot = session, labels = {
        worker = report.worker, session = tostring(session.index),
        hosts = session.hosts } }
    end
  end
  return answer(200, "text/plain; version=0.0.4; charset=utf-8",
    table.concat(metrics.pieces(sources, pause)))
end

local function tell_page(query, reports, location)
  local sessions = {}
  for _, report in ipairs(reports) do
    for _, session in ipairs(report.sessions) do
      session.worker, sessions[#sessions + 1] = report.worker, session
    end
  end
  local queues = query.queues == "1" and read_queues(sessions) or nil
  local is_shared = board.dictionary() ~= nil
  if query.format == "json" then
    return answer(200, "application/json", json.plain(json.write {
      time = ngx.now(), complete = is_shared, bounds = Meters.bounds,
      workers = reports, queues = queues }))
  end
  return answer(200, "text/html; charset=utf-8", page.text { queues = queues,
    sessions = sessions, is_shared = is_shared, location = location,
    refresh = query.refresh })
end

--- Answers the running request: with the page, JSON, metrics or an error.
return function(options)
  local location = options_of_status:read(options).location
  local method, uri = ngx.req.get_method(), ngx.var.uri
  local query, of_metrics = ngx.req.get_uri_args(20), location .. "/metrics"
  if method ~= "GET" and method ~= "HEAD" then
    ngx.header.allow = "GET, HEAD"
    return refuse(405, "this page takes GET and HEAD only")
  elseif uri ~= location and uri ~= location .. "/" and uri ~= of_metrics then
    return refuse(404, "the page is at %s, the metrics are at %s: for another "
      .. "location call status { location = \"/…\" }", location, of_metrics)
  elseif uri == of_metrics and next(query) or not fits(query) then
    return refuse(400, "the page takes format=html or json, queues=0 or 1, and "
      .. "refresh=1 to 3600; the metrics take no query")
  elseif uri == of_metrics then
    return tell_metrics(board.read(pause))
  end
  return tell_page(query, board.read(pause), location)
end

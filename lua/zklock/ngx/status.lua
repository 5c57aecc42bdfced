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
local plain = require "zklock.plain"
local schema = require "zklock.schema"

local status = {}

-- nginx does not tell a handler the location of its page.
local options_of_status = schema.new("status options", {
  { "location", function(value)
    check.type(value, "string", "option 'location' of status")
    return (value:gsub("/+$", ""))
  end, "/zklock" },
})

-- Sending an answer.

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

local function answer(code, kind, pieces)
  local length = 0
  for _, piece in ipairs(pieces) do length = length + #piece end
  ngx.status = code
  for name, value in pairs(safe) do ngx.header[name] = value end
  ngx.header.content_type = kind
  ngx.header.content_length = length
  for i, piece in ipairs(pieces) do
    if not ngx.print(piece) then break end -- the client is gone
    if i % 10 == 0 then pause() end -- each piece is quick to copy
  end
  return ngx.exit(ngx.HTTP_OK) -- also ends threads that still wait for a server
end

local function refuse(code, sentence, ...)
  return answer(code, "text/plain; charset=utf-8",
    { "zklock: " .. plain.text(sentence:format(...)) .. "\n" })
end

local names = check.set "format refresh queues"
local formats, flags = check.set "html json", check.set "0 1"

-- Returns the parameters of the query; or nil and a message. The message
-- contains no text of the query, which is untrusted.
local function read_query()
  local given = ngx.req.get_uri_args(20)
  for name in pairs(given) do
    if not names[name] then
      return nil, "unknown name in the query: use format, refresh or queues"
    end
  end
  local format, queues = given.format or "html", given.queues or "0"
  local refresh = given.refresh
  local seconds = tonumber((tostring(refresh):match "^%d%d?%d?%d?$"))
  if not formats[format] then
    return nil, "format is html or json"
  elseif refresh and not (seconds and seconds >= 1 and seconds <= 3600) then
    return nil, "refresh is a number of seconds, 1 to 3600"
  elseif not flags[queues] then
    return nil, "queues is 1 or 0"
  end
  return { format = format, refresh = seconds, queues = queues == "1" }
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

-- Asks for the queues of all waits at once, and waits for PATIENCE at most.
-- Returns `{ list =, more = }`. `list` has a table for each queue, `{ hosts =,
-- path =, … }`. `more` is the number of queues beyond PATHS, which are left
-- out.
local function read_queues(waits)
  local queues, sessions, seen = { list = {}, more = 0 }, {}, {}
  local done, asked = require("ngx.semaphore").new(), 0
  for _, one in ipairs(board.list()) do
    local session = one.session
    if session:state() == "connected" then
      sessions[session._engine.hosts] = session
    end
  end
  for _, wait in ipairs(waits) do
    local key, session = wait.hosts .. " " .. wait.path, sessions[wait.hosts]
    if not seen[key] and #queues.list == PATHS then
      queues.more = queues.more + 1
    elseif not seen[key] then
      local queue = { hosts = wait.hosts, path = wait.path, contenders = {},
        problem = session and "no answer yet"
          or "this worker has no connection to these servers" }
      table.insert(queues.list, queue)
      if session then ngx.thread.spawn(ask, session, queue, done) end
      asked = asked + (session and 1 or 0)
    end
    seen[key] = true
  end
  local deadline = core.now() + PATIENCE
  for _ = 1, asked do done:wait(math.max(0, deadline - core.now())) end
  return queues
end

-- The pages.

local function tell_metrics()
  if next(ngx.req.get_uri_args(1)) then
    return refuse(400, "the metrics take no query")
  end
  local sources = {}
  for _, report in ipairs(board.read(pause)) do
    -- Omits a leaving worker: its successor has the same number, and two
    -- samples must not have the same labels.
    for _, session in ipairs(not report.leaving and report.sessions or {}) do
      sources[#sources + 1] = { snapshot = session, labels = {
        worker = report.worker, session = tostring(session.index),
        hosts = session.hosts } }
    end
  end
  return answer(200, "text/plain; version=0.0.4; charset=utf-8",
    metrics.pieces(sources, pause))
end

local function tell_json(given)
  local pieces = { '{"workers":[' }
  for i, report in ipairs(given.reports) do
    pieces[i + 1] = (i > 1 and "," or "") .. json.plain(report.text)
    pause()
  end
  local rest = json.write { time = given.time, complete = given.is_shared,
    bounds = Meters.bounds, queues = given.queues and given.queues.list }
  pieces[#pieces + 1] = "]," .. json.plain(rest):sub(2)
  return answer(200, "application/json", pieces)
end

local function tell_page(location)
  local query, problem = read_query()
  if not query then return refuse(400, "%s", problem) end
  local reports, is_shared = board.read(pause)
  local all = page.read(reports, pause)
  local given = { time = ngx.now(), reports = reports, is_shared = is_shared,
    workers = ngx.worker.count(), location = location,
    refresh = query.refresh, pause = pause,
    queues = query.queues and read_queues(all.waits) or nil }
  if query.format == "json" then return tell_json(given) end
  return answer(200, "text/html; charset=utf-8", { page.text(given, all) })
end

--- Answers the running request: with the page, JSON, metrics or an error.
function status.answer(options)
  local location = options_of_status:read(options).location
  local method, uri = ngx.req.get_method(), ngx.var.uri
  if method ~= "GET" and method ~= "HEAD" then
    ngx.header.allow = "GET, HEAD"
    return refuse(405, "this page takes GET and HEAD only")
  elseif uri == location or uri == location .. "/" then
    return tell_page(location)
  elseif uri == location .. "/metrics" then
    return tell_metrics()
  elseif uri:sub(1, #location + 1) ~= location .. "/" then
    return refuse(404, "the page is at %s: if its location in nginx is another "
      .. "one, say so: status { location = \"/…\" }", location)
  end
  return refuse(404, "there is nothing here; the page is at %s, what "
    .. "Prometheus reads at %s/metrics", location, location)
end

return status

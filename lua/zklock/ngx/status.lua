--- Status: the content handler of the operators' page.
--
--   LOCATION            the page; `?format=json` for programs, `?refresh=5`
--                       reloads it each 5 seconds, `?queues=1` asks the servers
--                       for the contenders ahead of waiters
--   LOCATION/metrics    for Prometheus
--
-- It changes nothing, and only `queues` sends requests.  So it answers at once,
-- whatever the state of the servers.
local check = require "zklock.check"
local core = require "zklock.core"
local json = require "zklock.ngx.json"
local metrics = require "zklock.metrics"
local page = require "zklock.ngx.page"
local plain = require "zklock.plain"

local status = {}

local known = check.set "location"

-- Returns the location of the page, which nginx does not provide.
local function read_location(options)
  local location = check.options(options, known, "status options").location
  if location == nil then return "/zklock" end
  check.type(location, "string", "option 'location' of status")
  return (location:gsub("/+$", ""))
end

-- Answers.

local safe = {
  ["Cache-Control"] = "no-store",
  ["Content-Security-Policy"] = "default-src 'none'; "
    .. "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    .. "form-action 'none'; frame-ancestors 'none'",
  ["X-Content-Type-Options"] = "nosniff",
  ["Referrer-Policy"] = "no-referrer",
}

-- With many paths the text is long, and the worker has other requests.  A
-- sleep of 0 s would make an nginx without OpenResty's patches log a warning.
local function pause() ngx.sleep(0.001) end

local function answer_pieces(code, kind, pieces)
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

local function answer(code, kind, text)
  return answer_pieces(code, kind, { text })
end

local function refuse(code, sentence, ...)
  return answer(code, "text/plain; charset=utf-8",
    "zklock: " .. plain.text(sentence:format(...)) .. "\n")
end

local names = check.set "format refresh queues"

-- Returns the parts of the query; or nil and a message, which repeats nothing
-- of the query.
local function read_query()
  local given = ngx.req.get_uri_args(20)
  for name in pairs(given) do
    if not names[name] then
      return nil, "unknown name in the query: use format, refresh or queues"
    end
  end
  local format, refresh = given.format or "html", given.refresh
  if format ~= "html" and format ~= "json" then
    return nil, "format is html or json"
  end
  local seconds = type(refresh) == "string" and refresh:find "^%d%d?%d?%d?$"
    and tonumber(refresh)
  if refresh ~= nil and not (seconds and seconds >= 1 and seconds <= 3600) then
    return nil, "refresh is a number of seconds, 1 to 3600"
  end
  local queues = given.queues or "0"
  if queues ~= "0" and queues ~= "1" then return nil, "queues is 1 or 0" end
  return { format = format, refresh = seconds or nil, queues = queues == "1" }
end

-- Queues: the contenders of paths with waiters.

local PATHS, CONTENDERS = 20, 20
local PATIENCE = 1 -- seconds, for all of them

-- Returns a connected session for each `hosts`.
local function asking(board)
  local sessions = {}
  for _, one in ipairs(board.list()) do
    if one.session:state() == "connected" then
      sessions[one.session._engine.hosts] = one.session
    end
  end
  return sessions
end

-- Returns `{ hosts =, path = }` of the queues to read, without duplicates, and
-- the number of those left out.
local function waited_for(reports)
  local list, seen, more = {}, {}, 0
  for _, report in ipairs(reports) do
    for _, session in ipairs(report.sessions) do
      for _, wait in ipairs(session.waits) do
        local key = session.hosts .. " " .. wait.path
        if not seen[key] and #list < PATHS then
          list[#list + 1] = { hosts = session.hosts, path = wait.path }
        elseif not seen[key] then
          more = more + 1
        end
        seen[key] = true
      end
    end
  end
  return list, more
end

local function ask(session, queue, done)
  local ok, found, message = pcall(session.contenders, session, queue.path)
  if not ok then found, message = nil, found end
  queue.problem = not found and tostring(message) or nil
  queue.count = found and #found
  queue.contenders = found and { unpack(found, 1, CONTENDERS) } or {}
  done:post(1)
end

--- Reads all at once, within PATIENCE.
local function read_queues(board, reports)
  local list, more = waited_for(reports)
  local sessions, asked = asking(board), 0
  local done = require("ngx.semaphore").new()
  for _, queue in ipairs(list) do
    local session = sessions[queue.hosts]
    queue.contenders = {}
    queue.problem = session and "no answer yet"
      or "this worker has no connection to these servers"
    if session then
      ngx.thread.spawn(ask, session, queue, done)
      asked = asked + 1
    end
  end
  local deadline = core.now() + PATIENCE
  for _ = 1, asked do
    done:wait(math.max(0, deadline - core.now()))
  end
  return { list = list, more = more }
end

-- The pages.

local function tell_metrics(board)
  if next(ngx.req.get_uri_args(1)) then
    return refuse(400, "the metrics take no query")
  end
  local sources = {}
  for _, report in ipairs(board:read(pause)) do
    -- A worker that leaves no longer counts for its place.
    for _, session in ipairs(not report.leaving and report.sessions or {}) do
      sources[#sources + 1] = { snapshot = session, labels = {
        worker = report.worker, session = tostring(session.index),
        hosts = session.hosts } }
    end
  end
  return answer_pieces(200, "text/plain; version=0.0.4; charset=utf-8",
    metrics.pieces(sources, pause))
end

local function tell_json(all)
  local text, problem = json.text(all)
  if not text then return refuse(501, "%s", problem) end
  return answer(200, "application/json", text)
end

local function tell_page(board, location)
  local query, problem = read_query()
  if not query then return refuse(400, "%s", problem) end
  local reports, is_shared = board:read(pause)
  local all = { time = ngx.now(), reports = reports, is_shared = is_shared,
    workers = ngx.worker.count(), pid = ngx.worker.pid(),
    location = location, refresh = query.refresh, pause = pause,
    queues = query.queues and read_queues(board, reports) or nil }
  if query.format == "json" then return tell_json(all) end
  return answer(200, "text/html; charset=utf-8", page.text(all))
end

--- Answers the running request.
function status.answer(board, options)
  local location = read_location(options)
  local method, uri = ngx.req.get_method(), ngx.var.uri
  if method ~= "GET" and method ~= "HEAD" then
    ngx.header.allow = "GET, HEAD"
    return refuse(405, "this page takes GET and HEAD only")
  elseif uri == location or uri == location .. "/" then
    return tell_page(board, location)
  elseif uri == location .. "/metrics" then
    return tell_metrics(board)
  elseif uri:sub(1, #location + 1) ~= location .. "/" then
    return refuse(404, "the page is at %s: if its location in nginx is another "
      .. "one, say so: status { location = \"/…\" }", location)
  end
  return refuse(404, "there is nothing here; the page is at %s, what "
    .. "Prometheus reads at %s/metrics", location, location)
end

return status

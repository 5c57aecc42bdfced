--- Page: writes the operators' page, in plain HTML without scripts or external
-- files.
--
-- The page begins with the problems, in sentences.  Then come the connections,
-- the holders, the waiters with the contenders ahead of them, and the history
-- by path.
local Meters = require "zklock.meters"
local bytes = require "zklock.bytes"
local html = require "zklock.ngx.html"

local text, seconds, code, mark = html.text, html.seconds, html.code, html.mark
local wide = html.wide_code

local page = {}

-- The most paths on the page.  A program with a path for each user has far
-- more.
local MOST = 100

-- Lists and totals, which the page makes from all workers' reports (board.lua).

-- Adds a lock's counts to those of all sessions that use the same servers.
local function add_lock(all, known, hosts, lock)
  local key = hosts .. " " .. lock.mode .. lock.path
  if not known[key] then
    known[key] = { lost = 0 }
    table.insert(all.paths, known[key])
  end
  local row = Meters.add(known[key], lock)
  row.granted = row.waits.count
  all.held, all.waiting = all.held + lock.holding, all.waiting + lock.waiting
  for _, n in pairs(lock.losses) do
    all.losses, row.lost = all.losses + n, row.lost + n
  end
end

-- Adds a session.  Its holds and waits get the fields that the tables show of
-- their session.
local function add_session(all, known, session)
  setmetatable(session, { __index = session.counters })
  table.insert(all.sessions, session)
  if session.state == "connected" then all.up = all.up + 1 end
  for _, field in ipairs { "expirations", "pending_releases" } do
    all[field] = all[field] + session[field]
  end
  for _, field in ipairs { "holds", "waits" } do
    for _, row in ipairs(session[field]) do
      row.place, row.index, row.hosts = session.place, session.index,
        session.hosts
      table.insert(all[field], row)
    end
  end
  for _, lock in ipairs(session.locks) do
    add_lock(all, known, session.hosts, lock)
  end
end

-- Sorts rows by urgency: the paths with the most waiters come first, then those
-- with the most losses.
local function by_urgency(a, b)
  for _, field in ipairs { "waiting", "lost", "holding", "granted" } do
    if a[field] ~= b[field] then return a[field] > b[field] end
  end
  if a.path ~= b.path then return bytes.less(a.path, b.path) end
  return bytes.less(a.mode, b.mode)
end

local function by_age(a, b) return a.seconds > b.seconds end

--- Returns the lists and totals of these reports: `{ sessions =, holds =, waits
-- =, paths =, up =, held =, … }`.  Calls `pause()` now and then.
function page.read(reports, pause)
  local all, known = { sessions = {}, holds = {}, waits = {}, paths = {},
    up = 0, held = 0, waiting = 0, losses = 0, expirations = 0,
    pending_releases = 0 }, {}
  for _, report in ipairs(reports) do
    for _, session in ipairs(report.sessions) do
      session.worker, session.place = report.worker, text(report.worker)
        .. (report.leaving and " " .. mark("warn", "leaving") or "")
      add_session(all, known, session)
      pause()
    end
  end
  table.sort(all.paths, by_urgency)
  table.sort(all.holds, by_age)
  table.sort(all.waits, by_age)
  all.longest = all.waits[1] and all.waits[1].seconds or 0
  return all
end

-- The verdict: whether all is well, and otherwise the problems.

local function plural(n, one, many)
  return ("%d %s"):format(n, n == 1 and one or many)
end

local advice = {
  connecting = "has no connection yet: nothing can be locked by it",
  suspended = "has no connection, or no server answers: what it holds cannot "
    .. "be proved, and is lost soon",
  expired = "has expired: its holds are lost, and it begins a new ZooKeeper "
    .. "session",
}

-- Returns the problems as sentences, the worst first, and their class.
local function find_problems(given, all)
  local problems, class = {}, "good"
  local function add(of, sentence, ...)
    problems[#problems + 1] = sentence:format(...)
    class = class == "bad" and class or of
  end
  for _, session in ipairs(all.sessions) do
    if advice[session.state] then
      add("bad", "Worker %s, session %d to %s %s.", text(session.worker),
        session.index, code(session.hosts), advice[session.state])
    end
  end
  for _, report in ipairs(given.reports) do
    if report.too_large then
      add("warn", "Worker %s has more to tell than the shared dictionary has "
        .. "room for: make <code>lua_shared_dict zklock</code> larger.",
        text(report.worker))
    end
  end
  if all.losses > 0 then
    add("warn", "%s since these workers began: see the table of paths.",
      plural(all.losses, "hold was lost", "holds were lost"))
  end
  if all.longest >= 60 then
    add("warn", "A request has waited for %s.", seconds(all.longest))
  end
  if all.pending_releases > 0 then
    add("warn", "%s still to be deleted at the servers.", plural(
      all.pending_releases, "released node is", "released nodes are"))
  end
  return problems, class
end

local titles = { bad = "Trouble.", warn = "Look here." }

local function tell_verdict(given, all)
  local problems, class = find_problems(given, all)
  local n = #all.sessions
  return ('<div class="verdict %s" role="status"><strong>%s</strong> %s%s'
    .. "</div>"):format(class,
    mark(class, titles[class] or n > 0 and "All is well." or ""),
    n > 0 and ("%d of %s connected."):format(all.up,
      plural(n, "session is", "sessions are"))
      or "No session is open: nothing has asked for a lock yet.",
    problems[1] and "<ul><li>" .. table.concat(problems, "</li>\n<li>")
      .. "</li></ul>" or "")
end

local function faint(...)
  return '<p class="faint">' .. (...):format(select(2, ...)) .. "</p>"
end

-- Returns a format for a number that should be zero: it marks any other number.
local function unless_zero(class)
  return function(n) return n > 0 and mark(class, n) or n end
end

local bad, warn = unless_zero "bad", unless_zero "warn"

-- Returns the text that says which workers the page covers.
local function tell_share(given)
  if not given.is_shared and given.workers > 1 then
    return ("<p>This tells only of the worker that has answered (%s, of %d). "
      .. "For all of them add this line to the block <code>http</code> of "
      .. "nginx's configuration:</p>"
      .. "<pre><code>lua_shared_dict zklock 1m;</code></pre>"):format(
      text(given.reports[1].worker), given.workers)
  end
  local n = 0
  for _, report in ipairs(given.reports) do
    if report.sessions[1] and not report.leaving then n = n + 1 end
  end
  return faint("%d of nginx's %s a session.", n,
    plural(given.workers, "worker has", "workers have"))
end

-- Tables: the columns of each (html.table).

local classes = { connected = "good", held = "good", suspended = "bad",
  expired = "bad", lost = "bad", connecting = "warn" }

local function state(word) return mark(classes[word] or "faint", text(word)) end

local function lease(left) return seconds(tonumber(left) or math.huge) end

local SESSIONS = {
  { "worker", "place" }, { "session", "index" }, { "state", "state", state },
  { "servers", "hosts", wide }, { "id", "id", code },
  { "timeout", "timeout", seconds },
  { "lease left", "lease", function(left, session)
    return session.holds[1] and lease(left) or "–"
  end },
  { "reconnects", "reconnects" }, { "expirations", "expirations", bad },
  { "pending", "pending_releases", warn }, { "requests", "requests" },
}

local HOLDS = {
  { "path", "path", wide }, { "mode", "mode", text },
  { "state", "state", state }, { "held for", "seconds", seconds },
  { "lease left", "lease", lease }, { "token", "token", code },
  { "node", "node", function(node) return code(node:match "[^/]*$") end },
  { "worker", "place" }, { "session", "index" },
}

local WAITS = {
  { "path", "path", wide }, { "mode", "mode", text },
  { "has waited", "seconds", function(time)
    return time >= 60 and mark("warn", seconds(time)) or seconds(time)
  end },
  { "worker", "place" }, { "session", "index" },
}

local PATHS = {
  { "path", "path", function(path, row)
    return row.name or wide(path) .. "<br>" .. mark("faint", text(row.mode))
  end },
  { "held", "holding" }, { "waiting", "waiting", warn },
  { "granted", "granted" }, { "refused", "refusals", html.words },
  { "lost", "losses", function(losses, row)
    return row.lost > 0 and mark("bad", html.words(losses)) or 0
  end },
  { "waits, 1 ms to 5 min", "waits", html.histogram },
  { "holds, 1 ms to 5 min", "holds", function(holds, row)
    return html.histogram(holds) .. html.buckets(row.waits, holds)
  end },
}

local QUEUE = {
  { "place", "holds", function(_, _, i) return i end },
  { "", "holds", function(holds)
    return holds and mark("good", "holds") or "waits"
  end },
  { "mode", "mode", text },
  { "who it is", "data", function(data, one)
    return data and wide(data)
      or mark("faint", one.size and one.size .. " bytes, not read" or "–")
  end },
  { "age", "created", function(created)
    return created and seconds(math.max(0, ngx.now() - created)) or "–"
  end },
  { "session", "session", function(id) return id and code(id) or "–" end },
  { "node", "node", code },
}

-- Returns a table, or `nothing` if there are no rows.  `more`: how many further
-- rows are not shown.
local function tabulate(name, nothing, columns, rows, more, pause)
  return (rows[1] and html.table(name, columns, rows, pause) or faint(nothing))
    .. (more > 0 and faint("… and %d more.", more) or "")
end

local function section(title, ...)
  return ("<h2>%s</h2>%s"):format(title, tabulate(title, ...))
end

-- Replaces all paths beyond MOST with one row, their sum.
local function cut(paths, location)
  local n = #paths - MOST
  if n <= 0 then return paths end
  local rest = { name = ('%d more %s; the rest in <a '
    .. 'href="%s?format=json">?format=json</a>'):format(n,
    n == 1 and "path" or "paths", text(location)) }
  for _ = 1, n do Meters.add(rest, table.remove(paths)) end
  paths[MOST + 1] = rest
  return paths
end

-- The contenders ahead of this process's waiters.

local function tell_queues(given, all)
  if all.waiting == 0 then return "" end
  if not given.queues then
    return ('<p><a href="%s?queues=1">Who is ahead of them?</a> <span '
      .. 'class="faint">(asks the servers)</span></p>'):format(
      text(given.location))
  end
  local parts = { "<h2>Who is ahead, as the servers say</h2>" }
  for _, queue in ipairs(given.queues.list) do
    parts[#parts + 1] = "<h3>" .. code(queue.path) .. "</h3>"
    parts[#parts + 1] = queue.problem
      and "<p>" .. mark("warn", text(queue.problem)) .. "</p>"
      or tabulate("", "Nobody contends for it any more.", QUEUE,
        queue.contenders, queue.count - #queue.contenders)
  end
  if given.queues.more > 0 then
    parts[#parts + 1] = faint("… and %d more paths.", given.queues.more)
  end
  return table.concat(parts, "\n")
end

-- The whole page.

local FRAME = [[
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">REFRESH
<link rel="icon" href="data:,">
<title>zklock: ONLINE of SESSIONS up, HELD held, WAITING waiting</title>
<style>STYLE</style></head>
<body><main>
<header><h1>zklock</h1><span class="faint">TIME</span></header>
VERDICT
<dl class="facts"><div><dt>held now</dt><dd>HELD</dd></div>
<div><dt>waited for now</dt><dd>WAITING</dd></div>
<div><dt>longest wait now</dt><dd>LONGEST</dd></div>
<div><dt>holds lost</dt><dd>LOST</dd></div>
<div><dt>sessions expired</dt><dd>EXPIRED</dd></div>
<div><dt>releases pending</dt><dd>PENDING</dd></div></dl>
BODY
<footer><a href="LOCATION?refresh=5">Reload every 5 seconds</a> · <a
href="LOCATION?format=json">JSON</a> · <a href="LOCATION/metrics">metrics</a> ·
what the words mean: doc/metrics.md, what to do: doc/errors.md</footer>
</main></body></html>
]]

--- Returns the HTML of the page.  `all`: the result of page.read.  `given`: a
-- table with `time`, `reports`, `is_shared`, `workers`, `location`, `refresh`,
-- `queues` and `pause`.  Calls `given.pause()` now and then.
function page.text(given, all)
  return (FRAME:gsub("%u%u%u+", {
    REFRESH = given.refresh and ('<meta http-equiv="refresh" content="%d">')
      :format(given.refresh) or "",
    ONLINE = all.up,
    SESSIONS = #all.sessions,
    HELD = all.held,
    WAITING = all.waiting,
    LONGEST = all.waiting > 0 and seconds(all.longest) or "–",
    LOST = bad(all.losses),
    EXPIRED = bad(all.expirations),
    PENDING = warn(all.pending_releases),
    VERDICT = tell_verdict(given, all),
    STYLE = html.style,
    LOCATION = text(given.location),
    TIME = os.date("!%Y-%m-%d %H:%M:%S UTC", given.time),
    BODY = table.concat({
      tell_share(given),
      section("Sessions", "None is open.", SESSIONS, all.sessions, 0),
      section("Held now", "Nothing.", HOLDS, all.holds, all.held - #all.holds),
      section("Waited for now", "Nobody waits.", WAITS, all.waits,
        all.waiting - #all.waits),
      tell_queues(given, all),
      section("Paths, since these workers began", "None yet.", PATHS,
        cut(all.paths, given.location), 0, given.pause),
    }, "\n"),
  }))
end

return page

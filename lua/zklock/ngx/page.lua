--- Page: writes the operators' page, in plain HTML without scripts or external
-- files.
--
-- The page begins with the problems, in sentences.  Then come the sessions, the
-- holds, the waits with the contenders ahead of them, and the history by path.
local Meters = require "zklock.meters"
local bytes = require "zklock.bytes"
local decimal = require "zklock.decimal"
local plain = require "zklock.plain"

local page = {}

-- The maximum number of paths on the page. A program with a path for each user
-- has many more paths.
local MOST = 100

-- Formats. text() escapes untrusted text; all such text on the page passes
-- through it.

local marks = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;",
  ['"'] = "&quot;", ["'"] = "&#39;" }

local function text(value)
  return (plain.text(tostring(value)):gsub("[&<>\"']", marks))
end

local function code(value) return "<code>" .. text(value) .. "</code>" end

-- Gives HTML a colour; `class`: "good", "warn", "bad" or "faint".
local function mark(class, value)
  return ('<span class="%s">%s</span>'):format(class, value)
end

local function faint(sentence, ...)
  return '<p class="faint">' .. sentence:format(...) .. "</p>"
end

-- Returns a function that formats a number that should be zero. It marks any
-- other number.
local function unless_zero(class)
  return function(n) return n > 0 and mark(class, n) or n end
end

local bad, warn = unless_zero "bad", unless_zero "warn"

local function plural(n, one, many)
  return ("%d %s"):format(n, n == 1 and one or many)
end

--- Formats a time: 0.0123 → "12.3 ms", 75 → "1 min 15 s".
function page.seconds(seconds)
  if seconds < 0.9995 then
    return decimal.format("%.3g ms", math.max(0, seconds) * 1000)
  elseif seconds < 60 then
    return decimal.format("%.3g s", seconds)
  end
  local minutes, rest = math.floor(seconds / 60), math.floor(seconds % 60)
  if minutes < 60 then return ("%d min %d s"):format(minutes, rest) end
  return ("%d h %d min"):format(math.floor(minutes / 60), minutes % 60)
end

local seconds = page.seconds

-- Lists the counts that are not 0: `{ timeout = 2, busy = 1, auth = 0 }` →
-- "busy 1, timeout 2".
local function words(counts)
  local parts = {}
  for word, n in pairs(counts) do
    if n > 0 then
      parts[#parts + 1] = ("%s&nbsp;%d"):format(text(word), n)
    end
  end
  bytes.sort(parts)
  return parts[1] and table.concat(parts, ", ") or "0"
end

-- Returns the upper bound of the bucket in which a quantile of the histogram
-- lies, as text. `share`: the quantile, from 0 to 1.
local function quantile(histogram, share)
  local n, bounds = 0, Meters.bounds
  for i, bound in ipairs(bounds) do
    n = n + histogram.buckets[i]
    if n >= histogram.count * share then return "within " .. seconds(bound) end
  end
  return "over " .. seconds(bounds[#bounds])
end

local function histogram(values)
  if values.count == 0 then return mark("faint", "none yet") end
  return ("half %s, 99&nbsp;%% %s, mean %s"):format(quantile(values, 0.5),
    quantile(values, 0.99), seconds(values.sum / values.count))
end

local classes = { connected = "good", held = "good", suspended = "bad",
  expired = "bad", lost = "bad", connecting = "warn" }

local function state(word) return mark(classes[word] or "faint", text(word)) end

local function lease(left) return left and seconds(left) or "no limit" end

-- Tables. A column is a title, the name of a field of the rows, and optionally
-- a function. The function, `format(value, row, i)`, returns HTML. Without it,
-- the value itself is HTML or a whole number.

local SESSIONS = {
  { "worker", "place" }, { "session", "index" }, { "state", "state", state },
  { "servers", "hosts", code }, { "id", "id", code },
  { "timeout", "timeout", seconds },
  { "lease left", "lease", function(left, session)
    return session.holds[1] and lease(left) or "–"
  end },
  { "reconnects", "reconnects" }, { "expirations", "expirations", bad },
  { "pending", "pending_releases", warn }, { "requests", "requests" },
}

local HOLDS = {
  { "path", "path", code }, { "mode", "mode", text },
  { "state", "state", state }, { "held for", "seconds", seconds },
  { "lease left", "lease", lease }, { "token", "token", code },
  { "node", "node", function(node) return code(node:match "[^/]*$") end },
  { "worker", "place" }, { "session", "index" },
}

local WAITS = {
  { "path", "path", code }, { "mode", "mode", text },
  { "has waited", "seconds", seconds },
  { "worker", "place" }, { "session", "index" },
}

local PATHS = {
  { "path", "path", function(path, row)
    return row.name or code(path) .. " " .. mark("faint", text(row.mode))
  end },
  { "held", "holding" }, { "waiting", "waiting", warn },
  { "granted", "granted" }, { "refused", "refusals", words },
  { "lost", "losses", function(losses, row)
    return row.lost > 0 and mark("bad", words(losses)) or 0
  end },
  { "waits", "waits", histogram }, { "holds", "holds", histogram },
}

local QUEUE = {
  { "place", "holds", function(_, _, i) return i end },
  { "", "holds", function(holds)
    return holds and mark("good", "holds") or "waits"
  end },
  { "mode", "mode", text },
  { "data", "data", function(data, one)
    return data and code(data)
      or mark("faint", one.size and one.size .. " bytes, not read" or "–")
  end },
  { "age", "created", function(created)
    return created and seconds(math.max(0, ngx.now() - created)) or "–"
  end },
  { "session", "session", function(id) return id and code(id) or "–" end },
  { "node", "node", code },
}

-- Returns an HTML table; without rows, a paragraph with the text `nothing`.
-- `more`: the number of further rows that are not shown. `pause`: a function
-- that lets other requests run.
local function tabulate(nothing, columns, rows, more, pause)
  if not rows[1] then return faint(nothing) end
  local titles, lines = {}, {}
  for j, column in ipairs(columns) do titles[j] = column[1] end
  lines[1] = "<table><tr><th>" .. table.concat(titles, "</th><th>")
    .. "</th></tr>"
  for i, row in ipairs(rows) do
    local cells = {}
    for j, column in ipairs(columns) do
      local value, format = row[column[2]], column[3]
      cells[j] = format and format(value, row, i) or value
    end
    lines[i + 1] = "<tr><td>" .. table.concat(cells, "</td><td>")
      .. "</td></tr>"
    if pause and i % 10 == 0 then pause() end
  end
  return table.concat(lines, "\n") .. "</table>"
    .. (more > 0 and faint("… and %d more.", more) or "")
end

local function section(title, ...)
  return ("<h2>%s</h2>%s"):format(title, tabulate(...))
end

-- Lists and totals, which the page makes from all workers' reports (board.lua).

-- Adds the counts of one path and mode to the page's row for them. The row has
-- the sum over all sessions with the same hosts.
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

-- Adds a session to the lists and totals. Copies some fields of the session to
-- its holds and waits, whose tables also show these fields.
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

-- Comparator: orders rows by urgency. Rows with more waiters come first, then
-- those with more losses, more holds and more grants. Ties are ordered by path
-- and mode.
local function by_urgency(a, b)
  for _, field in ipairs { "waiting", "lost", "holding", "granted" } do
    if a[field] ~= b[field] then return a[field] > b[field] end
  end
  return bytes.less(a.path .. a.mode, b.path .. b.mode)
end

local function by_age(a, b) return a.seconds > b.seconds end

--- Returns the lists and totals of these reports:
-- `{ sessions =, holds =, waits =, paths =, up =, held =, … }`. Calls `pause()`
-- after each session, so that other requests can run.
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
  return all
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

-- The verdict: whether all is well, and otherwise the problems.

local advice = {
  connecting = "has no connection yet: nothing can be locked by it",
  suspended = "has no connection, or no server answers: what it holds cannot "
    .. "be proved, and is lost soon",
  expired = "has expired: its holds are lost, and it begins a new ZooKeeper "
    .. "session",
}

local titles = { good = "All is well.", warn = "Look here.", bad = "Trouble." }

local function tell_verdict(given, all)
  local problems, class = {}, "good"
  local function add(of, sentence, ...)
    problems[#problems + 1] = "<li>" .. sentence:format(...)
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
  local longest = all.waits[1] and all.waits[1].seconds or 0
  if longest >= 60 then
    add("warn", "A request has waited for %s.", seconds(longest))
  end
  if all.pending_releases > 0 then
    add("warn", "%s still to be deleted at the servers.", plural(
      all.pending_releases, "released node is", "released nodes are"))
  end
  return ("<p>%s %s</p><ul>%s</ul>"):format(mark(class, titles[class]),
    all.sessions[1] and ("%d of %s connected, %d held, %d waiting, %s expired.")
      :format(all.up, plural(#all.sessions, "session is", "sessions are"),
        all.held, all.waiting, bad(all.expirations))
      or "No session is open: nothing has asked for a lock yet.",
    table.concat(problems, "\n"))
end

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

-- The contenders ahead of this process's waiters.

local function tell_queues(given, all)
  if all.waiting == 0 then return "" end
  if not given.queues then
    return ('<p><a href="%s?queues=1">Who is ahead of them?</a> (asks the '
      .. "servers)</p>"):format(text(given.location))
  end
  local parts = { "<h2>Who is ahead, as the servers say</h2>" }
  for _, queue in ipairs(given.queues.list) do
    parts[#parts + 1] = "<h3>" .. code(queue.path) .. "</h3>"
    parts[#parts + 1] = queue.problem
      and "<p>" .. mark("warn", text(queue.problem)) .. "</p>"
      or tabulate("No client contends for it any more.", QUEUE,
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
<style>
:root{color-scheme:light dark;
--good:light-dark(#0f6a33,#63d592);--bad:light-dark(#b3201a,#ff8f86);
--warn:light-dark(#8a4a00,#f2bb66)}
body{font:15px/1.5 system-ui,sans-serif;margin:16px}
code{overflow-wrap:anywhere}
th,td{text-align:left;vertical-align:top;padding:4px 10px;
border-top:1px solid GrayText;font-variant-numeric:tabular-nums}
.good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}
.faint{color:GrayText}
</style></head>
<body><h1>zklock</h1>
BODY
<p class="faint">TIME · <a href="LOCATION?refresh=5">Reload every 5 seconds</a>
· <a href="LOCATION?format=json">JSON</a>
· <a href="LOCATION/metrics">metrics</a>
· what the words mean: doc/metrics.md, what to do: doc/errors.md</p>
</body></html>
]]

--- Returns the HTML of the page. `all`: the result of page.read. `given`: a
-- table with `time`, `reports`, `is_shared`, `workers`, `location`, `refresh`,
-- `queues` and `pause`. Calls `given.pause()` during long tables, so that other
-- requests can run.
function page.text(given, all)
  return (FRAME:gsub("%u%u%u+", {
    REFRESH = given.refresh and ('<meta http-equiv="refresh" content="%d">')
      :format(given.refresh) or "",
    ONLINE = all.up,
    SESSIONS = #all.sessions,
    HELD = all.held,
    WAITING = all.waiting,
    LOCATION = text(given.location),
    TIME = os.date("!%Y-%m-%d %H:%M:%S UTC", given.time),
    BODY = table.concat({
      tell_verdict(given, all),
      tell_share(given),
      section("Sessions", "None is open.", SESSIONS, all.sessions, 0),
      section("Held now", "Nothing.", HOLDS, all.holds, all.held - #all.holds),
      section("Waited for now", "No request waits.", WAITS, all.waits,
        all.waiting - #all.waits),
      tell_queues(given, all),
      section("Paths, since these workers began", "None yet.", PATHS,
        cut(all.paths, given.location), 0, given.pause),
    }, "\n"),
  }))
end

return page

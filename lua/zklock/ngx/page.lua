--- Page: writes the operators' page, in plain HTML without scripts or external
-- files.
--
-- The page begins with the problems, in sentences.  Then come the connections,
-- the holders, the waiters with the contenders ahead of them, and the history
-- by path.
local bytes = require "zklock.bytes"
local Meters = require "zklock.meters"
local html = require "zklock.ngx.html"

local text, seconds, code, mark = html.text, html.seconds, html.code, html.mark
local unless_zero, wide = html.unless_zero, html.wide_code

local page = {}

-- The most paths on the page.  A program with a path for each user has far
-- more.
local PATHS = 100

-- Lists and totals, which the page makes from all workers' reports (board.lua).

-- Adds a session's counts to those of all sessions that use the same servers.
local function add_paths(all, known, session)
  for _, row in ipairs(session.locks) do
    local key = session.hosts .. " " .. row.mode .. row.path
    if not known[key] then
      known[key] = {}
      all.paths[#all.paths + 1] = known[key]
    end
    Meters.add(known[key], row)
    all.held, all.waiting = all.held + row.holding, all.waiting + row.waiting
    for _, n in pairs(row.losses) do all.losses = all.losses + n end
  end
  all.up = all.up + (session.state == "connected" and 1 or 0)
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

local function sort(all)
  for _, row in ipairs(all.paths) do
    row.lost, row.granted = 0, row.waits.count
    for _, n in pairs(row.losses) do row.lost = row.lost + n end
  end
  table.sort(all.paths, by_urgency)
  table.sort(all.holds, by_age)
  table.sort(all.waits, by_age)
end

--- Returns the lists and totals of these reports: `{ sessions =, holds =, waits
-- =, paths =, up =, held =, … }`.  Calls `pause()` now and then.
function page.read(reports, pause)
  local all, known = { sessions = {}, holds = {}, waits = {}, paths = {},
    up = 0, held = 0, waiting = 0, losses = 0, expirations = 0,
    pending_releases = 0 }, {}
  for _, report in ipairs(reports) do
    for _, session in ipairs(report.sessions) do
      session.report = report
      all.sessions[#all.sessions + 1] = session
      for _, field in ipairs { "holds", "waits" } do
        for _, row in ipairs(session[field]) do
          row.session = session
          table.insert(all[field], row)
        end
      end
      for _, field in ipairs { "expirations", "pending_releases" } do
        all[field] = all[field] + session.counters[field]
      end
      add_paths(all, known, session)
      pause()
    end
  end
  sort(all)
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

local function find_problems(given, all)
  local bad, warn = {}, {}
  for _, session in ipairs(all.sessions) do
    if advice[session.state] then
      bad[#bad + 1] = ("Worker %s, session %d to %s %s."):format(
        text(session.report.worker), session.index, code(session.hosts),
        advice[session.state])
    end
  end
  for _, report in ipairs(given.reports) do
    if report.too_large then
      warn[#warn + 1] = ("Worker %s has more to tell than the shared "
        .. "dictionary has room for: make <code>lua_shared_dict zklock</code> "
        .. "larger."):format(text(report.worker))
    end
  end
  if all.losses > 0 then
    warn[#warn + 1] = plural(all.losses, "hold was lost", "holds were lost")
      .. " since these workers began: see the table of paths."
  end
  if all.longest >= 60 then
    warn[#warn + 1] = ("A request has waited for %s."):format(
      seconds(all.longest))
  end
  if all.pending_releases > 0 then
    warn[#warn + 1] = plural(all.pending_releases, "released node is",
      "released nodes are") .. " still to be deleted at the servers."
  end
  return bad, warn
end

local function tell_verdict(given, all)
  local bad, warn = find_problems(given, all)
  local class = bad[1] and "bad" or warn[1] and "warn" or "good"
  local word = bad[1] and "Trouble." or warn[1] and "Look here."
    or all.sessions[1] and "All is well." or ""
  for _, line in ipairs(warn) do bad[#bad + 1] = line end
  return ('<div class="verdict %s" role="status"><strong>%s</strong> %s%s'
    .. "</div>"):format(class, mark(class, word), all.sessions[1]
      and ("%d of %s connected."):format(all.up,
        plural(#all.sessions, "session is", "sessions are"))
      or "No session is open: nothing has asked for a lock yet.",
    bad[1] and "<ul><li>" .. table.concat(bad, "</li>\n<li>") .. "</li></ul>"
      or "")
end

local function tell_facts(all)
  local facts = {}
  for i, fact in ipairs {
    { "held now", all.held },
    { "waited for now", all.waiting },
    { "longest wait now", all.waiting > 0 and seconds(all.longest) or "–" },
    { "holds lost", unless_zero("bad", all.losses) },
    { "sessions expired", unless_zero("bad", all.expirations) },
    { "releases pending", unless_zero("warn", all.pending_releases) },
  } do
    facts[i] = ("<div><dt>%s</dt><dd>%s</dd></div>"):format(fact[1], fact[2])
  end
  return '<dl class="facts">' .. table.concat(facts, "\n") .. "</dl>"
end

-- Says which workers the page covers.
local function tell_share(given)
  if not given.is_shared and given.workers > 1 then
    return ("<p>This tells only of the worker that has answered (%s, of %d). "
      .. "For all of them add this line to the block <code>http</code> of "
      .. "nginx's configuration:</p>"
      .. "<pre><code>lua_shared_dict zklock 1m;</code></pre>"):format(
      text(given.reports[1].worker), given.workers)
  end
  local told, n = {}, 0
  for _, report in ipairs(given.reports) do
    if report.sessions[1] and not told[report.worker] then
      told[report.worker], n = true, n + 1
    end
  end
  return ("<p class=\"faint\">%d of nginx's %s a session.</p>"):format(n,
    plural(given.workers, "worker has", "workers have"))
end

-- Tables.

local classes = { connected = "good", held = "good", suspended = "bad",
  expired = "bad", lost = "bad", connecting = "warn" }

local function state(word) return mark(classes[word] or "faint", text(word)) end

local function place(session)
  local report = session.report
  return text(report.worker)
    .. (report.leaving and " " .. mark("warn", "leaving") or "")
end

-- Returns a table with one row for each item, as `make(item, i)` returns it.
-- `more`: how many further items are not shown.
local function tabulate(name, nothing, heads, items, make, more)
  local rows = {}
  for i, item in ipairs(items) do rows[i] = make(item, i) end
  return (rows[1] and html.table(name, heads, rows)
      or '<p class="faint">' .. nothing .. "</p>")
    .. ((more or 0) > 0 and ('<p class="faint">… and %d more.</p>'):format(more)
      or "")
end

local function section(title, ...)
  return ("<h2>%s</h2>%s"):format(title, tabulate(title, ...))
end

local function session_row(session)
  local counters = session.counters
  return { place(session), session.index, state(session.state),
    wide(session.hosts), code(session.id), seconds(session.timeout),
    session.holds[1] and seconds(session.lease or math.huge) or "–",
    counters.reconnects,
    unless_zero("bad", counters.expirations),
    unless_zero("warn", counters.pending_releases), counters.requests }
end

local function hold_row(row)
  return { wide(row.path), text(row.mode), state(row.state),
    seconds(row.seconds), seconds(row.lease or math.huge), code(row.token),
    code(row.node:match "[^/]*$"), place(row.session), row.session.index }
end

local function wait_row(row)
  local wait = seconds(row.seconds)
  return { wide(row.path), text(row.mode),
    row.seconds >= 60 and mark("warn", wait) or wait, place(row.session),
    row.session.index }
end

local function path_row(row)
  return { row.name or wide(row.path) .. "<br>"
      .. mark("faint", text(row.mode)), row.holding,
    unless_zero("warn", row.waiting), row.waits.count,
    html.words(row.refusals), row.lost > 0
      and mark("bad", html.words(row.losses)) or 0,
    html.histogram(row.waits),
    html.histogram(row.holds) .. html.buckets(row.waits, row.holds) }
end

-- Replaces all rows beyond PATHS with one row, their sum.
local function cut(paths, location)
  local n = #paths - PATHS
  if n <= 0 then return end
  local rest = { name = ('%d more %s; the rest in <a '
    .. 'href="%s?format=json">?format=json</a>'):format(n,
    n == 1 and "path" or "paths", text(location)) }
  for _ = 1, n do Meters.add(rest, table.remove(paths)) end
  paths[PATHS + 1] = rest
end

local function tell_paths(given, all)
  cut(all.paths, given.location)
  return section("Paths, since these workers began", "None yet.", { "path",
    "held", "waiting", "granted", "refused", "lost", "waits, 1 ms to 5 min",
    "holds, 1 ms to 5 min" }, all.paths, function(row, i)
      if i % 10 == 0 then given.pause() end
      return path_row(row)
    end)
end

-- The contenders ahead of this process's waiters.

local function tell_queue(time, queue)
  if queue.problem then
    return "<p>" .. mark("warn", text(queue.problem)) .. "</p>"
  end
  return tabulate("", "Nobody contends for it any more.", { "place", "", "mode",
    "who it is", "age", "session", "node" }, queue.contenders, function(one, i)
      return { i, one.holds and mark("good", "holds") or "waits",
        text(one.mode), one.data and wide(one.data)
          or mark("faint", one.size and one.size .. " bytes, not read" or "–"),
        one.created and seconds(math.max(0, time - one.created)) or "–",
        one.session and code(one.session) or "–", code(one.node) }
    end, queue.count - #queue.contenders)
end

local function tell_queues(given, all)
  if all.waiting == 0 then return "" end
  if not given.queues then
    return ('<p><a href="%s?queues=1">Who is ahead of them?</a> <span '
      .. 'class="faint">(asks the servers)</span></p>'):format(
      text(given.location))
  end
  local parts = { "<h2>Who is ahead, as the servers say</h2>" }
  for _, queue in ipairs(given.queues.list) do
    parts[#parts + 1] = ("<h3>%s</h3>%s"):format(code(queue.path),
      tell_queue(given.time, queue))
  end
  if given.queues.more > 0 then
    parts[#parts + 1] = ('<p class="faint">… and %d more paths.</p>'):format(
      given.queues.more)
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
    STYLE = html.style,
    LOCATION = text(given.location),
    TIME = os.date("!%Y-%m-%d %H:%M:%S UTC", given.time),
    BODY = table.concat({
      tell_verdict(given, all), tell_facts(all), tell_share(given),
      section("Sessions", "None is open.", { "worker", "session", "state",
        "servers", "id", "timeout", "lease left", "reconnects", "expirations",
        "pending", "requests" }, all.sessions, session_row),
      section("Held now", "Nothing.", { "path", "mode", "state", "held for",
        "lease left", "token", "node", "worker", "session" }, all.holds,
        hold_row, all.held - #all.holds),
      section("Waited for now", "Nobody waits.", { "path", "mode", "has waited",
        "worker", "session" }, all.waits, wait_row,
        all.waiting - #all.waits),
      tell_queues(given, all),
      tell_paths(given, all),
    }, "\n"),
  }))
end

return page

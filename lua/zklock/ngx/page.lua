--- Page: the operators' page.  Plain HTML, without scripts or external files.
--
-- First the problems, in sentences; then connections, holders, and waiters with
-- the contenders ahead of them; then the history, by path.
local html = require "zklock.ngx.html"
local sums = require "zklock.ngx.sums"
local tally = require "zklock.tally"
local verdict = require "zklock.ngx.verdict"

local text, seconds, code, mark = html.text, html.seconds, html.code, html.mark
local number, bad_if_any, wide = html.number, html.bad_if_any, html.wide_code

local page = {}

local function faint(value) return mark("faint", value) end

-- Tables.

local classes = { connected = "good", held = "good", suspended = "bad",
  expired = "bad", lost = "bad", connecting = "warn" }

local function state(word) return mark(classes[word] or "faint", text(word)) end

local function place(report)
  if not report.leaving then return text(report.worker) end
  return ("%s %s"):format(text(report.worker), mark("warn", "leaving"))
end

local function tell_sessions(all)
  local rows = {}
  sums.each_session(all.reports, function(session, report)
    local counters = session.counters
    local lease = session.holds[1] and seconds(session.lease) or "–"
    rows[#rows + 1] = { place(report), number(session.index),
      state(session.state), wide(session.hosts), code(session.id),
      seconds(session.timeout), lease,
      number(counters.reconnects), bad_if_any(counters.expirations),
      bad_if_any(counters.pending_releases, "warn"),
      number(counters.requests) }
  end)
  return rows, { "worker", "session", "state", "servers", "id", "timeout",
    "lease left", "reconnects", "expirations", "pending", "requests" }
end

local function each_row(all, field, make)
  local rows, more = {}, 0
  sums.each_session(all.reports, function(session, report)
    for _, row in ipairs(session[field]) do
      rows[#rows + 1] = { row = row, report = report, session = session }
    end
    local n = 0
    for _, count in ipairs(session[field == "holds" and "holding" or "waiting"])
    do
      n = n + count.n
    end
    more = more + n - #session[field]
  end)
  table.sort(rows, function(a, b) return a.row.seconds > b.row.seconds end)
  for i, one in ipairs(rows) do
    rows[i] = make(one.row, one.report, one.session)
  end
  return rows, more
end

local function tell_holds(all)
  local rows, more = each_row(all, "holds", function(row, report, session)
    return { wide(row.path), text(row.mode), state(row.state),
      seconds(row.seconds), seconds(row.lease), code(row.token),
      code(row.node:match "[^/]*$"), place(report), number(session.index) }
  end)
  return rows, { "path", "mode", "state", "held for", "lease left", "token",
    "node", "worker", "session" }, more
end

local function tell_waits(all)
  local rows, more = each_row(all, "waits", function(row, report, session)
    local wait = seconds(row.seconds)
    return { wide(row.path), text(row.mode),
      row.seconds >= 60 and mark("warn", wait) or wait, place(report),
      number(session.index) }
  end)
  return rows, { "path", "mode", "has waited", "worker", "session" }, more
end

local function tell_numbers(one)
  if tally.count(one.waits) + tally.count(one.holds) == 0 then return "" end
  return "<details><summary>all numbers</summary>"
    .. html.buckets(one.waits, one.holds) .. "</details>"
end

-- The paths on the page.  A program with a path for each user has far more.
local PATHS = 100

local function path_row(name, one)
  return { name, number(one.holding),
    one.waiting > 0 and mark("warn", one.waiting) or "0",
    number(tally.count(one.waits)), html.words(one.refusals),
    next(one.losses) and mark("bad", html.words(one.losses)) or "0",
    html.histogram(one.waits), html.histogram(one.holds) .. tell_numbers(one) }
end

local function tell_paths(all)
  local rows = {}
  local list, rest = sums.paths(all.reports, PATHS, all.pause)
  for i, one in ipairs(list) do
    rows[i] = path_row(wide(one.path) .. "<br>" .. faint(text(one.mode)), one)
    if i % 10 == 0 then all.pause() end
  end
  if rest then
    rows[#rows + 1] = path_row(('%d more %s; the rest in <a '
      .. 'href="%s?format=json">?format=json</a>'):format(rest.n,
      rest.n == 1 and "path" or "paths", text(all.location)), rest)
  end
  return rows, { "path", "held", "waiting", "granted", "refused", "lost",
    "waits, 1 ms to 5 min", "holds, 1 ms to 5 min" }
end

local function section(title, nothing, rows, heads, more)
  return ("<h2>%s</h2>%s%s"):format(title,
    rows[1] and html.table(title, heads, rows)
      or '<p class="faint">' .. nothing .. "</p>",
    (more or 0) > 0 and ('<p class="faint">… and %d more.</p>'):format(more)
      or "")
end

-- The contenders ahead of waiters.

local function age(all, created)
  return created and seconds(math.max(0, all.time - created)) or "–"
end

local function tell_queue(all, queue)
  local rows = {}
  for i, one in ipairs(queue.contenders) do
    rows[i] = { number(i), one.holds and mark("good", "holds") or "waits",
      text(one.mode), one.data and wide(one.data)
        or faint(one.size and number(one.size) .. " bytes, not read" or "–"),
      age(all, one.created), one.session and code(one.session) or "–",
      code(one.node) }
  end
  return ("<h3>%s</h3>%s"):format(code(queue.path), queue.problem
    and "<p>" .. mark("warn", text(queue.problem)) .. "</p>"
    or section("", "Nobody contends for it any more.", rows, { "place", "",
      "mode", "who it is", "age", "session", "node" },
      queue.count - #queue.contenders):gsub("^<h2></h2>", ""))
end

local function tell_queues(all, totals)
  if totals.waiting == 0 then return "" end
  if not all.queues then
    return ('<p><a href="%s?queues=1">Who is ahead of them?</a> <span '
      .. 'class="faint">(asks the servers)</span></p>'):format(
      text(all.location))
  end
  local parts = { "<h2>Who is ahead, as the servers say</h2>" }
  for _, queue in ipairs(all.queues.list) do
    parts[#parts + 1] = tell_queue(all, queue)
  end
  if all.queues.more > 0 then
    parts[#parts + 1] = ('<p class="faint">… and %d more paths.</p>'):format(
      all.queues.more)
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
<title>zklock: TITLE</title>
<style>STYLE</style></head>
<body><main>
BODY
</main></body></html>
]]

--- Returns the page.  `all`: `{ time =, reports =, is_shared =, workers =,
-- location =, refresh =, queues =, pause = }`; calls `pause` now and then.
function page.text(all)
  local totals = sums.totals(all.reports)
  local here = text(all.location)
  local words = {
    REFRESH = all.refresh and ('<meta http-equiv="refresh" content="%d">')
      :format(all.refresh) or "",
    TITLE = ("%d of %d up, %d held, %d waiting"):format(totals.up,
      totals.sessions, totals.held, totals.waiting),
    STYLE = html.style,
  }
  words.BODY = table.concat({
    ("<header><h1>zklock</h1><span class=\"faint\">%s</span></header>"):format(
      os.date("!%Y-%m-%d %H:%M:%S UTC", all.time)),
    verdict.tell(all, totals), verdict.facts(totals), verdict.share(all),
    section("Sessions", "None is open.", tell_sessions(all)),
    section("Held now", "Nothing.", tell_holds(all)),
    section("Waited for now", "Nobody waits.", tell_waits(all)),
    tell_queues(all, totals),
    section("Paths, since these workers began", "None yet.", tell_paths(all)),
    ('<footer><a href="%s?refresh=5">Load anew each 5 seconds</a> · <a '
      .. 'href="%s?format=json">JSON</a> · <a href="%s/metrics">metrics</a> · '
      .. "what the words mean: doc/metrics.md, what to do: "
      .. "doc/errors.md</footer>"):format(here, here, here),
  }, "\n")
  return (FRAME:gsub("%u%u%u+", words))
end

return page

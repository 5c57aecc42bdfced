--- Verdict: the top of the page: whether all is well, and the problems if not.
local html = require "zklock.ngx.html"
local sums = require "zklock.ngx.sums"

local text, seconds, code, mark = html.text, html.seconds, html.code, html.mark
local number, bad_if_any = html.number, html.bad_if_any

local verdict = {}

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

local function name_of(report, session)
  return ("worker %s, session %d to %s"):format(text(report.worker),
    session.index, code(session.hosts))
end

local function find_problems(all, totals)
  local bad, warn = {}, {}
  sums.each_session(all.reports, function(session, report)
    if advice[session.state] then
      bad[#bad + 1] = ("%s %s."):format(name_of(report, session),
        advice[session.state])
    end
  end)
  for _, report in ipairs(all.reports) do
    if report.too_large then
      warn[#warn + 1] = ("Worker %s has more to tell than the shared "
        .. "dictionary has room for: make <code>lua_shared_dict zklock</code> "
        .. "larger."):format(text(report.worker))
    end
  end
  if totals.losses > 0 then
    warn[#warn + 1] = plural(totals.losses, "hold was lost", "holds were lost")
      .. " since these workers began: see the table of paths."
  end
  if totals.longest >= 60 then
    warn[#warn + 1] = ("A request has waited for %s."):format(
      seconds(totals.longest))
  end
  if totals.pending_releases > 0 then
    warn[#warn + 1] = ("%s still to be deleted at the servers."):format(
      plural(totals.pending_releases, "released node is", "released nodes are"))
  end
  return bad, warn
end

local function summary(totals)
  if totals.sessions == 0 then
    return "No session is open: nothing has asked for a lock yet."
  end
  return ("%d of %s connected."):format(totals.up,
    plural(totals.sessions, "session is", "sessions are"))
end

--- Writes the problems as sentences.
function verdict.tell(all, totals)
  local bad, warn = find_problems(all, totals)
  local class = bad[1] and "bad" or warn[1] and "warn" or "good"
  local word = bad[1] and "Trouble." or warn[1] and "Look here."
    or totals.sessions > 0 and "All is well." or ""
  local lines = {}
  for _, list in ipairs { bad, warn } do
    for _, line in ipairs(list) do
      lines[#lines + 1] = "<li>" .. line:gsub("^worker", "Worker") .. "</li>"
    end
  end
  return ('<div class="verdict %s" role="status"><strong>%s</strong> %s%s'
    .. "</div>"):format(class, mark(class, word), summary(totals),
      lines[1] and "<ul>" .. table.concat(lines, "\n") .. "</ul>" or "")
end

--- Writes the numbers behind them.
function verdict.facts(totals)
  local facts = {}
  for _, fact in ipairs {
    { "held now", number(totals.held) },
    { "waited for now", number(totals.waiting) },
    { "longest wait now",
      totals.waiting > 0 and seconds(totals.longest) or "–" },
    { "holds lost", bad_if_any(totals.losses) },
    { "sessions expired", bad_if_any(totals.expirations) },
    { "releases pending", bad_if_any(totals.pending_releases, "warn") },
  } do
    facts[#facts + 1] = ("<div><dt>%s</dt><dd>%s</dd></div>"):format(fact[1],
      fact[2])
  end
  return '<dl class="facts">' .. table.concat(facts, "\n") .. "</dl>"
end

--- Writes which workers the page covers.
function verdict.share(all)
  if not all.is_shared and all.workers > 1 then
    return ("<p>This tells only of the worker that has answered (%s, of %d). "
      .. "For all of them add this line to the block <code>http</code> of "
      .. "nginx's configuration:</p>"
      .. "<pre><code>lua_shared_dict zklock 1m;</code></pre>"):format(
      text(all.reports[1].worker), all.workers)
  end
  local told = {}
  for _, report in ipairs(all.reports) do
    if report.sessions[1] then told[report.worker] = true end
  end
  local n = 0
  for _ in pairs(told) do n = n + 1 end
  return ("<p class=\"faint\">%d of nginx's %s a session.</p>"):format(n,
    plural(all.workers, "worker has", "workers have"))
end

return verdict

--- Page: writes the operators' page, in plain HTML without scripts or external
-- files.
local Meters = require "zklock.meters"
local bytes = require "zklock.bytes"
local plain = require "zklock.plain"

local page = {}

-- The maximum number of paths on the page. A program with a path for each user
-- has many more paths.
local MOST = 100

local marks = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;",
  ['"'] = "&quot;", ["'"] = "&#39;" }

-- Escapes untrusted text. All such text on the page passes through it.
local function text(value)
  return (plain.text(tostring(value)):gsub("[&<>\"']", marks))
end

-- Formats a time: 0.0123 → "12.3 ms", 75 → "1 min 15 s".
local function seconds(n)
  if n < 0.9995 then return ("%.3g ms"):format(math.max(0, n) * 1000) end
  if n < 60 then return ("%.3g s"):format(n) end
  if n < 3600 then return ("%d min %d s"):format(n / 60, n % 60) end
  return ("%d h %d min"):format(n / 3600, n / 60 % 60)
end

-- Lists counts by their words: "busy 1, timeout 2".
local function counts(all)
  local parts = {}
  for word, n in pairs(all) do parts[#parts + 1] = text(word) .. " " .. n end
  bytes.sort(parts)
  return parts[1] and table.concat(parts, ", ") or "–"
end

-- Returns the upper bound of the bucket in which a quantile of the histogram
-- lies. `share`: the quantile, from 0 to 1.
local function quantile(histogram, share)
  local n, bounds = 0, Meters.bounds
  for i, bound in ipairs(bounds) do
    n = n + histogram.buckets[i]
    if n >= histogram.count * share then return "within " .. seconds(bound) end
  end
  return "over " .. seconds(bounds[#bounds])
end

local function histogram(values)
  if values.count == 0 then return "–" end
  return ("%d: half %s, 99 %% %s, mean %s"):format(values.count,
    quantile(values, 0.5), quantile(values, 0.99),
    seconds(values.sum / values.count))
end

local function state(word)
  local is_fine = word == "connected" or word == "held"
  return is_fine and word or "<b>" .. text(word) .. "</b>"
end

-- Tables. A column is a title, or a title and the name of a field of the rows.
-- `formats` has functions that turn values into HTML, by the column's title;
-- text() does so for all others.

local SESSIONS = "worker session=index state servers=hosts id timeout "
  .. "lease_left=lease reconnects expirations pending_releases requests"
local HOLDS = "path mode state held_for=seconds lease_left=lease token node "
  .. "worker session=index"
local WAITS = "path mode has_waited=seconds worker session=index"
local PATHS = "path mode waiting holding lost=losses refused=refusals "
  .. "waits holds"
local QUEUE = "role=holds mode data size age=created session node"

local formats = { state = state, timeout = seconds, lease_left = seconds,
  held_for = seconds, has_waited = seconds, lost = counts, refused = counts,
  waits = histogram, holds = histogram,
  role = function(holds) return holds and "holds" or "waits" end,
  age = function(created) return seconds(ngx.now() - created) end }

-- Returns a section with a table. `more`: the number of further rows that are
-- not shown.
local function section(title, columns, rows, more)
  local titles, fields, lines = {}, {}, {}
  for name, field in columns:gmatch "([%a_]+)=?([%a_]*)" do
    titles[#titles + 1] = name
    fields[#titles] = field ~= "" and field or name
  end
  for i, row in ipairs(rows) do
    local cells = {}
    for j, name in ipairs(titles) do
      local value = row[fields[j]]
      cells[j] = value == nil and "–" or (formats[name] or text)(value)
    end
    lines[i] = "<tr><td>" .. table.concat(cells, "</td><td>") .. "</td></tr>"
  end
  return ("<h2>%s</h2>\n<table><tr><th>%s</th></tr>\n%s</table>%s"):format(
    title, table.concat(titles, "</th><th>"):gsub("_", " "),
    table.concat(lines, "\n"),
    more > 0 and ("<p>… and %d more</p>"):format(more) or "")
end

--- Returns the holds or waits of all sessions. Each row also has the fields of
-- its session.
function page.rows(sessions, field)
  local rows = {}
  for _, session in ipairs(sessions) do
    for _, row in ipairs(session[field]) do
      rows[#rows + 1] = setmetatable(row, { __index = session })
    end
  end
  return rows
end

local function sum(all)
  local total = 0
  for _, n in pairs(all) do total = total + n end
  return total
end

-- Orders paths: first those with waiters, then those with losses, then those
-- with holders.
local function by_urgency(a, b)
  if a.waiting ~= b.waiting then return a.waiting > b.waiting end
  local lost_a, lost_b = sum(a.losses), sum(b.losses)
  if lost_a ~= lost_b then return lost_a > lost_b end
  if a.holding ~= b.holding then return a.holding > b.holding end
  return bytes.less(a.path .. a.mode, b.path .. b.mode)
end

-- Returns a row for each path and mode, the sum over the sessions with the same
-- hosts. The last row is the sum of all paths beyond MOST. Also returns the sum
-- of all paths.
local function paths_of(sessions)
  local rows, known, all = {}, {}, Meters.meter("", "")
  for _, session in ipairs(sessions) do
    for _, lock in ipairs(session.locks) do
      local key = session.hosts .. " " .. lock.mode .. lock.path
      if not known[key] then
        known[key] = {}
        rows[#rows + 1] = known[key]
      end
      Meters.add(known[key], lock)
      Meters.add(all, lock)
    end
  end
  table.sort(rows, by_urgency)
  local more = #rows - MOST
  if more > 0 then
    local rest = {}
    for _ = 1, more do Meters.add(rest, table.remove(rows)) end
    rest.path, rest.mode = more .. " more, see JSON", "–"
    rows[MOST + 1] = rest
  end
  return rows, all
end

local function queues_of(queues)
  local parts = {}
  for i, queue in ipairs(queues or {}) do
    local title = "Queue of " .. text(queue.path)
    parts[i] = queue.problem and ("<h2>%s</h2><p><b>%s</b></p>"):format(title,
      text(queue.problem))
      or section(title, QUEUE, queue.contenders,
        queue.count - #queue.contenders)
  end
  return table.concat(parts, "\n")
end

local PAGE = [[
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">$refresh
<link rel="icon" href="data:,">
<title>zklock: $held held, $waiting waiting, $lost lost</title>
<style>
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;margin:16px}
th,td{text-align:left;vertical-align:top;padding:4px 10px;
border-top:1px solid GrayText;overflow-wrap:anywhere}
b{color:light-dark(#b3201a,#ff8f86)}
</style></head>
<body><h1>zklock</h1>
<p>$up of $sessions connected, $held held, $waiting waiting, $lost lost.</p>
$alone
$tables
<p>$time UTC · <a href="$location?refresh=5">Reload every 5 seconds</a>
· <a href="$location?queues=1">Who is ahead of the waiters?</a>
· <a href="$location?format=json">JSON</a>
· <a href="$location/metrics">metrics</a>
· what the words mean: doc/metrics.md, what to do: doc/errors.md</p>
</body></html>
]]

local ALONE = [[
<p><b>This shows only the worker that has answered.</b> To see all workers, add
this line to the block <code>http</code> of nginx's configuration:
<code>lua_shared_dict zklock 1m;</code></p>
]]

--- Returns the HTML of the page. `given`: a table with `sessions`, which is a
-- list of all workers' sessions; `queues`, a list or nil; `is_shared`: whether
-- the workers share their reports; `location`; `refresh`: seconds or nil.
function page.text(given)
  local sessions, up = given.sessions, 0
  local holds = page.rows(sessions, "holds")
  local waits = page.rows(sessions, "waits")
  local paths, all = paths_of(sessions)
  for _, session in ipairs(sessions) do
    setmetatable(session, { __index = session.counters })
    if session.state == "connected" then up = up + 1 end
  end
  local words = {
    refresh = given.refresh and ('\n<meta http-equiv="refresh" content="%d">')
      :format(given.refresh) or "",
    up = up, sessions = #sessions .. (#sessions == 1 and " session is"
      or " sessions are"),
    held = all.holding, waiting = all.waiting, lost = sum(all.losses),
    alone = not given.is_shared and ngx.worker.count() > 1 and ALONE or "",
    location = text(given.location),
    time = os.date "!%Y-%m-%d %H:%M:%S",
    tables = table.concat({
      section("Sessions", SESSIONS, sessions, 0),
      section("Held now", HOLDS, holds, all.holding - #holds),
      section("Waited for now", WAITS, waits, all.waiting - #waits),
      queues_of(given.queues),
      section("Paths, since these workers began", PATHS, paths, 0),
    }, "\n"),
  }
  return (PAGE:gsub("%$(%l+)", words))
end

return page

--- HTML: formats the texts, times, tables and histograms of the operators'
-- page.  All foreign text passes through html.text, which escapes it.
local bytes = require "zklock.bytes"
local decimal = require "zklock.decimal"
local Meters = require "zklock.meters"
local plain = require "zklock.plain"

local html = {}

local marks = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;",
  ['"'] = "&quot;", ["'"] = "&#39;" }

--- Returns any value as text, escaped for HTML.
function html.text(text)
  return (plain.text(tostring(text)):gsub("[&<>\"']", marks))
end

--- Formats a time: 0.0123 → "12 ms", 75 → "1 min 15 s".
function html.seconds(seconds)
  if seconds == math.huge then return "no limit" end
  if seconds < 0.9995 then
    return decimal.format("%.3g ms", math.max(0, seconds) * 1000)
  end
  if seconds < 59.95 then return decimal.format("%.3g s", seconds) end
  local minutes = math.floor((seconds + 0.5) / 60)
  if minutes < 60 then
    return ("%d min %d s"):format(minutes, math.floor(seconds + 0.5) % 60)
  end
  return ("%d h %d min"):format(math.floor(minutes / 60), minutes % 60)
end

--- Formats a name on one line; html.wide_code may break it into several.
function html.code(value) return "<code>" .. html.text(value) .. "</code>" end

function html.wide_code(value)
  return '<code class="wide">' .. html.text(value) .. "</code>"
end

--- Gives HTML a colour; `class`: "good", "warn", "bad" or "faint".
function html.mark(class, value)
  return ('<span class="%s">%s</span>'):format(class, value)
end

--- Lists the counts that are not 0: `{ timeout = 2, busy = 1, auth = 0 }` →
-- "busy 1, timeout 2".
function html.words(counts)
  local parts = {}
  for word, n in pairs(counts) do
    if n > 0 then
      parts[#parts + 1] = ("%s&nbsp;%d"):format(html.text(word), n)
    end
  end
  bytes.sort(parts)
  return parts[1] and table.concat(parts, ", ") or "0"
end

--- Returns the HTML of a table, which scrolls if it is too wide.  `name`: its
-- label for screen readers.  `columns`: for each column its title, the field of
-- the rows, and a function `format(value, row, i)` that returns HTML; without
-- it, the value is HTML or a whole number.  `pause`: called now and then.
function html.table(name, columns, rows, pause)
  local parts = { ('<div class="scroll" tabindex="0" role="region" '
    .. 'aria-label="%s"><table><thead><tr>'):format(html.text(name)) }
  for _, column in ipairs(columns) do
    parts[#parts + 1] = ('<th scope="col">%s</th>'):format(column[1])
  end
  parts[#parts + 1] = "</tr></thead><tbody>"
  for i, row in ipairs(rows) do
    local cells = {}
    for j, column in ipairs(columns) do
      local value, format = row[column[2]], column[3]
      cells[j] = format and format(value, row, i) or value
    end
    parts[#parts + 1] = "<tr><td>" .. table.concat(cells, "</td><td>")
      .. "</td></tr>"
    if pause and i % 10 == 0 then pause() end
  end
  parts[#parts + 1] = "</tbody></table></div>"
  return table.concat(parts, "\n")
end

-- Histograms.

local WIDE, GAP, HIGH = 7, 2, 30
local bounds = Meters.bounds

local function name_of(i)
  return bounds[i] and "up to " .. html.seconds(bounds[i])
    or "more than " .. html.seconds(bounds[i - 1])
end

-- Draws the bar of a bucket; a small count still gets a visible bar.
local function bar(i, n, most)
  local high = n > 0 and math.max(2, n / most * HIGH) or 0.7
  return ('<rect class="%s" x="%d" y="%s" width="%d" height="%s"><title>'
    .. "%s: %d</title></rect>"):format(n > 0 and "bar" or "none",
    (i - 1) * (WIDE + GAP), decimal.format("%.1f", HIGH - high), WIDE,
    decimal.format("%.1f", high), name_of(i), n)
end

-- Returns the bound below which a share (0 to 1) of a histogram's values lies.
local function quantile(histogram, share)
  local n = 0
  for i, bound in ipairs(bounds) do
    n = n + histogram.buckets[i]
    if n >= histogram.count * share then
      return "within " .. html.seconds(bound)
    end
  end
  return "over " .. html.seconds(bounds[#bounds])
end

--- Draws a histogram as bars, with its median, mean and 99th percentile.
function html.histogram(histogram)
  if histogram.count == 0 then return html.mark("faint", "none yet") end
  local most, bars = 0, {}
  for _, count in ipairs(histogram.buckets) do most = math.max(most, count) end
  for i, n in ipairs(histogram.buckets) do bars[i] = bar(i, n, most) end
  return ('<svg width="%d" height="%d" aria-hidden="true">%s</svg><div '
    .. 'class="numbers">half %s, mean %s<br>99 %% %s</div>'):format(
    #bars * (WIDE + GAP), HIGH, table.concat(bars), quantile(histogram, 0.5),
    html.seconds(histogram.sum / histogram.count), quantile(histogram, 0.99))
end

local buckets = { { "time", "time" }, { "waits", "waits" },
  { "holds", "holds" } }

--- Returns a table that the user can open: how many waits and holds are in each
-- bucket.
function html.buckets(waits, holds)
  local rows = {}
  for i, n in ipairs(waits.buckets) do
    if n + holds.buckets[i] > 0 then
      rows[#rows + 1] = { time = name_of(i), waits = n,
        holds = holds.buckets[i] }
    end
  end
  return rows[1] and ("<details><summary>all numbers</summary>%s</details>")
    :format(html.table("buckets", buckets, rows)) or ""
end

html.style = [[
:root{color-scheme:light dark;--ground:#f4f5f7;--card:#fff;--ink:#1c2127;
--faint:#59636e;--line:#d5dae0;--head:#eceff2;--good:#0f6a33;--bad:#b3201a;
--warn:#8a4a00;--bar:#2f75c0;--link:#0b5cad}
@media(prefers-color-scheme:dark){:root{--ground:#0f1318;--card:#171c23;
--ink:#e5e9ee;--faint:#9ba6b2;--line:#2d353f;--head:#1e252d;--good:#63d592;
--bad:#ff8f86;--warn:#f2bb66;--bar:#5ca3e6;--link:#83bdf5}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1240px;margin:0 auto;padding:16px}
header{display:flex;flex-wrap:wrap;gap:4px 16px;align-items:baseline}
h1{font-size:20px;margin:0}
h2{font-size:16px;margin:28px 0 8px}
p{margin:6px 0}
a{color:var(--link)}
code{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;
overflow-wrap:anywhere}
pre{overflow-x:auto;margin:6px 0}
.faint,.numbers{color:var(--faint)}
.verdict{margin:14px 0;padding:12px 16px;background:var(--card);
border:1px solid var(--line);border-left:6px solid var(--good);
border-radius:6px}
.verdict.bad{border-left-color:var(--bad)}
.verdict.warn{border-left-color:var(--warn)}
.verdict strong{font-size:17px}
.verdict ul{margin:6px 0 0;padding-left:20px}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(130px,1fr));
gap:8px;margin:0}
.facts div{background:var(--card);border:1px solid var(--line);
border-radius:6px;padding:8px 12px}
.facts dt{color:var(--faint);font-size:13px}
.facts dd{margin:0;font-size:22px;font-variant-numeric:tabular-nums}
.good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}
.good,.bad,.warn{font-weight:600}
.verdict{color:inherit!important;font-weight:400!important}
.scroll{overflow-x:auto;background:var(--card);border:1px solid var(--line);
border-radius:6px}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:left;vertical-align:top;padding:7px 10px;
border-top:1px solid var(--line)}
thead th{border-top:0;background:var(--head);font-size:13px;font-weight:600;
color:var(--faint);white-space:nowrap}
td code{white-space:nowrap}
td code.wide{display:inline-block;min-width:170px;max-width:420px;
white-space:normal}
.numbers{font-size:13px;white-space:nowrap}
svg{display:block}.bar{fill:var(--bar)}.none{fill:var(--line)}
details summary{cursor:pointer;color:var(--link);font-size:13px}
details .scroll{margin-top:6px}
details td{white-space:nowrap}
footer{margin:28px 0 8px;color:var(--faint);font-size:13px}
]]

return html

--- Expressions of Prometheus: are their names and labels those that there are?
local metrics = require "zklock.metrics"
local prometheus = require "support.prometheus"

local expressions = {}

local function histogram(n)
  local buckets = {}
  for i = 1, #require("zklock.meters").bounds + 1 do buckets[i] = n end
  return { count = n * #buckets, sum = 2 * n, buckets = buckets }
end

local function snapshot()
  local locks = {}
  for i = 1, 2 do
    locks[i] = { path = "/" .. i, mode = "mutex", waits = histogram(i),
      holds = histogram(i), refusals = { timeout = 1, busy = 2 },
      losses = { lease_expired = 1 }, waiting = i, holding = i,
      oldest_wait = 2 + i, oldest_hold = 2 + i }
  end
  return { hosts = "zk1:2181", state = "connected", timeout = 10, lease = 4,
    counters = { reconnects = 1, expirations = 1, heartbeats = 5, requests = 50,
      pending_releases = 2, refused_releases = 1 },
    locks = locks }
end

--- The families of a worker that does all that there is to tell of.
local families = prometheus.read(metrics.text { { snapshot = snapshot(),
  labels = { session = "1", worker = "1", hosts = "zk1:2181" } } })
expressions.families = families

-- What Prometheus adds to each sample, and what it makes.
local labels = { job = true, instance = true, alertname = true,
  alertstate = true, severity = true }
for _, family in pairs(families) do
  for _, sample in ipairs(family.samples) do
    for label in pairs(sample.labels) do labels[label] = true end
  end
end

--- The family whose name this is, as it is written in an expression.
function expressions.family(name)
  local base = name:match "^(.*)_bucket$" or name:match "^(.*)_sum$"
    or name:match "^(.*)_count$"
  local family = families[name]
  if family then return family.type ~= "histogram" and family or nil end
  return base and families[base]
end

--- All names of families in a text that are none; and how many there are.
function expressions.unknown_names(text)
  local unknown, n = {}, 0
  for name in text:gmatch "%f[%w_:](zklock_[%w_]+)" do
    if not expressions.family(name) then unknown[#unknown + 1] = name end
    n = n + 1
  end
  return unknown, n
end

--- The labels that an expression names and nothing has.
function expressions.unknown_labels(text)
  local unknown = {}
  local function look(label)
    if not labels[label] then unknown[#unknown + 1] = label end
  end
  for list in text:gmatch "{([^}]*)}" do
    for label in list:gmatch '([%w_]+)%s*[=!]~?"' do look(label) end
  end
  for _, word in ipairs { "by", "on", "ignoring", "without", "group_left" } do
    for list in text:gmatch("%f[%w_]" .. word .. " ?%(([^)]*)%)") do
      for label in list:gmatch "[%w_]+" do look(label) end
    end
  end
  return unknown
end

return expressions

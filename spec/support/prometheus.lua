--- A strict reader of Prometheus' text format, version 0.0.4: what it takes any
-- other reader takes.  `read(text)` gives the families by name, `{ type =,
-- help =, samples = }`, and raises at the first line that is not as it should
-- be.
local plain = require "zklock.plain"

local NAME = "^[%a_:][%w_:]*"

local types = { counter = true, gauge = true, histogram = true }
local suffixes = { histogram = { _bucket = true, _sum = true, _count = true } }

local numbers = { ["+Inf"] = math.huge, ["-Inf"] = -math.huge }

local function read_number(text)
  local number = numbers[text]
    or text:find "^-?%d+%.?%d*[eE]?[-+]?%d*$" and tonumber(text)
  if not number then error(("no number: %q"):format(text), 0) end
  return number
end

-- Escapes in values, while the line is read: no line has these bytes.
local ESCAPES = { ["\\"] = "\1", ['"'] = "\2", n = "\3" }
local MEANT = { ["\1"] = "\\", ["\2"] = '"', ["\3"] = "\n" }

local function escape(line)
  return (line:gsub("\\(.)", function(c)
    return ESCAPES[c] or error("an unknown escape", 0)
  end))
end

local function read_labels(line, i)
  local labels = {}
  if line:sub(i, i) ~= "{" then return labels, i end
  i = i + 1
  repeat
    local name, value, mark, after =
      line:match('^([%a_][%w_]*)="([^"]*)"([,}])()', i)
    if not name then error("labels that are none", 0) end
    if labels[name] then error("a label twice: " .. name, 0) end
    labels[name] = value:gsub("[\1-\3]", MEANT)
    i = after
  until mark == "}"
  return labels, i
end

local function key_of(name, labels)
  local parts = {}
  for label, value in pairs(labels) do
    parts[#parts + 1] = ("%s=%q"):format(label, value)
  end
  table.sort(parts)
  return name .. "{" .. table.concat(parts, ",") .. "}"
end

local Reader = {}
Reader.__index = Reader

function Reader:comment(line)
  local word, name, rest = line:match "^# (%u+) ([%w_:]+) (.+)$"
  if word == "HELP" then
    if self.families[name] then error("a family twice: " .. name, 0) end
    self.family = { name = name, help = rest, samples = {} }
    self.families[name] = self.family
  elseif word == "TYPE" then
    local family = self.family
    if not family or family.name ~= name or family.type then
      error("TYPE does not follow HELP", 0)
    end
    family.type = types[rest] and rest or error("unknown type " .. rest, 0)
  else
    error("neither HELP nor TYPE", 0)
  end
end

function Reader:sample(line)
  local name = line:match(NAME) or error("no name", 0)
  local family = self.family
  if not family or not family.type then error("a sample before TYPE", 0) end
  local suffix = name:sub(#family.name + 1)
  local fits = suffixes[family.type]
  if name:sub(1, #family.name) ~= family.name
      or not (fits and fits[suffix] or not fits and suffix == "") then
    error("a sample among those of " .. family.name, 0)
  end
  line = escape(line)
  local labels, i = read_labels(line, #name + 1)
  local text = line:match("^ (%S+)$", i) or error("no value", 0)
  local key = key_of(name, labels)
  if self.seen[key] then error("a sample twice", 0) end
  self.seen[key] = true
  table.insert(family.samples, { name = name, suffix = suffix, labels = labels,
    value = read_number(text) })
end

-- Buckets stand together, grow, and end with all that there are.
local function check_histogram(family)
  local open, counts = nil, {}
  for _, sample in ipairs(family.samples) do
    local le = sample.labels.le
    local rest = {}
    for label, value in pairs(sample.labels) do rest[label] = value end
    rest.le = nil
    local key = key_of(family.name, rest)
    if sample.suffix == "_bucket" then
      local bound = read_number(le or error("a bucket without le", 0))
      if open and (open.key ~= key or bound <= open.bound
          or sample.value < open.value) then
        error("buckets that do not grow: " .. key, 0)
      end
      open = { key = key, bound = bound, value = sample.value }
      if bound == math.huge then counts[key], open = sample.value, nil end
    elseif le or open then
      error("buckets without an end: " .. key, 0)
    elseif sample.suffix == "_count" and counts[key] ~= sample.value then
      error("a count that is not that of the buckets: " .. key, 0)
    end
  end
end

local function check_signs(family)
  for _, sample in ipairs(family.samples) do
    if family.type ~= "gauge" and sample.value < 0 then
      error("less than nothing: " .. sample.name, 0)
    end
  end
end

local prometheus = {}

function prometheus.read(text)
  local self = setmetatable({ families = {}, seen = {} }, Reader)
  if text:sub(-1) ~= "\n" then error("no newline at the end", 2) end
  for line in text:gmatch "(.-)\n" do
    local ok, problem = pcall(function()
      if plain.text(line) ~= line then error("not plain", 0) end
      if line:find "^#" then self:comment(line) else self:sample(line) end
    end)
    if not ok then error(("%s: %s"):format(problem, line), 2) end
  end
  for name, family in pairs(self.families) do
    if not family.type then error("no TYPE of " .. name, 2) end
    check_signs(family)
    if family.type == "histogram" then check_histogram(family) end
  end
  return self.families
end

--- Of one family those samples whose labels are these, among others; `suffix`
-- is "" unless given.
function prometheus.find(families, name, labels, suffix)
  local found = {}
  for _, sample in ipairs(families[name].samples) do
    local fits = sample.suffix == (suffix or "")
    for label, value in pairs(labels or {}) do
      fits = fits and sample.labels[label] == value
    end
    if fits then found[#found + 1] = sample end
  end
  return found
end

--- The sum of these; nil if there is none.
function prometheus.sum(...)
  local sum
  for _, sample in ipairs(prometheus.find(...)) do
    sum = (sum or 0) + sample.value
  end
  return sum
end

return prometheus

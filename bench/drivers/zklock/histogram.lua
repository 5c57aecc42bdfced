--- Latencies in buckets, each 5 % wider than the one before; nothing is
-- allocated while they are counted.
local floor, log = math.floor, math.log

local GROWTH = log(1.05)
local BUCKETS = 440 -- up to half an hour

local Histogram = {}
Histogram.__index = Histogram

function Histogram.new()
  local self = setmetatable({}, Histogram)
  self:clear()
  return self
end

function Histogram:clear()
  for i = 0, BUCKETS do self[i] = 0 end
end

--- What is below a microsecond is in the first one.
function Histogram:add(seconds)
  local us = seconds * 1e6
  local i = us > 1 and floor(log(us) / GROWTH) or 0
  if i > BUCKETS then i = BUCKETS end
  self[i] = self[i] + 1
end

--- As the protocol has it: LOW:COUNT,…
function Histogram:text()
  local parts = {}
  for i = 0, BUCKETS do
    if self[i] > 0 then
      parts[#parts + 1] = ("%.2f:%d"):format(1.05 ^ i, self[i])
    end
  end
  return table.concat(parts, ",")
end

return Histogram

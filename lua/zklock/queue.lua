--- The queue of a path, as `contenders` shows it: order, and who holds.
local queue = {}

local MARK = "\nzklock:revoke"

--- Data with the mark that asks a holder to let go.
function queue.mark(data)
  data = data or ""
  if data:sub(-#MARK) == MARK then return data end
  return data .. MARK
end

local function strip(data)
  if data and data:sub(-#MARK) == MARK then return data:sub(1, -#MARK - 1) end
  return data
end

-- Near the end of ZooKeeper's counter (see doc/design.md) numbers are no
-- order; czxids are.
local function unordered(items)
  for _, item in ipairs(items) do
    if item.sequence < 0 or item.sequence >= 2 ^ 31 - 65536 then return true end
  end
  return false
end

local function sort(items)
  local by_token = unordered(items)
  table.sort(items, function(a, b)
    if not by_token and a.sequence ~= b.sequence then
      return a.sequence < b.sequence
    end
    return a.token < b.token
  end)
end

-- A writer and the reader that it became have one number.
local function rank(items, item, modes)
  for _, other in ipairs(items) do
    if other == item then return true end
    if modes[other.mode] and other.sequence ~= item.sequence then
      return false
    end
  end
end

local blockers = {
  mutex = { mutex = true },
  read = { write = true },
  write = { read = true, write = true },
  unfair = {},
  ["kazoo-read"] = { ["kazoo-lock"] = true },
  ["kazoo-lock"] = { ["kazoo-lock"] = true, ["kazoo-read"] = true },
}

local public_modes = { ["kazoo-lock"] = "mutex", ["kazoo-read"] = "read" }

-- Who is first in locks/ may own a lease that it is still waiting with.
local function inside(items)
  for _, item in ipairs(items) do
    if item.node:sub(1, 6) == "locks/" then return item.session end
  end
end

local function holds(items, item)
  if item.node:sub(1, 7) == "leases/" then
    return item.session ~= inside(items)
  elseif item.node:sub(1, 6) == "locks/" then
    return false
  end
  return rank(items, item, blockers[item.mode] or {})
end

local function show(item)
  item.version = nil
  item.mode = public_modes[item.mode] or item.mode
  item.data = strip(item.data)
  if item.mode == "unfair" then item.sequence = nil end
end

--- Sorts what the core has read and says who holds; `raw` keeps what only
-- revoke needs.
function queue.order(items, raw)
  sort(items)
  for _, item in ipairs(items) do
    item.holds = holds(items, item)
    if item.node:sub(1, 6) == "locks/" then item.mode = "lease" end
  end
  if raw then return items end
  for _, item in ipairs(items) do show(item) end
  return items
end

--- Of what the core has read, those that hold in one of these modes.
function queue.holders(items, modes)
  local holders = {}
  for _, item in ipairs(queue.order(items, true)) do
    if item.holds and modes[item.mode] then
      show(item)
      holders[#holders + 1] = item
    end
  end
  return holders
end

return queue

--- The queue of a path, as `contenders` shows it.
local core = require "zklock.core"

local queue = {}

local public_modes = { ["kazoo-lock"] = "mutex", ["kazoo-read"] = "read" }

local function show(item)
  item.version = nil
  item.mode = public_modes[item.mode] or item.mode
  item.data = item.data and core.own_data(item.data)
  if item.mode == "unfair" then item.sequence = nil end
end

--- What the core has read, in order, with `holds`; `raw` keeps what only revoke
-- needs.
function queue.order(items, raw)
  items = core.survey(items)
  for _, item in ipairs(items) do
    if item.node:sub(1, 6) == "locks/" then item.mode = "lease" end
    if not raw then show(item) end
  end
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

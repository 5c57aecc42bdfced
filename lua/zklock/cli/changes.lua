--- Returns how a queue has changed since it was last read.
local rows = require "zklock.cli.rows"

local words = { holds = "granted", waits = "waits", present = "present",
  unowned = "unowned" }

--- Returns a list of `{ change =, row = }`, and the state for the next
-- comparison. `before`: the state from the last comparison. In the first
-- comparison it is nil, and all rows count as changed. Contenders that have
-- left come first, because they made room for others.
return function(contenders, before)
  local list, after, order = {}, {}, {}
  for i, row in ipairs(contenders) do
    after[row.node], order[i] = row, row.node
  end
  after[0] = order
  for _, node in ipairs(before and before[0] or {}) do
    -- Another node, with another token, can have the same name by now.
    local now, then_ = after[node], before[node]
    if not now or now.token ~= then_.token then
      list[#list + 1] = { change = "left", row = then_ }
    end
  end
  for _, row in ipairs(contenders) do
    local was = before and before[row.node]
    local same = was and was.token == row.token
    if not same or rows.state(was) ~= rows.state(row) then
      list[#list + 1] = { change = words[rows.state(row)], row = row }
    end
  end
  return list, after
end

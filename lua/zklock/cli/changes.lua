--- What has changed between two looks at a queue.
local rows = require "zklock.cli.rows"

local words = { holds = "granted", waits = "waits", present = "present",
  unowned = "unowned" }

--- A list of `{ change =, row = }`, and the state to compare with next: those
-- that have gone first, for they have made room.  `before`: that of the last
-- look; nil at the first, when what is there is told.
return function(contenders, before)
  local list, after, order = {}, {}, {}
  for i, row in ipairs(contenders) do
    after[row.node], order[i] = row, row.node
  end
  after[0] = order
  for _, node in ipairs(before and before[0] or {}) do
    -- The same name may be given again: another node, with another token.
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

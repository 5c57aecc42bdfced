--- Is what a page shows what came out?  Compared without what is another one at
-- each run: tokens, ids, times, spaces in tables.  A line `…` stands for any.
local function normal(line)
  return (line:gsub("\27%[[%d;]*m", "")
    :gsub("%d%d%d%d%-%d%d%-%d%d[T ]%d%d:%d%d:%d%dZ?", "DATE")
    :gsub("0x%x+", "0x#")
    :gsub("127%.0%.0%.1:%d+", "HOST:#"):gsub("zk%d:2181", "HOST:#")
    :gsub("(%s)%w%w%w%w%w%w%-(%l+)%-%d+", "%1NODE-%2-#")
    :gsub("_c_[%x-]+%-(%l+)%-%d+", "NODE-%1-#")
    :gsub("[%w.-]+:%d%d+", "HOST:#")
    :gsub("%d+%.%d+", "#.#")
    :gsub("%d+m%d+s", "#s"):gsub("%d+m?s%f[^%w]", "#s")
    :gsub("%f[%d]%d+ s ago", "# s ago")
    :gsub("%d%d%d+", "#")
    :gsub("%s+", " "):gsub("^ ", ""):gsub(" $", ""))
end

local function lines_of(text)
  local lines = {}
  for original in text:gmatch "[^\n]+" do
    local line = normal(original)
    if line ~= "" then lines[#lines + 1] = line end
  end
  return lines
end

local function fits(shown, i, came, j)
  while shown[i] and shown[i] ~= "…" do
    if shown[i] ~= came[j] then return false end
    i, j = i + 1, j + 1
  end
  if not shown[i] then return not came[j] end
  for from = j, #came + 1 do
    if fits(shown, i + 1, came, from) then return true end
  end
  return false
end

return function(shown, came)
  return fits(lines_of(shown), 1, lines_of(came), 1)
end

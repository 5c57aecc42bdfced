--- The rows of a table, one after the other: `check(row, name)`.  What is open
-- is closed after each, unless it `keeps` that.  All run, and the error names
-- those that fail.
--
--     each({ { "is ended", code = 76 }, … }, function(row) … end)
--     each({ ["is ended"] = 76, … }, function(code) … end)
local support = require "support"

-- With the lines that led there from here.
local function trace(problem)
  local text = debug.traceback(tostring(problem), 2)
  return text:match "^(.-)\n%s+%[C%]: in function 'xpcall'" or text
end

return function(rows, check, keeps)
  local names, problems = {}, {}
  for name in pairs(rows) do names[#names + 1] = name end
  table.sort(names)
  for _, key in ipairs(names) do
    local row = rows[key]
    local name = type(row) == "table" and type(key) == "number" and row[1]
      or key
    local ok, problem = xpcall(function() check(row, name) end, trace)
    local left = not keeps and support.close_all()
    if not ok or left then
      problems[#problems + 1] = ("%s: %s"):format(name, ok and left or problem)
    end
  end
  if #problems > 0 then error(table.concat(problems, "\n"), 0) end
end

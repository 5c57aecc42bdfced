--- One test for the rows of a table: `fn(title, …)` for each { title, … }; the
-- error names the row.
return function(rows, fn)
  for _, row in ipairs(rows) do
    local ok, problem = pcall(fn, (table.unpack or unpack)(row))
    if not ok then error(("%s: %s"):format(row[1], tostring(problem)), 0) end
  end
end

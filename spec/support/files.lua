-- What stands in files.
local files = {}

function files.read(name)
  local file = assert(io.open(name, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

return files

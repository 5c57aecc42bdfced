-- What stands in files.
local files = {}

function files.read(name)
  local file = assert(io.open(name, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

--- `mode` is chmod's.
function files.write(name, text, mode)
  local file = assert(io.open(name, "wb"))
  file:write(text)
  file:close()
  if mode then os.execute(("chmod %s '%s'"):format(mode, name)) end
  return name
end

return files

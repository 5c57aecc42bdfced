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

--- The same; "" where there is no such file.
function files.find(name)
  local file = io.open(name, "rb")
  local text = file and file:read "*a" -- nil: of a process that has just gone
  if file then file:close() end
  return text or ""
end

--- What `fn(name)` returns, while a file of this name has this text.
function files.with(text, fn)
  local name = files.write(os.tmpname(), text)
  local results = { fn(name) }
  os.remove(name)
  return (unpack or table.unpack)(results)
end

return files

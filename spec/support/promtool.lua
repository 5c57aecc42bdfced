--- promtool, which comes with Prometheus: what it says of files and of texts.
local quote = require "support.command".quote

local promtool = {}

local function run(command)
  local pipe = io.popen(("(%s) 2>&1; echo $?"):format(command))
  local said = pipe:read "*a"
  pipe:close()
  return said
end

--- Why a test that needs it is pending; nil where it is installed.
function promtool.missing()
  if run "command -v promtool >/dev/null" == "0\n" then return nil end
  return "promtool is not installed"
end

--- What it says, with its exit code in the last line: `check rules`, `test
-- rules`, and files.
function promtool.run(what, ...)
  local words = { "promtool", what }
  for _, name in ipairs { ... } do words[#words + 1] = quote(name) end
  return run(table.concat(words, " "))
end

--- The same of a text.
function promtool.ask(what, text)
  local name = os.tmpname()
  local file = assert(io.open(name, "w"))
  file:write(text)
  assert(file:close())
  local said = promtool.run(what, name)
  os.remove(name)
  return said
end

--- A text in quotation marks of YAML.
function promtool.quote(text) return "'" .. text:gsub("'", "''") .. "'" end

return promtool

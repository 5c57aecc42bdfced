--- promtool, which comes with Prometheus: what it says of files and of texts.
local files = require "support.files"
local shell = require "support.shell"

local promtool = {}

--- Why a test that needs it is pending; nil where it is installed.
function promtool.missing()
  return not shell.run "command -v promtool" and "promtool is not installed"
    or nil
end

--- What it says, with its exit code in the last line: `check rules`, `test
-- rules`, and files.
function promtool.run(what, ...)
  local words = { "promtool", what }
  for _, name in ipairs { ... } do words[#words + 1] = shell.quote(name) end
  return shell.output(("(%s) 2>&1; echo $?"):format(table.concat(words, " ")))
end

--- The same of a text.
function promtool.ask(what, text)
  return files.with(text, function(name) return promtool.run(what, name) end)
end

--- Is it content with metrics that Prometheus is to read, or not installed?
function promtool.takes(text)
  return promtool.missing() or files.with(text, function(name)
    return shell.run("promtool check metrics <" .. name)
  end)
end

--- A text in quotation marks of YAML.
function promtool.quote(text) return "'" .. text:gsub("'", "''") .. "'" end

return promtool

--- Commands of the shell.  Not a spec itself: `require "support.shell"`.
local files = require "support.files"

local shell = {}

--- A text as one word.
function shell.quote(text)
  return "'" .. tostring(text):gsub("'", "'\\''") .. "'"
end

--- What a command has written.
function shell.output(command)
  local pipe = io.popen(command)
  local output = pipe:read "*a"
  pipe:close()
  return output
end

--- Runs a command: has it ended well; and all that it said.
function shell.run(command)
  local output, status = shell.output("(" .. command
    .. ") 2>&1; echo \"status $?\""):match "^(.*)status (%d+)%s*$"
  return status == "0", output
end

--- What it said; raises that if it has not ended well.
function shell.must(command)
  local ok, output = shell.run(command)
  if not ok then error(command .. ":\n" .. output, 0) end
  return output
end

--- What a program in Lua prints, a process of its own.
function shell.program(text)
  return files.with(text, function(name)
    return shell.output(("'%s' '%s' 2>&1"):format(
      os.getenv "SPEC_LUA" or "lua5.4", name))
  end)
end

return shell

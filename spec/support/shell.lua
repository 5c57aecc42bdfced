--- Commands of the shell.  Not a spec itself: `require "support.shell"`.
local shell = {}

--- Runs a command: has it ended well; and all that it said.
function shell.run(command)
  local pipe = io.popen("(" .. command .. ") 2>&1; echo \"status $?\"")
  local output, status = pipe:read("*a"):match "^(.*)status (%d+)%s*$"
  pipe:close()
  return status == "0", output
end

--- What it said; raises that if it has not ended well.
function shell.must(command)
  local ok, output = shell.run(command)
  if not ok then error(command .. ":\n" .. output, 0) end
  return output
end

return shell

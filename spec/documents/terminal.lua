--- A terminal of a page: a shell that keeps its directory and its variables,
-- and what its commands have written.
local quote = require "support.command".quote
local find = require "support.files".find
local lfs = require "lfs"
local support = require "support"

local Terminal = {}
Terminal.__index = Terminal

-- What a shell runs for each block: nothing reads our commands as its input,
-- and the last command that failed is told.
local BLOCK = [[
zklock_status=0
{
%s
} </dev/null
echo "$zklock_status $?" >&3
]]

--- Starts a shell in `dir` with the variables `env`, a table.
function Terminal.start(dir, name, env)
  local self = setmetatable({ dir = dir, out = dir .. "/." .. name .. ".out",
    marks = dir .. "/." .. name .. ".marks", sent = 0, from = 0 }, Terminal)
  local words = {}
  for key, value in pairs(env) do
    words[#words + 1] = quote(key .. "=" .. value)
  end
  -- (Whoever starts something in the background has it ignore SIGINT.  Whatever
  -- writes to a terminal writes line by line.)
  self.pipe = assert(io.popen(("cd %s && exec setsid env --default-signal="
    .. "INT,QUIT,PIPE %s stdbuf -oL bash --norc >%s 2>&1 3>%s"):format(
    quote(dir), table.concat(words, " "), quote(self.out), quote(self.marks)),
    "w"))
  self.pipe:write("set -m\ntrap 'zklock_status=$?' ERR\necho $$ >&3\n")
  self.pipe:flush()
  self.pid = support.wait_until(function()
    return tonumber(find(self.marks):match "^(%d+)\n")
  end, 10, "a shell")
  return self
end

--- Sends commands; `wait` has their end.
function Terminal:send(commands)
  self.from = #find(self.out)
  self.sent = self.sent + 1
  self.pipe:write((BLOCK:gsub("%%s", function() return commands end)))
  self.pipe:flush()
end

--- The status of what was sent last, 0 if no command failed; nil while it
-- runs.
function Terminal:status()
  local n = -1
  for failed, last in find(self.marks):gmatch "(%d+) ?(%d*)\n" do
    n = n + 1
    if n == self.sent then
      return failed ~= "0" and tonumber(failed) or tonumber(last)
    end
  end
end

function Terminal:wait(seconds)
  local ok = pcall(support.wait_until, function() return self:status() end,
    seconds)
  if not ok then error("it has not ended; it said:\n" .. self:output(), 0) end
  return self:status()
end

--- What has been written since `send`, without what the shell says of jobs.
function Terminal:output()
  return (find(self.out):sub(self.from + 1)
    :gsub("%f[^\n\0]%[%d+%][^\n]*\n", "")
    :gsub("%f[^\n\0][^\n]-bash: line %d+: +%d+ %u[^\n]*\n", ""))
end

-- The processes of this shell's session, but for itself: { pid, group }.
local function members(self)
  local list = {}
  for entry in lfs.dir "/proc" do
    local stat = entry:find "^%d+$" and find("/proc/" .. entry .. "/stat")
    local group, session = (stat or ""):match "%) %a %d+ (%d+) (%d+)"
    if tonumber(session) == self.pid and tonumber(entry) ~= self.pid then
      list[#list + 1] = { pid = entry, group = group }
    end
  end
  return list
end

--- Has all ended that was sent?
function Terminal:is_over() return self:status() and #members(self) == 0 end

--- Ctrl-C and its like: a signal for the foreground's group.
function Terminal:key(signal)
  for _, one in ipairs(members(self)) do
    if one.pid == one.group then
      os.execute(("kill -%s -%s 2>/dev/null"):format(signal, one.group))
    end
  end
end

--- Ends all that runs in it: servers need some time for that.
function Terminal:close()
  if not self.pipe then return end
  os.execute(("kill -KILL %d 2>/dev/null"):format(self.pid))
  local function signal(name)
    for _, one in ipairs(members(self)) do
      os.execute(("kill -%s %s 2>/dev/null"):format(name, one.pid))
    end
  end
  signal "TERM"
  signal "CONT"
  local gone = pcall(support.wait_until, function()
    return #members(self) == 0
  end, 5)
  if not gone then signal "KILL" end
  self.pipe:close()
  self.pipe = nil
end

return Terminal

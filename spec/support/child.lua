--- Child processes: Lua programs of their own that speak with the spec over a
-- socket.  In a child `say(...)` sends a line, `hear()` awaits one.
local files = require "support.files"
local processes = require "support.processes"
local quote = require "support.shell".quote
local socket = require "socket"
local support = require "support"

local Child = {}
Child.__index = Child

local PROLOGUE = [[
local socket = require "socket"
local parent = assert(socket.connect("127.0.0.1", %d))
function say(...)
  local parts = {}
  for i = 1, select("#", ...) do parts[i] = tostring((select(i, ...))) end
  parent:send(table.concat(parts, "\t") .. "\n")
end
function hear() return parent:receive() end
parent_socket = parent
zklock = require "zklock"
hosts = %q
io.stdout:setvbuf "no"
say(require "zklock.core".pid())
]]

local numbers = 0

--- Starts a child that runs `code` with `environment`, words for the shell;
-- `...` are its arguments.
local function spawn_with(environment, code, ...)
  numbers = numbers + 1
  local name = os.tmpname()
  local listener = assert(socket.bind("127.0.0.1", 0))
  local _, port = listener:getsockname()
  files.write(name, PROLOGUE:format(port, support.hosts) .. code)
  local words = { environment, support.lua, quote(name) }
  for i = 1, select("#", ...) do
    words[#words + 1] = quote((select(i, ...)))
  end
  local self = setmetatable({ name = name }, Child)
  self.handle = io.popen(("%s </dev/null >%s.out 2>&1; echo $? >%s.status")
    :format(table.concat(words, " "), name, name))
  listener:settimeout(60)
  self.socket = listener:accept()
  listener:close()
  support.closing(self)
  if not self.socket then
    error("a child did not start: " .. self:output(), 2)
  end
  self.pid = tonumber(self:hear())
  return self
end

--- The next line that the child says; nil when it has gone.
function Child:hear(seconds)
  local line, problem = support.receive(self.socket, "*l", seconds or 60)
  if not line and problem == "timeout" then
    error("a child said nothing: " .. self:output(), 2)
  end
  return line
end

--- The next line must be this one.
function Child:expect(line, seconds)
  local heard = self:hear(seconds)
  if heard ~= line then
    error(("a child said %q, not %q: %s"):format(tostring(heard), line,
      self:output()), 2)
  end
  return self
end

function Child:say(line)
  assert(self.socket:send((line or "") .. "\n"))
  return self
end

--- "STOP", "CONT", "KILL" …  Who is told to stop has stopped then.
function Child:signal(name)
  processes.signal(name, self.pid)
  if name ~= "STOP" then return end
  support.wait_until(function()
    return processes.is_stopped(self.pid) or not processes.is_alive(self.pid)
  end, 5, "a process that has stopped")
end

--- What it has written to stdout and stderr.
function Child:output() return files.find(self.name .. ".out") end

--- Its exit status (128 + n for a signal); nil while it lives.
function Child:status()
  return tonumber(files.find(self.name .. ".status"))
end

--- Waits for its end; its exit status.
function Child:wait(seconds)
  return support.wait_until(function() return self:status() end,
    seconds or 60, "the end of a child process")
end

function Child:close()
  if not self.handle then return end
  if not self:status() and self.pid then self:signal "KILL" end
  if self.socket then self.socket:close() end
  self.handle:close()
  self.handle = nil
  for _, suffix in ipairs { "", ".out", ".status" } do
    os.remove(self.name .. suffix)
  end
end

local function spawn(code, ...) return spawn_with("", code, ...) end

return { spawn = spawn, spawn_with = spawn_with, class = Child }

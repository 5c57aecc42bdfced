--- ZooKeeper servers of a spec's own, for those that kill and pause them.
local files = require "support.files"
local shell = require "support.shell"
local support = require "support"

local Server = {}
Server.__index = Server

local SCRIPT = "bash '" .. (os.getenv "SPEC_ROOT" or ".")
  .. "/spec/support/zookeeper' "

--- Starts `count` servers; `flags` as `zookeeper start` takes them;
-- `environment`: theirs, as words for a shell.
local function start(count, flags, environment)
  local text = shell.output(("%s %sstart --servers %d --detach --owner %d %s "
    .. "2>&1"):format(environment or "", SCRIPT, count or 1, support.pid(),
    flags or ""))
  local self = setmetatable({
    dir = text:match("dir=([^\n]+)"),
    hosts = text:match("hosts=([^\n]+)"),
  }, Server)
  assert(self.dir and self.hosts, text)
  return self
end

local function command(self, name, index)
  shell.must(("%s %s '%s' %s"):format(SCRIPT, name, self.dir, index or ""))
end

local function count(hosts)
  return select(2, hosts:gsub(",", "")) + 1
end

function Server:kill(i) command(self, "kill", i or 1) end
function Server:pause(i) command(self, "pause", i or 1) end
function Server:resume(i) command(self, "resume", i or 1) end
--- A server, or several: "1 2 3".  They serve.
function Server:restart(i) command(self, "restart", i or 1) end
function Server:stop() command(self, "stop") end
Server.close = Server.stop -- (support.closing)

local function status_file(self, i)
  return ("%s/servers/%d/restarted"):format(self.dir, i or 1)
end

--- Begins a restart, and returns at once.
function Server:begin_restart(i)
  local file_name = status_file(self, i)
  os.remove(file_name)
  shell.must(("{ %s restart '%s' %d; echo $? >'%s'; } >/dev/null 2>&1 &")
    :format(SCRIPT, self.dir, i or 1, file_name))
end

--- Returns the exit status of that restart; nil while it has not ended. 0: the
-- server serves.
function Server:restart_status(i)
  return tonumber(files.find(status_file(self, i)))
end

--- Returns the last lines of a server's log.
function Server:log_end(i)
  return shell.output(("tail -n 12 '%s/servers/%d/log'"):format(self.dir,
    i or 1))
end

--- Sets `name` to `value` in the configuration of server `i`, for when it is
-- restarted; or of all.
function Server:configure(name, value, i)
  for n = i or 1, i or count(self.hosts) do
    local file_name = ("%s/servers/%d/zoo.cfg"):format(self.dir, n)
    local lines = {}
    for line in io.lines(file_name) do
      if line:match "^[^=]*" ~= name then lines[#lines + 1] = line end
    end
    lines[#lines + 1] = name .. "=" .. tostring(value) .. "\n"
    files.write(file_name, table.concat(lines, "\n"))
  end
end

--- What its configuration says of `name`.
function Server:setting(name, i)
  for line in io.lines(("%s/servers/%d/zoo.cfg"):format(self.dir, i or 1)) do
    local key, value = line:match "^([^=]*)=(.*)$"
    if key == name then return value end
  end
end

function Server:leader()
  return tonumber((shell.must(SCRIPT .. "leader '" .. self.dir .. "'")))
end

function Server:host(i) return support.host(self.hosts, i) end

return { start = start }

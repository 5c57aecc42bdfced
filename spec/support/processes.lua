--- Other processes, as far as the system tells of them (Linux's /proc).
local lfs = require "lfs"
local support = require "support"

local processes = {}

-- Its state, its parent, its group.
local function read_stat(pid)
  local file = io.open(("/proc/%d/stat"):format(pid))
  if not file then return nil end
  local text = file:read "*a"
  file:close()
  if not text then return nil end -- it has gone meanwhile
  return text:match "%) (%a) (%-?%d+) (%-?%d+)"
end

--- Does it run, or could it?  (What has ended, and nobody has asked how, does
-- not.)
function processes.is_alive(pid)
  local state = read_stat(pid)
  return state ~= nil and state ~= "Z" and state ~= "X"
end

--- Is it there, or has it ended and not been reaped?
function processes.exists(pid) return read_stat(pid) ~= nil end

function processes.parent_of(pid)
  return tonumber((select(2, read_stat(pid))))
end

--- Is this the name of its program, or of its thread?
function processes.is_named(pid, name)
  local file = io.open(("/proc/%d/comm"):format(pid))
  local text = file and file:read "*l"
  if file then file:close() end
  return text == name
end

--- Has it been stopped?
function processes.is_stopped(pid) return read_stat(pid) == "T" end

--- Of a process's children the first; nil if it has none.
function processes.child_of(pid)
  for name in lfs.dir "/proc" do
    local child = tonumber(name)
    local parent = child and select(2, read_stat(child))
    if tonumber(parent) == pid then return child end
  end
end

function processes.signal(name, pid)
  os.execute(("kill -%s %d 2>/dev/null"):format(name, pid))
end

function processes.await_end(pid, seconds)
  support.wait_until(function() return not processes.is_alive(pid) end,
    seconds or 10, "the end of a process")
end

function processes.await_stop(pid, seconds)
  support.wait_until(function() return processes.is_stopped(pid) end,
    seconds or 10, "a process that is stopped")
end

--- Waits until it sleeps, and has done nothing since the last look.
function processes.await_rest(pid, seconds)
  local before
  support.wait_until(function()
    local file = assert(io.open(("/proc/%d/task/%d/schedstat"):format(pid,
      pid)))
    local ran = file:read "*l"
    file:close()
    local rests = ran == before and read_stat(pid) == "S"
    before = ran
    return rests
  end, seconds or 10, "a process that sleeps")
end

return processes

--- Other processes, as far as the system tells of them (Linux's /proc).
local find = require "support.files".find
local lfs = require "lfs"
local support = require "support"

local processes = {}

-- Its state; nil: it has gone.
local function read_state(pid)
  return find(("/proc/%d/stat"):format(pid)):match "%) (%a) "
end

--- Does it run, or could it?  (What has ended, and nobody has asked how, does
-- not.)
function processes.is_alive(pid)
  local state = read_state(pid)
  return state ~= nil and state ~= "Z" and state ~= "X"
end

--- Is it there, or has it ended and not been reaped?
function processes.exists(pid) return read_state(pid) ~= nil end

--- Is this the name of its program, or of its thread?
function processes.is_named(pid, name)
  return find(("/proc/%d/comm"):format(pid)) == name .. "\n"
end

--- Has it been stopped?  (One thread is sent the signal, and the others run
-- until it has had its turn: on a busy machine that is for long enough to be
-- granted a lock.)
function processes.is_stopped(pid)
  if read_state(pid) ~= "T" then return false end
  local tasks = ("/proc/%d/task/"):format(pid)
  for task in lfs.dir(tasks) do
    local state = find(tasks .. task .. "/stat"):match "%) (%a) "
    if state and not state:find "[TtZX]" then return false end
  end
  return true
end

--- Its children, oldest first.
function processes.children(pid)
  local list = {}
  for child in find(("/proc/%d/task/%d/children"):format(pid, pid))
    :gmatch "%d+" do
    list[#list + 1] = tonumber(child)
  end
  return list
end

function processes.child_of(pid) return processes.children(pid)[1] end

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
    local ran = find(("/proc/%d/task/%d/schedstat"):format(pid, pid))
    local rests = ran == before and read_state(pid) == "S"
    before = ran
    return rests
  end, seconds or 10, "a process that sleeps")
end

return processes

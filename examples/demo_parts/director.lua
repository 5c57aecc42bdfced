--- Watches the demo's processes, kills one, and says at the end what it saw.
--
-- Standard input brings a line for everything that happens, from the
-- processes themselves ("12.345 3 holds …") and from the script that started
-- them ("3 gone 137", "tick", "size 24 80", "quit").  Arguments: how to show
-- it ("picture" or "lines"), the processes' number, the directory that they
-- share, hosts, path.
local here = arg[0]:match("^(.*)[/\\]") or "."
package.path = here .. "/?.lua;" .. package.path

local zklock = require "zklock"
local Ledger = require "ledger"
local summary = require "summary"

local manner, count, directory, hosts, path = ...
count = tonumber(count)
local SECONDS = tonumber(os.getenv "ZKLOCK_DEMO_SECONDS") or 12
local PATIENCE = 15 -- seconds without a turn, beyond the session timeout

local ledger = Ledger.new(count, zklock.now())
local show = require(manner).new {
  ledger = ledger,
  columns = 80,
  utf8 = (os.getenv "LC_ALL" or os.getenv "LC_CTYPE" or os.getenv "LANG"
    or ""):lower():find("utf%-?8") ~= nil,
  seconds = SECONDS,
  title = ("zklock demo: %d processes, one lock, in ZooKeeper on %s")
    :format(count, hosts),
}

-- The plot.

local plot = { victim = nil, stopped = false }

local function kill_the_holder(at)
  local holder = ledger.holder
  plot.victim = holder
  show:say(("Process %d (pid %s) is killed with SIGKILL while it holds the "
    .. "lock. It cannot release it: ZooKeeper must notice, when it has not "
    .. "heard from it for %g s."):format(holder.number, holder.pid,
    ledger.session_timeout), at)
  os.execute("kill -KILL " .. holder.pid)
end

local function death()
  local last = ledger.deaths[#ledger.deaths]
  return last and plot.victim and last.number == plot.victim.number and last
end

local function stop(at)
  plot.stopped = at
  show:say("Time is up: who still waits has a last turn.", at)
  io.open(directory .. "/stop", "w"):close()
end

local function go_on(at)
  local elapsed = at - ledger.start
  local dead = death()
  if not plot.victim then
    if elapsed > SECONDS / 3 and ledger.holder
        and at - ledger.holder.since > 0.1 and #ledger:queue() > 0 then
      kill_the_holder(at)
    end
  elseif not dead then
    -- It let go of the lock in the very moment: another one, then.
    if plot.victim.state == "gone" then plot.victim = nil end
  elseif dead.passed_to and not plot.passed then
    plot.passed = at
    show:say(("After %.1f s the lock went to process %d, the next in line. "
      .. "Process %d is started anew and stands at the end of the line.")
      :format(dead.after, dead.passed_to, dead.number), at)
  end
  local seen = plot.passed and at > plot.passed + SECONDS / 4
  if not plot.stopped and elapsed > SECONDS and seen then stop(at) end
end

local function stands_still(at)
  local since = math.max(ledger.moved_at, ledger.start)
  return at > since + PATIENCE + 2 * (ledger.session_timeout or 0)
end

-- The lines.

local function read_line(line)
  local columns = line:match("^size %d+ (%d+)$")
  if columns then return show:resize(tonumber(columns)) end
  local number, what, more = line:match("^(%d) (%l+) ?(.*)$")
  local at = zklock.now()
  if not number then
    at, number, what, more = line:match("^([%d.]+) (%d) (%l+) ?(.*)$")
  end
  if not number then return end
  at, number = tonumber(at), tonumber(number)
  local words = {}
  for word in more:gmatch("%S+") do words[#words + 1] = word end
  local result = ledger:note(at, number, what, (table.unpack or unpack)(words))
  show:event(at, number, what, result)
end

local function watch()
  for line in io.lines() do
    if line == "quit" then return "interrupted" end
    read_line(line)
    local now = zklock.now()
    go_on(now)
    if line == "tick" then show:tick(now) end
    if ledger:over() then return end
    if stands_still(now) then
      table.insert(ledger.problems, "for a long time nothing moved")
      return
    end
  end
end

-- Whatever a process left in the line would be before us there.
local function check_queue()
  local session, problem = zklock.connect(hosts, { session_timeout = 2 })
  if not session then
    table.insert(ledger.problems, problem)
    return
  end
  local guard, message = session:mutex(path):acquire(10)
  if guard then
    guard:release { wait = true }
  else
    table.insert(ledger.problems, message)
  end
  session:close()
end

local function main()
  show:open()
  show:say("One holds the lock; the others stand in line, in the order in "
    .. "which they came.", ledger.start)
  local reason = watch()
  show:close(not reason and zklock.now())
  if reason then os.exit(1) end
  check_queue()
  os.exit(summary(ledger, hosts, show.columns or 80) and 0 or 1)
end

-- Ctrl-C is no error.  Lua raises it once at least, at a call's end perhaps:
-- the inner pcall's.
local calm, fine, message = pcall(pcall, main)
if not fine or not calm then
  show:close()
  if calm and not tostring(message):find("interrupted!", 1, true) then
    io.stderr:write("demo: ", tostring(message), "\n")
  end
  os.exit(1)
end

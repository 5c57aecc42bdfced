--- Says what the demo has shown: true if all of it is as promised.

-- What the server counts, if it is one that can be asked.
local function nodes_left()
  local census = os.getenv "ZKLOCK_DEMO_CENSUS"
  if not census then return 0 end
  local pipe = io.popen(census)
  local answer = pipe:read("*a")
  pipe:close()
  return tonumber(answer:match("zk_ephemerals_count%s+(%d+)"))
end

local function milliseconds(seconds)
  return seconds and ("%.1f ms"):format(seconds * 1000) or "-"
end

local function add(list, fine, name, format, ...)
  table.insert(list, { fine = fine, name = name, text = format:format(...) })
end

local function add_turns(list, ledger)
  local median, longest = ledger:handover_times()
  local death = ledger.deaths[1]
  add(list, #ledger:missing() == 0 and ledger.turns > #ledger.processes,
    "turns", "%d by %d processes; %d killed, %d started in their place",
    ledger.turns, #ledger.processes, ledger.killed, ledger.restarted)
  add(list, median, "hand-over",
    "%s from one holder to the next (median; longest %s)",
    milliseconds(median), milliseconds(longest))
  add(list, death and death.passed_to, "after SIGKILL",
    death and death.passed_to
      and "the lock moved on after %.1f s; its session timeout was %g s"
      or "the lock did not move on",
    death and death.after or 0, ledger.session_timeout or 0)
end

local function add_promises(list, ledger)
  add(list, ledger.regressions == 0 and ledger.token, "tokens",
    ledger.regressions == 0 and "always growing: %s to %s"
      or "not always growing: %s to %s",
    ledger.first_token or "-", ledger.token or "-")
  add(list, ledger.overlaps == 0, "overlaps",
    "%d (the witness: a file that only one process can rename)",
    ledger.overlaps)
  if ledger.lost > 0 then
    add(list, true, "lost", "%d times, and the holder knew in time",
      ledger.lost)
  end
  if #ledger.problems == 0 then
    local left = nodes_left()
    add(list, left == 0, "left behind",
      "%s nodes in ZooKeeper; the lock is free, nobody waits", left or "?")
  end
end

local function add_problems(list, ledger)
  for _, number in ipairs(ledger:missing()) do
    add(list, false, "missing", "process %d did not come to an end", number)
  end
  for _, problem in ipairs(ledger.problems) do
    add(list, false, "problem", "%s", problem)
  end
end

local function findings(ledger)
  local list = {}
  add_turns(list, ledger)
  add_promises(list, ledger)
  add_problems(list, ledger)
  return list
end

local GOOD = [[
At no moment did two processes hold the lock, also when one of them died with
it. Each turn came with a larger token than the one before: whatever the lock
protects can tell a late writer from the present one ("fencing").]]

local BAD = "This should not have happened: see the lines marked with NO."

-- Words on lines of at most `columns`, which begin with so many spaces.
local function wrap(text, columns, indent)
  local column = indent
  return (text:gsub("(%s*)(%S+)", function(space, word)
    column = column + (space ~= "" and 1 or 0) + #word
    if column < columns then return (space ~= "" and " " or "") .. word end
    column = indent + #word
    return "\n" .. (" "):rep(indent) .. word
  end))
end

local function print_all(list, columns)
  local fine = true
  for _, finding in ipairs(list) do
    io.write(("  %-4s%-15s%s\n"):format(finding.fine and "ok" or "NO",
      finding.name, wrap(finding.text, columns, 21)))
    fine = fine and finding.fine
  end
  io.write("\n", wrap(fine and GOOD or BAD, columns, 0), "\n")
  return fine
end

return function(ledger, hosts, columns)
  io.write("\nWhat was seen:\n\n")
  local fine = print_all(findings(ledger), columns)
  if fine and os.getenv "ZKLOCK_DEMO_CENSUS" then
    io.write("\nWith servers of your own:\n",
      "  ZKLOCK_HOSTS=zk1:2181,zk2:2181,zk3:2181 make demo\n")
  elseif fine then
    io.write("\nThe servers were yours: ", hosts, "\n")
  end
  return fine
end

--- Shows the demo as plain lines, for files, pipes and simple terminals.
local Lines = {}
Lines.__index = Lines

function Lines.new(view)
  return setmetatable({ ledger = view.ledger, title = view.title }, Lines)
end

local function write(self, at, text)
  io.write(("%6.2f s  %s\n"):format(at - self.ledger.start, text))
  io.flush()
end

local function wrap(text)
  local column = 0
  return (text:gsub("(%s*)(%S+)", function(space, word)
    column = column + #space + #word
    if column <= 64 then return space .. word end
    column = #word
    return "\n" .. word
  end))
end

local function waiting(ledger)
  local numbers = {}
  for _, process in ipairs(ledger:queue()) do
    table.insert(numbers, tostring(process.number))
  end
  return #numbers > 0 and "; in line: " .. table.concat(numbers, " ") or ""
end

local tellers = {}

function tellers.ready(process)
  return ("process %d has connected (pid %s)"):format(process.number,
    process.pid)
end

function tellers.holds(process, seconds, ledger)
  local after = seconds and seconds < 1
    and (" %.1f ms after the last one"):format(seconds * 1000)
    or seconds and (" %.2f s after the last one"):format(seconds)
    or ", which was free"
  return ("process %d holds the lock%s%s"):format(process.number, after,
    waiting(ledger))
end

function tellers.gone(process)
  if process.state == "gone" then
    return ("process %d is gone"):format(process.number)
  end
end

function tellers.starts(process)
  return ("process %d is started anew"):format(process.number)
end

function tellers.lost(process)
  return ("process %d lost the lock while it had it"):format(process.number)
end

function tellers.suspended(process)
  return ("process %d has lost its server"):format(process.number)
end

function tellers.reconnected(process)
  return ("process %d has a server again"):format(process.number)
end

function tellers.ends(process)
  return ("process %d is through, after %d turns"):format(process.number,
    process.turns)
end

function tellers.overlap(process)
  return ("process %d is not alone!"):format(process.number)
end

function Lines:event(at, number, what, result)
  local teller = tellers[what]
  local text = teller
    and teller(self.ledger.processes[number], result, self.ledger)
  if text then write(self, at, text) end
end

function Lines:say(text, at)
  write(self, at, (wrap("-- " .. text):gsub("\n", "\n            ")))
end

function Lines:open()
  io.write(self.title, "\n\n")
  io.flush()
end

function Lines.resize() end

function Lines.tick() end

function Lines.close() end

return Lines

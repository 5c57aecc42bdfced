-- The driver: `lua main.lua LOOP HOSTS`.  Each line of the standard input is a
-- command, and is answered by one line: see bench/README.md.
local loop_name, hosts = arg[1], arg[2]
local loop = require("loop_" .. loop_name)
local workloads = require "workloads"
local zklock = require "zklock"

local NUMBERS = {
  workers = true, work_us = true, local_turns = true, locks = true,
  read_percent = true, warm_ms = true,
}

local run

local function answer(text)
  io.write(text, "\n")
  io.flush()
end

local function parse(line)
  local words = {}
  for key, value in line:gmatch "(%S+)=(%S*)" do
    words[key] = NUMBERS[key] and assert(tonumber(value), "no number") or value
  end
  return words
end

local commands = {}

local function begin(new, words)
  new:start(words)
  new:clear()
  if words.warm_ms then loop.sleep(words.warm_ms / 1000) end
  if new.problem then error(new.problem, 0) end
  new:clear()
end

function commands.start(words)
  assert(not run, "something runs already")
  assert(words.workload and words.path, "a workload and a path are needed")
  if not workloads.has(words.workload) then return "unsupported" end
  run = workloads.new(loop, hosts, words)
  local ok, problem = pcall(begin, run, words)
  if not ok then
    run:stop()
    run = nil
    error(problem, 0)
  end
  return "running"
end

function commands.sample()
  assert(run, "nothing runs")
  return "sample " .. run:sample()
end

function commands.stop()
  assert(run, "nothing runs")
  run:stop()
  run = nil
  collectgarbage()
  return "stopped"
end

local function obey(line)
  local name = line:match "^%S+"
  if name == "quit" then
    if run then run:stop() end
    return loop.stop()
  end
  local ok, result = pcall(function()
    return (commands[name] or error "no such command")(parse(line))
  end)
  if not ok then
    io.stderr:write(tostring(result), "\n")
    result = "error text=" .. tostring(result):gsub("%s", "_")
  end
  answer(result)
end

answer(("driver protocol=1 name=zklock version=%s workloads=%s lua=%s loop=%s")
  :format(zklock.version, workloads.names,
    (rawget(_G, "jit") and jit.version or _VERSION):gsub(" ", "_"), loop_name))

-- One after the other, also if they come at once.
local lines, count, busy = {}, 0, false
loop.listen(function(line)
  count = count + 1
  lines[count] = line or "quit"
  if busy then return end
  busy = true
  local i = 0
  while i < count do
    i = i + 1
    obey(lines[i])
  end
  lines, count, busy = {}, 0, false
end)
loop.run()

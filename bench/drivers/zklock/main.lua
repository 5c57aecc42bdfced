-- The driver: `lua main.lua HOSTS`.  Each line of the standard input is a
-- command, and is answered by one line: see bench/README.md.
local hosts = arg[1]
local loop = require "loop"
local workloads = require "workloads"
local zklock = require "zklock"

local NUMBERS = {
  workers = true, work_us = true, local_turns = true, locks = true,
  read_percent = true,
}

local run

local function parse(line)
  local words = {}
  for key, value in line:gmatch "(%S+)=(%S*)" do
    words[key] = NUMBERS[key] and assert(tonumber(value), "no number") or value
  end
  return words
end

local commands = {}

function commands.start(words)
  run = workloads.new(loop, hosts, words)
  return "running"
end

function commands.sample() return "sample " .. run:sample() end

function commands.stop()
  run:stop()
  run = nil
  collectgarbage()
  return "stopped"
end

local function answer(text)
  io.write(text, "\n")
  io.flush()
end

answer(("driver name=zklock version=%s workloads=%s lua=%s"):format(
  zklock.version, workloads.names,
  (rawget(_G, "jit") and jit.version or _VERSION):gsub(" ", "_")))

loop.listen(function(line)
  if not line then os.exit(0) end
  answer(commands[line:match "^%S+"](parse(line)))
end)
local _, problem = pcall(loop.run)
io.stderr:write(tostring(problem), "\n")
os.exit(1)

--- Many processes need a stale cache: one refreshes it, the others wait.
--
-- For results that are expensive to compute: no thundering herd.
-- Lock: mutex. Loop: none.
-- Run: make example NAME=cache
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C releases all locks at once

local function need(result, message) -- a failure ends the program
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = need(zklock.connect(hosts))
local function read(name)
  local file = io.open(name)
  local text = file and file:read "*a" or ""
  if file then file:close() end
  return text ~= "" and text
end

local function compute(name)
  io.popen("sleep 0.3"):close() -- the work
  local file = assert(io.open(name, "w"))
  file:write "the answer"
  file:close()
  return "the answer"
end

-- Each process reads the cache, and reads it again when it has the lock:
-- usually another process has filled it meanwhile.
local function ask(who, name)
  local answer, how = read(name), "finds"
  if not answer then
    local lock = session:mutex("/examples/cache/" .. zklock.escape(name))
    need(lock:with_lock({ timeout = 30 }, function()
      answer = read(name)
      if not answer then answer, how = compute(name), "computes" end
    end))
  end
  print(who .. " " .. how .. " " .. answer)
  session:close()
end

if arg[2] then return ask(arg[2], arg[3]) end

-- Four processes, with an empty file as the cache.
local processes = dofile((arg[0]:match ".*/" or "") .. "support/processes.lua")
local name = os.tmpname()
for line in processes.lines(hosts, { "anna", "bert", "carl", "dora" }, name) do
  print(line)
end
os.remove(name)
session:close()

-- Prints, in any order:
--   … computes the answer
--   … finds the answer
--   … finds the answer
--   … finds the answer

--- Fuzzes the options of the Lua layer: whatever is given, it is taken or
-- refused as misuse, by a message that says so; nothing else is raised.
--
--     lua options.lua SECONDS [SEED]
local core = require "zklock.core"
local options = require "zklock.options"
local settings = require "zklock.settings"

local seconds = tonumber(arg[1]) or 10
local seed = tonumber(arg[2]) or os.time()
math.randomseed(seed)
local random = math.random

local function pick(list) return list[random(#list)] end

local function bytes()
  local parts = {}
  for i = 1, random(0, 12) do parts[i] = string.char(random(0, 255)) end
  return table.concat(parts)
end

local words = { "open", "creator", "read", "digest", "world", "anyone", "a:b",
  "cdrwa", "rr", "auto", "poll", "luv", "predecessor", "parent", "curator",
  "kazoo", "keep", "lose", "127.0.0.1:2181", "[::1]:2181,b/c", "a,,b", "a:0",
  "/lock", "/", "//", "", "\0" }

local numbers = { 0, 1, -1, 0.5, 1e6, 1e6 + 1, 1e308, -1e308, 2 ^ 31, 2 ^ 53,
  math.huge, -math.huge, 0 / 0 }

local value

local function table_of(keys, depth)
  local t = {}
  for _ = 1, random(0, 4) do
    local key = random(4) == 1 and value(0) or pick(keys)
    if key ~= nil and key == key then t[key] = value(depth - 1) end
  end
  return t
end

local deep = { "scheme", "credential", "id", "perms", 1, 2, 3, "new", "wait",
  "wake", "ca" }

function value(depth)
  local kind = random(depth > 0 and 9 or 7)
  if kind == 1 then return nil
  elseif kind == 2 then return random(2) == 1
  elseif kind == 3 then return pick(numbers)
  elseif kind == 4 then return bytes()
  elseif kind == 5 then return print
  elseif kind <= 7 then return pick(words)
  end
  return table_of(deep, depth)
end

local connect = { "session_timeout", "least_session_timeout", "tick_time",
  "connect_timeout", "auth", "acl", "tls", "loop", "on_event", "log", "acll" }
local lock = { "reentrant", "data", "max_hold", "on_suspend", "fair", "wait",
  "poll_interval", "handoffs", "layout", "fairr" }
local kinds = { mutex = { "mutex" }, rwlock = { "read", "write" },
  semaphore = { "permit" } }

local targets = {
  function()
    settings.read(random(3) == 1 and value(1) or pick(words),
      random(8) == 1 and value(2) or table_of(connect, 3))
  end,
  function()
    local family = pick { "mutex", "rwlock", "semaphore" }
    options.read_lock(random(8) == 1 and value(2) or table_of(lock, 2), family,
      pick(kinds[family]), 1, "")
  end,
  function() core.check_path(bytes()) end,
  function() core.check_hosts(bytes()) end,
}

local deadline, n, taken = core.now() + seconds, 0, 0
while core.now() < deadline do
  for _ = 1, 1000 do
    n = n + 1
    local ok, problem = pcall(pick(targets))
    if ok then
      taken = taken + 1
    elseif type(problem) ~= "string" or not problem:find("zklock: ", 1, true)
    then
      print(("seed %d, case %d: %s"):format(seed, n, tostring(problem)))
      os.exit(1)
    end
  end
end
print(("options: %d cases, %d taken, seed %d"):format(n, taken, seed))

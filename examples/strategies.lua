--- Three ways to wait for one's turn, compared: 20 contenders under each.
--
--     lua5.4 examples/strategies.lua [hosts]
--
-- "predecessor" watches the one ahead; "parent" watches the whole queue, and
-- every release wakes all; "poll" asks again and again.
local zklock = require "zklock"

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local contenders = 20

local function run(wait)
  local path = "/examples/strategies/" .. wait
  local options = { wait = wait }
  if wait == "poll" then options.poll_interval = 0.02 end
  local sessions, done = {}, 0
  for i = 1, contenders do
    sessions[i] = assert(zklock.connect(hosts, { loop = "poll" }))
  end
  -- All queue behind this one, so that each has a turn to wait for.
  local gate = assert(sessions[1]:mutex(path):acquire(10))
  for _, session in ipairs(sessions) do
    session:mutex(path, options):acquire_async({ timeout = 30 },
      function(guard, message)
        if not guard then error(message) end
        done = done + 1
        guard:release()
      end)
  end
  while #assert(sessions[1]:contenders(path)) < contenders + 1 do end

  local function total(counter)
    local sum = 0
    for _, session in ipairs(sessions) do
      sum = sum + session:stats()[counter]
    end
    return sum
  end
  local requests, events = total "requests", total "events"
  local begun = zklock.now()
  gate:release()
  while done < contenders do
    for _, session in ipairs(sessions) do session:step() end
  end
  print(("%-12s %5.1f requests, %5.1f events, %6.2f ms a turn"):format(wait,
    (total "requests" - requests) / contenders,
    (total "events" - events) / contenders,
    (zklock.now() - begun) / contenders * 1000))
  for _, session in ipairs(sessions) do session:close() end
end

for _, wait in ipairs { "predecessor", "parent", "poll" } do run(wait) end

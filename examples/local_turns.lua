--- Many tasks of one process want one lock: they take turns without a request.
--
-- For busy servers: up to `local_turns` of them, then the next process's turn.
-- Lock: mutex with local_turns. Loop: your own.
-- Run: make example NAME=local_turns
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C releases all locks at once

local function need(result, message) -- a failure ends the program
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = need(zklock.connect(hosts))
local mutex = session:mutex("/examples/local_turns", { local_turns = 100 })

local before, done = session:stats(), 0
for _ = 1, 100 do
  mutex:acquire_async({ timeout = 30 }, function(guard, message)
    need(guard, message)
    -- Fence with token and turn together: all local turns have the same token.
    if done == 0 or done == 99 then
      print("token " .. guard:token() .. ", turn " .. guard:turn())
    end
    done = done + 1
    guard:release()
  end)
end
while done < 100 do
  session:step()
  io.popen("sleep 0.01"):close() -- or poll session:fd()
end

local after = session:stats()
print(("%d turns, %d of them local"):format(done,
  after.local_turns - before.local_turns))
print(("%s than 20 requests for all of them"):format(
  after.requests - before.requests < 20 and "less" or "more"))

session:close()

-- Prints:
--   token 0000000000000000042, turn 0
--   token 0000000000000000042, turn 99
--   100 turns, 99 of them local
--   less than 20 requests for all of them

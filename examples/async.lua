--- Without waiting: callbacks, in a loop that watches a file descriptor.
--
-- For programs that have a loop already and no coroutines in it.
-- Lock: mutex. Loop: one's own.
-- Run: make example NAME=async
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C gives back what is held, at once

local function need(result, message) -- or the program ends, and says why
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = need(zklock.connect(hosts))
local has_socket, socket = pcall(require, "socket") -- LuaSocket, for select

-- session:fd() is readable when session:step() has something to do.
local descriptor = { getfd = function() return session:fd() end }
local function idle(seconds)
  if has_socket then return socket.select({ descriptor }, nil, seconds) end
  io.popen("sleep 0.01"):close() -- without it: look now and then
end

-- What is begun below; somebody else (as another process would be) has the pears.
local left = 2
local other = need(zklock.connect(hosts))
local pears = need(other:mutex("/examples/async/pears"):acquire(5))

session:mutex("/examples/async/apples"):acquire_async({ timeout = 5 },
  function(guard, message)
    -- Runs in step(), in this thread. It must not take long.
    need(guard, message)
    print("granted: apples, token " .. guard:token())
    guard:release()
    left = left - 1
  end)

-- A wait that is no longer wanted is cancelled; its callback hears of it.
local ticket = session:mutex("/examples/async/pears"):acquire_async(nil,
  function(_, _, code)
    print(code .. ": pears")
    left = left - 1
  end)

-- The loop.
while left > 0 do
  idle(1)
  session:step() -- never blocks
  if left == 1 then ticket:cancel() end
end

pears:release()
other:close()
session:close()

-- Prints:
--   granted: apples, token 0000000000000000042
--   cancelled: pears

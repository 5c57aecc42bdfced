--- Without waiting: callbacks, in a loop that watches a file descriptor.
--
-- For programs with their own loop and without coroutines.
-- Lock: mutex. Loop: your own.
-- Run: make example NAME=async
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C releases all locks at once

local function need(result, message) -- a failure ends the program
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
  io.popen("sleep 0.01"):close() -- without LuaSocket: poll
end

-- The number of pending callbacks. Another session plays another process, and
-- holds the pears.
local left = 2
local other = need(zklock.connect(hosts))
local pears = need(other:mutex("/examples/async/pears"):acquire(30))

session:mutex("/examples/async/apples"):acquire_async({ timeout = 30 },
  function(guard, message)
    -- Runs in step(), in this thread. It must not take long.
    need(guard, message)
    print("granted: apples, token " .. guard:token())
    guard:release()
    left = left - 1
  end)

-- cancel() ends this wait; zklock calls its callback with "cancelled".
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

--- Without waiting: acquire_async, and a loop of one's own that calls step().
--
--     lua5.4 examples/async.lua [hosts]
local zklock = require "zklock"
local has_socket, socket = pcall(require, "socket") -- LuaSocket, for select

local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"
local session = assert(zklock.connect(hosts))

-- Any loop that can watch a file descriptor will do: session:fd() is readable
-- when session:step() has something to do.
local descriptor = { getfd = function() return session:fd() end }
local function idle(seconds)
  if has_socket then
    socket.select({ descriptor }, nil, seconds)
  else
    os.execute("sleep " .. math.min(seconds, 0.05))
  end
end

local finished = 0

local function job(name)
  local mutex = session:mutex("/examples/async/" .. name)
  mutex:acquire_async({ timeout = 5 }, function(guard, message)
    -- Runs in step(), in this thread.  It must not take long.
    if not guard then error(message) end
    print(name .. " is held, token " .. guard:token())
    guard:release()
    finished = finished + 1
  end)
end

for _, name in ipairs { "apples", "pears", "plums" } do job(name) end

-- A wait that is no longer wanted is cancelled; its callback hears of it.
local holder = assert(session:mutex("/examples/async/figs"):acquire(5))
local ticket = session:mutex("/examples/async/figs"):acquire_async(nil,
  function(guard, _, code)
    assert(not guard and code == zklock.errors.cancelled)
    print("figs were cancelled")
    finished = finished + 1
  end)
ticket:cancel()

while finished < 4 do
  idle(1)
  session:step() -- never blocks
end

holder:release()
session:close()

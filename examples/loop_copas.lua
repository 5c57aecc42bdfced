--- copas, 2.0 and later: a thread waits, the others go on.
--
--     lua5.4 examples/loop_copas.lua [hosts]
local has_copas, copas = pcall(require, "copas")
if not has_copas or not copas.wakeup then
  return print "there is no copas here, or it is too old"
end
local zklock = require "zklock"
local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"

local pause = copas.pause or copas.sleep
local ticks, working = 0, 3

local function work(name, session)
  local guard = assert(session:mutex "/examples/copas":acquire(10))
  print(("%s holds the lock after %d ticks"):format(name, ticks))
  pause(0.03)
  guard:release()
  working = working - 1
end

copas.addthread(function()
  pause(0) -- before copas 4.0 a thread begins before the loop does
  local session = assert(zklock.connect(hosts))
  for _, name in ipairs { "one", "two", "three" } do
    copas.addthread(work, name, session)
  end
end)

copas.addthread(function()
  while working > 0 do
    pause(0.005)
    ticks = ticks + 1
  end
end)

copas.loop() -- ends when nobody works or waits

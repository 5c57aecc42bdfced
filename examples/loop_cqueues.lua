--- cqueues: a task waits, the others go on.
--
--     lua5.4 examples/loop_cqueues.lua [hosts]
local has_cqueues, cqueues = pcall(require, "cqueues")
if not has_cqueues then return print "there is no cqueues here" end
local zklock = require "zklock"
local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"

local controller = cqueues.new()
local ticks, working = 0, 3

local function work(name, session)
  local guard = assert(session:mutex "/examples/cqueues":acquire(10))
  print(("%s holds the lock after %d ticks"):format(name, ticks))
  cqueues.sleep(0.03)
  guard:release()
  working = working - 1
end

controller:wrap(function()
  local session = assert(zklock.connect(hosts))
  for _, name in ipairs { "one", "two", "three" } do
    controller:wrap(work, name, session)
  end
end)

controller:wrap(function()
  while working > 0 do
    cqueues.sleep(0.005)
    ticks = ticks + 1
  end
end)

assert(controller:loop()) -- ends when nobody works or waits

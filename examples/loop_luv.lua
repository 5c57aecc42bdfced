--- luv: any coroutine may wait; the loop goes on.
--
--     lua5.4 examples/loop_luv.lua [hosts]
local has_luv, uv = pcall(require, "luv")
if not has_luv then return print "there is no luv here" end
local zklock = require "zklock"
local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"

local ticks, working = 0, 3
local clock = uv.new_timer()
clock:start(0, 5, function() ticks = ticks + 1 end)

local function sleep(ms)
  local task, timer = coroutine.running(), uv.new_timer()
  timer:start(ms, 0, function()
    timer:close()
    assert(coroutine.resume(task))
  end)
  coroutine.yield()
end

local function work(name, session)
  local guard = assert(session:mutex "/examples/luv":acquire(10))
  print(("%s holds the lock after %d ticks"):format(name, ticks))
  sleep(30)
  guard:release()
  working = working - 1
  if working == 0 then clock:close() end -- then nothing keeps the loop
end

coroutine.wrap(function()
  local session = assert(zklock.connect(hosts))
  for _, name in ipairs { "one", "two", "three" } do
    coroutine.wrap(work)(name, session)
  end
end)()
uv.run()

--- luv: any coroutine may wait; the loop goes on.
--
-- For programs with luv or luvit: zklock detects the loop.
-- Lock: mutex. Loop: luv.
-- Run: make example NAME=loop_luv
local zklock = require "zklock"
zklock.release_on_signal "INT" -- Ctrl-C releases all locks at once

local function need(result, message) -- a failure ends the program
  if not result then io.stderr:write(message, "\n") os.exit(1) end
  return result
end

local has_luv, uv = pcall(require, "luv")
need(has_luv, "luv is needed: lua-luv in Debian, luv in luarocks")
local hosts = arg[1] or os.getenv "ZKLOCK_HOSTS" or "127.0.0.1:2181"

local ticks, working = 0, 3
local clock = uv.new_timer() -- the rest of the program
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
  local guard = need(session:mutex "/examples/luv":acquire(30))
  print(("%s has the lock, after %d ticks of the clock"):format(name, ticks))
  sleep(30)
  guard:release()
  working = working - 1
  if working == 0 then clock:close() end -- then nothing keeps the loop
end

coroutine.wrap(function()
  local session = need(zklock.connect(hosts))
  for _, name in ipairs { "one", "two", "three" } do
    coroutine.wrap(work)(name, session)
  end
end)()
uv.run()

-- Prints:
--   one has the lock, after … ticks of the clock
--   two has the lock, after … ticks of the clock
--   three has the lock, after … ticks of the clock

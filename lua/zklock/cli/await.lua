--- How a task of luv's loop waits for what is no session's.
local uv = require "luv"

local await = {}

-- 5.1 has neither name of them elsewhere.
local unpack = table.unpack or unpack -- luacheck: ignore unpack

--- Suspends the task until the function that `begin` is given is called, the
-- first time; with what that is called with.
function await.call(begin)
  local task, count, results = coroutine.running(), nil, nil
  begin(function(...)
    if count then return end
    count, results = select("#", ...), { ... }
    if coroutine.status(task) == "suspended" then
      assert(coroutine.resume(task))
    end
  end)
  if not count then coroutine.yield() end
  return unpack(results, 1, count)
end

--- `fn` after so many seconds; what it returns ends that.
function await.after(seconds, fn)
  local timer = uv.new_timer()
  local function stop()
    if not timer:is_closing() then timer:close() end
  end
  uv.update_time()
  timer:start(math.ceil(seconds * 1000), 0, function()
    stop()
    fn()
  end)
  return stop
end

function await.seconds(seconds)
  await.call(function(go_on) await.after(seconds, go_on) end)
end

--- Seconds of a clock that nobody sets.
function await.now() return uv.hrtime() / 1e9 end

--- Seconds since 1970, by ours.
function await.time_of_day()
  local seconds, microseconds = uv.gettimeofday()
  return seconds + microseconds / 1e6
end

return await

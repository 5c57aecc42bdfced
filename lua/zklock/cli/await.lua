--- Lets a task of luv's loop wait for events that do not come from a session,
-- such as timers.
local uv = require "luv"

local await = {}

--- Calls `begin(done)`, and suspends the task until `done` is called. Returns
-- the first two arguments of the first call of `done`.
function await.call(begin)
  local task, is_done, first, second = coroutine.running(), false, nil, nil
  begin(function(...)
    if is_done then return end
    is_done, first, second = true, ...
    if coroutine.status(task) == "suspended" then
      assert(coroutine.resume(task))
    end
  end)
  if not is_done then coroutine.yield() end
  return first, second
end

--- Calls `fn` after this number of seconds. Returns a function that cancels the
-- call.
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

--- Calls `fn(item)` for each item, each in a task of its own, and waits for all
-- tasks. Returns the list of their results. `fn` must not raise errors.
function await.each(items, fn)
  local results, open = {}, #items
  return await.call(function(go_on)
    for i, item in ipairs(items) do
      assert(coroutine.resume(coroutine.create(function()
        results[i] = fn(item)
        open = open - 1
        if open == 0 then go_on(results) end
      end)))
    end
  end)
end

--- Returns the time of a monotonic clock, in seconds.
function await.now() return uv.hrtime() / 1e9 end

--- Returns the seconds since 1970 by this machine's clock.
function await.time_of_day()
  local seconds, microseconds = uv.gettimeofday()
  return seconds + microseconds / 1e6
end

return await

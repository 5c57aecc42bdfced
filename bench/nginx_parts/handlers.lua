--- The handlers of bench/nginx.
local ffi = require "ffi"
local of_worker = require("zklock.ngx").session
local zklock = require "zklock"

local handlers = {}

local function session() return assert(of_worker(handlers.hosts)) end

local function work() return "done\n" end

function handlers.plain() ngx.print(work()) end

local function answer_under(mutex)
  local _, result = assert(mutex:with_lock(30, work))
  ngx.print(result)
end

function handlers.lock()
  answer_under(session():mutex("/bench/" .. ngx.var.arg_name))
end

function handlers.turns()
  answer_under(session():mutex("/bench/turns", { local_turns = 100 }))
end

function handlers.hold()
  local guard = assert(session():mutex("/bench/hold"):acquire(1000))
  ngx.sleep(tonumber(ngx.var.arg_seconds or 0.001))
  guard:release()
end

function handlers.waiting() ngx.print(session():stats().waiting) end

ffi.cdef [[
  struct mallinfo2 { size_t arena, ordblks, smblks, hblks, hblkhd, usmblks,
    fsmblks, uordblks, fordblks, keepcost; };
  struct mallinfo2 mallinfo2(void);
]]

--- KiB that are in use, Lua's and C's.
function handlers.memory()
  collectgarbage()
  collectgarbage()
  local info = ffi.C.mallinfo2()
  ngx.print(math.ceil(collectgarbage "count"
    + tonumber(info.uordblks + info.hblkhd) / 1024))
end

--- The contenders that stand below /bench.
function handlers.left()
  local left = {}
  local names = { "hot", "hold", "turns", "wake" }
  for i = 1, 1000 do names[#names + 1] = "cold-" .. i end
  for _, name in ipairs(names) do
    for _, item in ipairs(assert(session():contenders("/bench/" .. name))) do
      left[#left + 1] = name .. "/" .. item.node
    end
  end
  ngx.print(#left == 0 and "none" or table.concat(left, " "))
end

ffi.cdef "int64_t bench_woken;"

local function quantiles(times)
  table.sort(times)
  local function at(part) return times[math.ceil(#times * part)] * 1e6 end
  return ("p50 %.0f us, p90 %.0f us, p99 %.0f us"):format(at(0.5), at(0.9),
    at(0.99))
end

--- n + 1 threads take turns.  Each notes when it runs: how long after the other
-- thread, which grants, has woken nginx, and how long after the last release.
function handlers.wake()
  local n, rounds = tonumber(ngx.var.arg_n), tonumber(ngx.var.arg_rounds)
  local after_wake, after_release, released = {}, {}, nil
  local function turn()
    local mutex = session():mutex("/bench/wake", { local_turns = 1000000 })
    while #after_release < rounds do
      local guard = assert(mutex:acquire(60))
      local now = zklock.now()
      if released then
        after_wake[#after_wake + 1] = now - tonumber(ffi.C.bench_woken) / 1e9
        after_release[#after_release + 1] = now - released
      end
      ngx.sleep(0.001) -- the worker sleeps before it is woken
      released = zklock.now()
      guard:release()
    end
  end
  local threads = {}
  for i = 1, n + 1 do threads[i] = ngx.thread.spawn(turn) end
  for i = 1, n + 1 do assert(ngx.thread.wait(threads[i])) end
  ngx.print(("  %4d waiting: from the event to the handler    %s\n")
    :format(n, quantiles(after_wake)))
  ngx.print(("               from release() to the next one   %s\n")
    :format(quantiles(after_release)))
end

return handlers

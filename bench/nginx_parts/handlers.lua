--- The handlers of bench/nginx.
local ffi = require "ffi"
local of_worker = require("zklock.ngx").session

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
  local names = { "hot", "hold", "turns" }
  for i = 1, 1000 do names[#names + 1] = "cold-" .. i end
  for _, name in ipairs(names) do
    for _, item in ipairs(assert(session():contenders("/bench/" .. name))) do
      left[#left + 1] = name .. "/" .. item.node
    end
  end
  ngx.print(#left == 0 and "none" or table.concat(left, " "))
end

return handlers

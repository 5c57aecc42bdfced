--- The same as loop_poll, by luv.
local uv = require "luv"

local loop = { option = "luv" }

local function begin(fn, ...)
  assert(coroutine.resume(coroutine.create(fn), ...))
end

function loop.spawn(fn, ...)
  local arguments, n = { ... }, select("#", ...)
  local timer = uv.new_timer()
  timer:start(0, 0, function()
    timer:close()
    begin(fn, (table.unpack or unpack)(arguments, 1, n))
  end)
end

-- libuv counts milliseconds.
function loop.sleep(seconds)
  local task, timer = coroutine.running(), uv.new_timer()
  uv.update_time()
  timer:start(math.ceil(seconds * 1000), 0, function()
    timer:close()
    assert(coroutine.resume(task))
  end)
  coroutine.yield()
end

function loop.listen(fn)
  local terminal, rest = uv.guess_handle(0) == "tty", ""
  local input = terminal and uv.new_tty(0, true) or uv.new_pipe(false)
  if not terminal then assert(input:open(0)) end
  input:read_start(function(_, text)
    if not text then input:close() return loop.spawn(fn, nil) end
    rest = (rest .. text):gsub("([^\n]*)\n", function(line)
      loop.spawn(fn, line)
      return ""
    end)
  end)
end

function loop.run()
  uv.run()
end

function loop.stop() uv.stop() end

return loop

--- A loop of one's own, as small as can be: tasks, timers, and descriptors in
-- epoll.  A job that blocks may run in the main chunk instead, as in a plain
-- script; then the loop is looked after between two of its cycles.
local epoll = require "epoll"
local now = require "zklock".now

local LOOK = 0.002 -- s between two looks at the loop beside a job
local BATCH = 256 -- tasks that run between two looks at the descriptors

local loop = {}

local ready, first, last = {}, 1, 0
local timers = {} -- sorted, the earliest last
local readers = {} -- descriptor → what is called when it is readable
local found = {}

local function make_ready(task)
  last = last + 1
  ready[last] = task
end

local function in_main()
  local task, main = coroutine.running()
  return task == nil or main == true
end

local function add_timer(moment, fn)
  local timer, i = { moment = moment, fn = fn }, #timers
  while i > 0 and timers[i].moment < moment do
    timers[i + 1] = timers[i]
    i = i - 1
  end
  timers[i + 1] = timer
  return timer
end

-- Some of those that are ready: tasks may make each other ready for ever.
local function run_ready()
  local left = BATCH
  while first <= last and left > 0 do
    local task = ready[first]
    ready[first] = nil
    first, left = first + 1, left - 1
    assert(coroutine.resume(task))
  end
  if first > last then first, last = 1, 0 end
end

-- One turn; it waits for so many seconds at most.
local function turn(patience)
  run_ready()
  local timer = timers[#timers]
  if timer then
    local rest = timer.moment - now()
    patience = math.min(patience or rest, math.max(rest, 0))
  end
  if first <= last then patience = 0 end
  for i = 1, epoll.wait(patience, found) do
    local reader = readers[found[i]]
    if reader then reader() end
  end
  while timers[1] and timers[#timers].moment <= now() do
    table.remove(timers).fn()
  end
  run_ready()
end

local function watch(fd, fn)
  readers[fd] = fn
  epoll.add(fd)
end

local function unwatch(fd)
  readers[fd] = nil
  epoll.remove(fd)
end

-- What zklock's option `loop` gets.
local function adapter(session)
  local fd = session:fd()
  watch(fd, function() session:step() end)
  return {
    wait = function(w, timeout)
      if in_main() then return turn(timeout) end
      local task = coroutine.running()
      w.task = task
      local timer = timeout and add_timer(now() + timeout, function()
        if w.task == task then w.task = nil make_ready(task) end
      end)
      coroutine.yield()
      if timer then timer.fn = function() end end
    end,
    wake = function(w)
      local task = w.task
      w.task = nil
      if task then make_ready(task) end
    end,
    close = function() unwatch(fd) end,
  }
end

loop.option = { new = adapter }

function loop.spawn(fn, ...)
  local arguments, n = { ... }, select("#", ...)
  make_ready(coroutine.create(function()
    fn((table.unpack or unpack)(arguments, 1, n))
  end))
end

function loop.sleep(seconds)
  local task = coroutine.running()
  add_timer(now() + seconds, function() make_ready(task) end)
  coroutine.yield()
end

--- Calls fn with each line of the standard input, and with nil at its end.
function loop.listen(fn)
  local rest = ""
  watch(0, function()
    local text = epoll.read(0)
    if not text then return loop.spawn(fn, nil) end
    rest = (rest .. text):gsub("([^\n]*)\n", function(line)
      loop.spawn(fn, line)
      return ""
    end)
  end)
end

--- One cycle of what blocks; nil: no more.
function loop.set_job(fn) loop.job = fn end

function loop.run()
  local look = 0
  while true do
    if not loop.job then
      turn()
    else
      loop.job()
      if now() >= look then
        turn(0)
        look = now() + LOOK
      end
    end
  end
end

return loop

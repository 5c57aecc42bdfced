--- A loop of one's own: coroutines in turns, and the adapter that zklock needs
-- to suspend one of them instead of the whole process.
--
-- For stories, `chance` draws whose turn it is, `observe(seconds)` is called
-- after it with how long it took, and tasks of their own step the sessions, so
-- callbacks may wait. Otherwise tasks run in their order, and turn() steps the
-- sessions.
local socket = require "socket"
local core = require "zklock.core"

local Scheduler = {}
Scheduler.__index = Scheduler

-- Seconds that one turn waits, at most.
local SHORT, LONG = 0.01, 1

local function remove(list, item)
  for i, other in ipairs(list) do
    if other == item then return table.remove(list, i) end
  end
end

local function new(chance, observe)
  local self = setmetatable({ chance = chance, observe = observe, ready = {},
    sleepers = {}, due = {}, sources = {} }, Scheduler)

  local function wait(w, timeout)
    local task, is_main = coroutine.running()
    if task == nil or is_main then
      self:turn(timeout) -- the main program is no task: others run meanwhile
      return
    end
    w.task = task
    self:pause(timeout or math.huge)
    w.task = nil
    if self.problem then error(self.problem, 0) end -- what a spec has set
  end

  local function wake(w)
    if w.task and self.due[w.task] then self:resume(w.task) end
  end

  --- What zklock.connect takes as its option `loop`.
  self.adapter = {
    new = function(session)
      local source = { session = session,
        getfd = function() return session:fd() end }
      local function disarm() remove(self.sources, source) end
      return {
        wait = wait,
        wake = wake,
        arm = function() table.insert(self.sources, source) end,
        disarm = disarm,
        close = disarm,
      }
    end,
  }
  return self
end

--- Begins a task.
function Scheduler:spawn(fn, ...)
  local arguments, n = { ... }, select("#", ...)
  local unpack = table.unpack or unpack
  local task = coroutine.create(function()
    return fn(unpack(arguments, 1, n))
  end)
  table.insert(self.ready, task)
  return task
end

--- Nothing wakes a task any more.
function Scheduler:forget(task)
  self.due[task] = nil
  remove(self.sleepers, task)
end

--- Makes a task run in the next turn.
function Scheduler:resume(task)
  self:forget(task)
  table.insert(self.ready, task)
end

--- Ends a task where it waits, for good: on 5.4.  True; or false and what its
-- closing has raised.
function Scheduler:kill(task)
  self:forget(task)
  return coroutine.close(task)
end

--- Suspends the running task; the others go on.
function Scheduler:pause(seconds)
  local task = coroutine.running()
  self.due[task] = core.now() + seconds
  table.insert(self.sleepers, task)
  coroutine.yield()
end

--- Suspends the running task until `condition()`: true; or for so many seconds:
-- false.
function Scheduler:await(condition, seconds)
  local deadline = core.now() + seconds
  while not condition() do
    if core.now() >= deadline then return false end
    self:pause(0.02)
  end
  return true
end

local function step(session)
  if session:state() ~= "closed" then session:step() end
end

--- Steps a session that has something to tell.
function Scheduler:hear(session)
  if self.chance then
    self:spawn(step, session)
  else
    session:step()
  end
end

local function wait_for_sessions(self, seconds)
  local sources = { (table.unpack or unpack)(self.sources) }
  if #sources == 0 then return socket.sleep(seconds) end
  for _, source in ipairs((socket.select(sources, nil, seconds))) do
    self:hear(source.session)
  end
end

-- How long nothing is to be done, by the tasks.
local function idle(self)
  if #self.ready > 0 then return 0 end
  local now, seconds = core.now(), self.chance and LONG or SHORT
  for _, task in ipairs(self.sleepers) do
    seconds = math.min(seconds, self.due[task] - now)
  end
  return math.max(seconds, 0)
end

local function wake_due(self)
  local now, due = core.now(), {}
  for _, task in ipairs(self.sleepers) do
    if self.due[task] <= now then due[#due + 1] = task end
  end
  for _, task in ipairs(due) do self:resume(task) end
end

local function run(self, task)
  local began = core.now()
  local ok, problem = coroutine.resume(task)
  if not ok then
    error(self.chance and debug.traceback(task, tostring(problem)) or problem,
      0)
  end
  if self.observe then self.observe(core.now() - began) end
end

--- Waits for a moment, for `seconds` at most, and runs every task that is ready
-- once.
function Scheduler:turn(seconds)
  wait_for_sessions(self, math.min(seconds or math.huge, idle(self)))
  wake_due(self)
  local ready = self.ready
  self.ready = {}
  while #ready > 0 do
    run(self, self.chance and self.chance:take(ready) or table.remove(ready, 1))
  end
end

--- Turns until `condition()`, from outside of its tasks.
function Scheduler:run_until(condition, seconds)
  local deadline = core.now() + (seconds or 60)
  while not condition() do
    if core.now() > deadline then error("it does not come true", 2) end
    self:turn(0.001)
  end
end

--- Have all tasks ended?
function Scheduler:is_over() return #self.ready + #self.sleepers == 0 end

--- Runs until all tasks have ended, or for `seconds`; errors come through.
-- True: all have ended.
function Scheduler:run(seconds)
  local deadline = core.now() + (seconds or 60)
  while not self:is_over() do
    if core.now() > deadline then return false end
    self:turn()
  end
  return true
end

return { new = new }

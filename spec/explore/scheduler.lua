--- A coroutine scheduler in virtual time whose order depends on chance alone,
-- and the adapter by which zklock suspends one of its tasks.
local virtual = require "zklock.virtual"

local Scheduler = {}
Scheduler.__index = Scheduler

local IDLE = 1 -- seconds

local function remove(list, item)
  for i, other in ipairs(list) do
    if other == item then return table.remove(list, i) end
  end
end

local function wait(self, w, timeout)
  w.task = assert(self.running, "only a task can wait")
  self:pause(timeout or math.huge)
  w.task = nil
end

local function wake(self, w)
  if w.task and w.task.due then self:resume(w.task) end
end

--- `chance` draws whose turn it is; `observe()` is called after each turn.
local function new(chance, observe)
  local self = setmetatable({ chance = chance, observe = observe, ready = {},
    sleepers = {}, sessions = {}, running = nil, tasks = 0 }, Scheduler)
  self.adapter = {
    new = function(session)
      return {
        wait = function(w, timeout) wait(self, w, timeout) end,
        wake = function(w) wake(self, w) end,
        arm = function() table.insert(self.sessions, session) end,
        disarm = function() remove(self.sessions, session) end,
        close = function() remove(self.sessions, session) end,
      }
    end,
  }
  return self
end

function Scheduler:spawn(name, fn, ...)
  local arguments, n = { ... }, select("#", ...)
  local task = { name = name, due = nil }
  task.thread = coroutine.create(function()
    fn((table.unpack or unpack)(arguments, 1, n))
  end)
  self.tasks = self.tasks + 1
  table.insert(self.ready, task)
  return task
end

--- Makes a sleeping task run in the next turn.
function Scheduler:resume(task)
  if not task.due then return end
  task.due = nil
  remove(self.sleepers, task)
  table.insert(self.ready, task)
end

--- Suspends the running task.
function Scheduler:pause(seconds)
  local task = self.running
  task.due = virtual.now() + seconds
  table.insert(self.sleepers, task)
  coroutine.yield()
end

--- Waits until `condition()`: true; or for so many seconds: false.
function Scheduler:await(condition, seconds)
  local deadline = virtual.now() + seconds
  while not condition() do
    if virtual.now() >= deadline then return false end
    self:pause(0.02)
  end
  return true
end

local function run(self, task)
  self.running = task
  local ok, problem = coroutine.resume(task.thread)
  self.running = nil
  if not ok then
    error(task.name .. ": "
      .. debug.traceback(task.thread, tostring(problem)), 0)
  end
  if coroutine.status(task.thread) == "dead" then
    self.tasks = self.tasks - 1
  end
end

local function step(session)
  if session:state() ~= "closed" then session:step() end
end

-- Sessions that have something to tell are stepped by tasks of their own, so
-- callbacks may wait.
local function poll(self)
  local now, due = virtual.now(), math.huge
  for _, task in ipairs(self.sleepers) do due = math.min(due, task.due) end
  local seconds = #self.ready > 0 and 0
    or math.max(0, math.min(due - now, IDLE))
  local sessions, fds = {}, {}
  for i, session in ipairs(self.sessions) do
    sessions[i], fds[i] = session, session:fd()
  end
  local is_ready = virtual.poll(fds, {}, seconds)
  for i, session in ipairs(sessions) do
    if is_ready[i] then self:spawn("the reader", step, session) end
  end
end

local function wake_due(self)
  local now, due = virtual.now(), {}
  for _, task in ipairs(self.sleepers) do
    if task.due <= now then due[#due + 1] = task end
  end
  for _, task in ipairs(due) do self:resume(task) end
end

--- One turn: each task that is ready runs once.
function Scheduler:turn()
  poll(self)
  wake_due(self)
  local ready = self.ready
  self.ready = {}
  while #ready > 0 do
    run(self, self.chance:take(ready))
    self.observe()
  end
end

return { new = new }

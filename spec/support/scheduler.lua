--- A loop of one's own: coroutines in turns, and the adapter that zklock
-- needs to suspend one of them instead of the whole process.
local socket = require "socket"
local core = require "zklock.core"

local Scheduler = {}
Scheduler.__index = Scheduler

local function new()
  local self = setmetatable({ ready = {}, sleeping = {}, sessions = {} },
    Scheduler)

  local function wait(w, timeout)
    local task, is_main = coroutine.running()
    if task == nil or is_main then
      self:turn(timeout) -- the main program is no task: others run meanwhile
      return
    end
    w.task = task
    self.sleeping[task] = timeout and core.now() + timeout or math.huge
    coroutine.yield()
    if self.problem then error(self.problem, 0) end -- what a spec has set
  end

  local function wake(w)
    if w.task and self.sleeping[w.task] then self:resume(w.task) end
  end

  --- What zklock.connect takes as its option `loop`.
  self.adapter = {
    new = function(session)
      return {
        wait = wait,
        wake = wake,
        arm = function() self:watch(session) end,
        disarm = function() self:unwatch(session) end,
        close = function() self:unwatch(session) end,
      }
    end,
  }
  return self
end

--- Makes a task run in the next turn.
function Scheduler:resume(task)
  self.sleeping[task] = nil
  table.insert(self.ready, task)
end

function Scheduler:spawn(fn, ...)
  local arguments, n = { ... }, select("#", ...)
  local unpack = table.unpack or unpack
  local task = coroutine.create(function()
    return fn(unpack(arguments, 1, n))
  end)
  table.insert(self.ready, task)
  return task
end

--- Ends a task where it waits, for good: on 5.4.  True; or false and what its
-- closing has raised.
function Scheduler:kill(task)
  self.sleeping[task] = nil
  return coroutine.close(task)
end

--- Watches the session's fd from now on.
function Scheduler:watch(session)
  self.sessions[session] = { getfd = function() return session:fd() end }
  return session
end

function Scheduler:unwatch(session) self.sessions[session] = nil end

--- Suspends the running task; the others go on.
function Scheduler:pause(seconds)
  self.sleeping[coroutine.running()] = core.now() + seconds
  coroutine.yield()
end

local function wait_for_sessions(self, seconds)
  local sources, of = {}, {}
  for session, source in pairs(self.sessions) do
    sources[#sources + 1] = source
    of[source] = session
  end
  if #sources == 0 then
    socket.sleep(seconds)
    return
  end
  for _, source in ipairs((socket.select(sources, nil, seconds))) do
    of[source]:step()
  end
end

--- Waits for a moment, at most, and runs every task that is ready.
function Scheduler:turn(seconds)
  local limit = #self.ready > 0 and 0 or 0.01
  wait_for_sessions(self, math.min(seconds or limit, limit))
  for task, due in pairs(self.sleeping) do
    if due <= core.now() then self:resume(task) end
  end
  local ready = self.ready
  self.ready = {}
  for _, task in ipairs(ready) do
    local ok, problem = coroutine.resume(task)
    if not ok then error(problem, 0) end
  end
end

--- Runs until all tasks have ended, or for `seconds`; errors come through.
-- True: all have ended.
function Scheduler:run(seconds)
  local deadline = core.now() + (seconds or 60)
  while #self.ready > 0 or next(self.sleeping) do
    if core.now() > deadline then return false end
    self:turn()
  end
  return true
end

return { new = new }

--- Callbacks: calls the user's functions, and keeps or logs their errors.
--
-- A callback is `{ fn =, scope = }`. It is called at most once, because the
-- call removes `fn` first. `scope`: the nginx request that has registered the
-- callback, if any.
local plain = require "zklock.plain"

-- Returns whether the error is an interrupt: after Ctrl-C, a debug hook of
-- `lua` or `luajit` raises it. Such an error is not kept or logged. Instead,
-- the call that runs the callback raises it again.
local function is_interrupt(problem)
  return type(problem) == "string" and problem:find "interrupted!$" ~= nil
end

local traceback = debug and debug.traceback

local function trace(problem)
  if type(problem) ~= "string" or is_interrupt(problem) or not traceback then
    return problem
  end
  return traceback(problem, 2)
end

local traced = xpcall
if not jit and _VERSION == "Lua 5.1" then -- xpcall takes no arguments there
  function traced(fn, handler, ...)
    local n, given = select("#", ...), { ... }
    return xpcall(function() return fn(unpack(given, 1, n)) end, handler)
  end
end

local function outcome(ok, problem)
  if ok then return true end
  return false, problem, is_interrupt(problem)
end

-- Calls `item.fn(...)`.  Returns true; or false, the error with a traceback,
-- and whether the error is an interrupt.
local function call(item, ...)
  local fn = item.fn
  item.fn = false
  if not fn then return true end
  return outcome(traced(fn, trace, ...))
end

local Callbacks = {}
Callbacks.__index = Callbacks

--- Calls `item.fn(...)`. Returns true; or false, the error with a traceback,
-- and whether the error is an interrupt.
Callbacks.try = call

--- Makes the object that calls the callbacks of one session. `log`: the option
-- `log` of connect. `want_step`: a function that makes the loop call step(). It
-- is called after a callback's error was kept, so that step() raises the error.
function Callbacks.new(log, want_step)
  return setmetatable({
    log = log or false,
    want_step = want_step,
    problems = {}, -- the callbacks' errors, if there is no log
    spawn = false, -- a function that starts a task, or false
  }, Callbacks)
end

--- Passes one line to the user's log.
function Callbacks:report(level, message)
  if not self.log then return end
  local _, problem, interrupted =
    call({ fn = self.log }, level, plain.text(message))
  if interrupted then error(problem, 0) end
end

-- Calls a callback. If it raises an error, logs the error; without a log, keeps
-- the error, and the next step() raises it. So the error of one callback does
-- not stop other callbacks.
local function run(self, item, ...)
  local ok, problem, interrupted = call(item, ...)
  if ok then return end
  if interrupted then error(problem, 0) end
  if self.log then
    self:report("error", "an error in a callback: " .. plain.problem(problem))
  else
    table.insert(self.problems, { problem })
    self.want_step()
  end
end

--- Calls the callback `item`, unless its nginx request (`item.scope`) has
-- ended. If the field `spawn` is set, calls it in a new task.
function Callbacks:call(item, ...)
  if not item.fn or item.scope and item.scope:has_ended() then return end
  local spawn = self.spawn
  if spawn then spawn(run, self, item, ...) else run(self, item, ...) end
end

function Callbacks:has_problems() return self.problems[1] ~= nil end

--- Removes the next kept error. Returns it as `{ problem }`, or nil; also
-- returns whether there are more errors.
function Callbacks:take_problem()
  return table.remove(self.problems, 1), self:has_problems()
end

return Callbacks

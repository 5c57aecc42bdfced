--- Callbacks: how a user's functions are called.
--
-- One is `{ fn =, scope = }`, and called once: it is taken out of there in the
-- moment in which it is called.  `scope`, if any, is the request that gave it.
local plain = require "zklock.plain"

-- What the hook raises that `lua` and `luajit` set upon Ctrl-C.  It ends the
-- call in which the callback runs.
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
if not jit and _VERSION == "Lua 5.1" then -- whose xpcall takes no arguments
  function traced(fn, handler, ...)
    local n, given = select("#", ...), { ... }
    return xpcall(function() return fn(unpack(given, 1, n)) end, handler)
  end
end

local function outcome(ok, problem)
  if ok then return true end
  return false, problem, is_interrupt(problem)
end

-- Calls `item.fn(...)`: true; or false, the problem with a traceback, and is it
-- an interrupt?
local function call(item, ...)
  local fn = item.fn
  item.fn = false
  if not fn then return true end
  return outcome(traced(fn, trace, ...))
end

local Callbacks = {}
Callbacks.__index = Callbacks

-- So many problems wait for a step(); of those beyond only the number is told.
local MOST = 100

--- Calls `item.fn(...)`, as it is said above.
Callbacks.try = call

--- Of one session.  `log`: its option.  `want_step()`: there is a problem that
-- a step() is to tell.
function Callbacks.new(log, want_step)
  return setmetatable({
    log = log or false,
    want_step = want_step,
    problems = {}, -- what callbacks have raised, where there is no log
    beyond = 0, -- so many more than are kept
    spawn = false, -- where a callback needs a task of its own, to wait in
  }, Callbacks)
end

--- One line of the log.
function Callbacks:report(level, message)
  if not self.log then return end
  local _, problem, interrupted =
    call({ fn = self.log }, level, plain.text(message))
  if interrupted then error(problem, 0) end
end

-- An error in it must not stop the others: it goes to the log, or, without
-- one, comes out of the next step().
local function run(self, item, ...)
  local ok, problem, interrupted = call(item, ...)
  if ok then return end
  if interrupted then error(problem, 0) end
  if self.log then
    self:report("error", "an error in a callback: " .. plain.problem(problem))
  else
    if #self.problems < MOST then
      table.insert(self.problems, { problem })
    else
      self.beyond = self.beyond + 1
    end
    self.want_step()
  end
end

--- Calls it, unless the scope that gave it has ended.
function Callbacks:call(item, ...)
  if not item.fn or item.scope and item.scope:has_ended() then return end
  local spawn = self.spawn
  if spawn then spawn(run, self, item, ...) else run(self, item, ...) end
end

function Callbacks:has_problems()
  return self.problems[1] ~= nil or self.beyond > 0
end

--- What a callback has raised: `{ problem }`, each once; and are there more?
function Callbacks:take_problem()
  local problem = table.remove(self.problems, 1)
  if not problem and self.beyond > 0 then
    problem = { ("%d more errors in callbacks, which nobody took by step() "
      .. "in time: option 'log' hears of each at once"):format(self.beyond) }
    self.beyond = 0
  end
  return problem, self:has_problems()
end

return Callbacks

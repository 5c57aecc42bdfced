--- Callbacks: how a user's functions are called.
--
-- One is `{ fn =, scope = }`, and called once: it is taken out of there in the
-- moment in which it is called.  `scope`, if any, is the request that gave it.
local core = require "zklock.core"
local loops = require "zklock.loop"
local plain = require "zklock.plain"

-- Calls `item.fn(...)`: true; or false, the problem with a traceback, and
-- whether a hook has raised it.  What a hook raises in there is the business of
-- whoever runs this.
local call = core.call
if jit then
  -- LuaJIT does not yield across C, but across pcall.
  local function outcome(ok, problem)
    if ok then return true end
    return false, problem, core.struck(problem)
  end
  call = function(item, ...)
    if loops.in_main() then return core.call(item, ...) end
    local fn = item.fn
    item.fn = false
    if not fn then return true end
    return outcome(xpcall(fn, core.trace, ...))
  end
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
  local _, problem, struck =
    call({ fn = self.log }, level, plain.text(message))
  if struck then error(problem, 0) end
end

-- An error in it must not stop the others: it goes to the log, or, without
-- one, comes out of the next step().
local function run(self, item, ...)
  local ok, problem, struck = call(item, ...)
  if ok then return end
  if struck then error(problem, 0) end
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

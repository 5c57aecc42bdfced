--- Waiting: how a task is suspended until an event ends its wait.
-- A wait is `{ done=, number=, among=, share=, timeout= }`: `among[number]` is
-- where events look for it, `share` the hold that it may be granted. Should
-- the task be killed or an error be raised meanwhile, the wait ends and
-- nothing of it is left.

-- Only here is the wait entered among those that events reach: what is not,
-- the collector ends.
local function turn(self, adapter, wait)
  wait.adapter = adapter
  if wait.number then wait.among[wait.number] = wait end
  wait.attended = true
  self:_attend(adapter, 1)
  while not wait.done do
    adapter.wait(wait, wait.timeout and wait.timeout() or nil)
    -- An early return of an adapter that does not watch the fd by itself.
    if not wait.done then self:_step() end
    if wait.timeout and wait.timeout() <= 0 then break end
  end
end

local function abandon(wait)
  if wait.number then wait.among[wait.number] = nil end
  if wait.share and not wait.taken then
    wait.share:release()
  end
end

local protected_turn
if _VERSION >= "Lua 5.4" then
  protected_turn = load([[
    local turn, closing, self, adapter, wait = ...
    local _ <close> = closing
    turn(self, adapter, wait)
    closing.fine = true
  ]], "=zklock.wait")
elseif not jit and _VERSION == "Lua 5.1" then
  -- No yield across pcall here: only a wait that blocks can be protected.
  protected_turn = function(turn_, closing, self, adapter, wait)
    if not adapter.blocks then
      turn_(self, adapter, wait)
      closing.fine = true
      closing:finish()
      return
    end
    local ok, problem = pcall(turn_, self, adapter, wait)
    closing.fine = ok
    closing:finish()
    if not ok then error(problem, 0) end
  end
else
  protected_turn = function(turn_, closing, self, adapter, wait)
    local ok, problem = pcall(turn_, self, adapter, wait)
    closing.fine = ok
    closing:finish()
    if not ok then error(problem, 0) end
  end
end

local Closing = {}
Closing.__index = Closing

function Closing:finish()
  if self.finished then return end
  self.finished = true
  local scope = self.wait.scope
  if scope then scope:remove(scope.waits, self.wait) end
  if self.wait.attended then self.session:_attend(self.adapter, -1) end
  if not self.fine then abandon(self.wait) end
end

Closing.__close = Closing.finish

local waits = {}

--- Suspends the running task until `wait.done`, or until its own timeout.
function waits.suspend(session, adapter, wait)
  wait.closing = setmetatable({
    session = session, adapter = adapter, wait = wait,
  }, Closing)
  if wait.scope then wait.scope:add(wait.scope.waits, wait) end
  protected_turn(turn, wait.closing, session, adapter, wait)
end

--- Ends a wait whose task, if it has one, will never go on.
function waits.abandon(wait)
  if wait.closing then
    wait.closing:finish()
  else
    abandon(wait)
    if wait.adapter then wait.lock._session:_attend(wait.adapter, -1) end
  end
end

return waits

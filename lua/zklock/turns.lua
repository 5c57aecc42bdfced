--- Turns: how the tasks of a session share a node (option `local_turns`).
--
-- The acquisitions of one path form a line.  The first one, the *root*, is sent
-- to the core as any acquisition is.  Acquisitions that come while the root
-- waits or holds stand behind it, and the core does not know them.  A release
-- passes the root's hold to the first of them, without a request.  If the core
-- does not allow that (hold_ref:release), the first of them becomes the next
-- root.
--
--   stands ──► has its turn ──► …                    (hold_ref:release)
--     │  └───► is sent as the next root              (the last root is over)
--     └──────► is sent, and refused by the core      (timeout, cancel)
--
-- No acquisition is forgotten: as long as any stands in the line, there is a
-- root.  If no release ends the root, an event reports its end.
local turns = {}

local Line = {}
Line.__index = Line

--- Returns the line of these owners' locks.
function turns.line(owners)
  local line = owners.line
  if not line then
    line = setmetatable({
      engine = owners.engine,
      root = false, -- the root's number
      first = false, last = false, -- waiting acquisitions, by arrival
      untold = false, -- the wait that has its turn, but does not know it yet
    }, Line)
    owners.line = line
  end
  return line
end

--- Returns whether new acquisitions must stand in the line.
function Line:is_taken() return self.root ~= false end

--- Makes the acquisition of this number the root.
function Line:lead(number)
  self.engine.lines[number] = self
  self.root = number
end

--- Adds `wait` to the line; the core has marked its hold reference as standing.
function Line:join(wait)
  wait.line = self
  if self.first then self.last.after = wait else self.first = wait end
  self.last = wait
end

--- Removes a wait from the line.  Repeating it is harmless.
function Line:drop(wait)
  local before, at = false, self.first
  while at and at ~= wait do before, at = at, at.after end
  if self.last == wait then self.last = before end
  if at and before then
    before.after = wait.after
  elseif at then
    self.first = wait.after
  end
  wait.line, wait.after = false, false
end

-- Sends a wait as an acquisition, unless an interrupted call has sent it.
local function send(wait)
  local request, terms = wait.request, wait.terms
  if wait.hold_ref:root() then return end
  wait.engine.core:acquire(terms.path, nil, true, request.data,
    request.max_hold, terms.lock_options.prepared, wait.hold_ref)
end

--- Sends a wait as an acquisition of its own, and drops it from the line.  It
-- becomes the next root; or its wait is over, and the core reports why.
function Line:send(wait)
  send(wait)
  self:drop(wait)
end

-- Makes the first wait the next root when the root is over.  An interrupted
-- call can be repeated, because `root` keeps its value until the next root is
-- set.  A first wait that was already sent and dropped continues as an
-- acquisition of its own.
local function go_on(self, root)
  local engine, wait = self.engine, self.first
  if engine.state.is.closed then return end
  if wait then
    self:send(wait)
    self:lead(wait.number)
  else
    self.root = false
  end
  engine.lines[root] = nil
end

-- Returns whether only its release or the loss of the node can end its turn.
local function is_plain(wait)
  return not wait.request.max_hold
    and wait.terms.lock_options.lose_on_suspend == 0
end

--- Releases a guard's hold reference; returns the results of
-- hold_ref:release().
function Line:release(hold_ref, confirm)
  local first = self.first
  if not first or hold_ref:root() ~= self.root then
    return hold_ref:release(confirm)
  end
  local may_have_it = not confirm and is_plain(first)
  return hold_ref:release(true, may_have_it and first.hold_ref or nil)
end

local function tell(self)
  local wait = self.untold
  if not wait then return end
  self.engine.events:tell_turn(wait)
  if self.untold == wait then self.untold = false end
end

--- Continues the line after a hold's last hold reference was released.
-- `passed`: the hold went to another hold reference.  An interrupted call can
-- be repeated.
function Line:released(hold_ref, passed)
  local first = self.first
  if hold_ref:root() ~= self.root then return end
  if not passed then return go_on(self, self.root) end
  if first and first.hold_ref:root() then
    self.untold = first
    self:drop(first)
  end
  tell(self)
end

--- Continues the line when the root's hold is over, or no wait needs the root.
function turns.left(engine, root)
  local line = engine.lines[root]
  if not line then return end
  if line.root == root then return go_on(line, root) end
  engine.lines[root] = nil
end

--- Sends every wait that is past its deadline.
function turns.give_up(engine)
  if engine.state.is.closed then return end
  for _, line in pairs(engine.lines) do
    local wait = line.first
    while wait do
      local after = wait.after
      if wait.hold_ref:is_overdue() then line:send(wait) end
      wait = after
    end
  end
end

return turns

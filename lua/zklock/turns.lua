--- Local turns: how the tasks of a session share one lock node, which saves
-- requests (option `local_turns`).
--
-- The acquisitions of one path form a *line*, a local queue. Only the first
-- acquisition, the *root*, is sent to the servers. While the root waits for the
-- lock or holds it, later acquisitions wait in the line, without requests. A
-- release passes the root's hold to the first wait of the line, also without a
-- request. Each hold that was passed on in this way is a *turn*. If the C core
-- does not allow this (hold_ref:release), the first wait becomes the next root.
--
-- No acquisition is forgotten: while any wait is in the line, there is a root.
-- If the root ends without a release, an event continues the line (turns.left).
local turns = {}

local Line = {}
Line.__index = Line

--- Returns the line of a lock's path; makes the line if needed. `terms`: what
-- all acquisitions of the lock share (locks.terms).
function turns.line(terms)
  local line = terms.owners.line
  if not line then
    line = setmetatable({
      engine = terms.engine,
      root = false, -- the number of the root's acquisition
      first = false, last = false, -- waiting acquisitions, by arrival
      untold = false, -- a wait that has got the hold, but was not ended yet
    }, Line)
    terms.owners.line = line
  end
  return line
end

--- Returns whether the line has a root. If so, new acquisitions join the line.
function Line:is_taken() return self.root ~= false end

--- Makes the acquisition of this number the root of the line: the one whose
-- node the line shares.
function Line:lead(number)
  self.engine.lines[number] = self
  self.root = number
end

--- Appends `wait` to the line. The caller must have prepared the wait's hold
-- reference with core:stand().
function Line:join(wait)
  wait.line = self
  if self.first then self.last.after = wait else self.first = wait end
  self.last = wait
end

--- Removes a wait from the line. Does nothing if the wait is not in the line.
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

-- Sends the acquisition of `wait` to the C core, unless an interrupted call has
-- sent it before.
local function send(wait)
  local terms = wait.terms
  if wait.hold_ref:root() then return end
  wait.engine.core:acquire(terms.path, nil, true, wait.data, wait.max_hold,
    terms.lock_options.prepared, wait.hold_ref)
end

--- Sends the acquisition of `wait` to the C core, and removes the wait from the
-- line. Called for the next root. Also called for a wait that is cancelled or
-- whose deadline has passed; the core soon ends such a wait.
function Line:send(wait)
  send(wait)
  self:drop(wait)
end

-- Called when the line's root, the acquisition that was sent to the servers,
-- has ended. Sends the first wait of the line and makes it the root. An empty
-- line then has no root. If this call is interrupted, it can be repeated,
-- because `root` keeps its value until the next root is set. If the first wait
-- was already sent and removed, it continues as an acquisition of its own.
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

-- Returns whether `wait` can get the root's hold as a turn. It cannot with the
-- options max_hold or lose_on_suspend. These end a hold earlier than its
-- release or the loss of the node.
local function is_plain(wait)
  return not wait.max_hold
    and not wait.terms.lock_options.lose_on_suspend
end

--- Releases a guard's hold reference. If possible, passes the hold to the first
-- wait of the line. Returns the results of hold_ref:release(); the third is
-- whether the hold was passed.
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

--- Called after a hold's last hold reference was released; continues the line.
-- If the hold was `passed` to the first wait, ends that wait. Otherwise makes
-- the first wait the root. If this call is interrupted, it can be repeated.
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

--- Called when acquisition number `root` has ended, or its wait was abandoned.
-- If it was the current root of a line, sends the line's first wait as the next
-- root. Otherwise only forgets the number.
function turns.left(engine, root)
  local line = engine.lines[root]
  if not line then return end
  if line.root == root then return go_on(line, root) end
  engine.lines[root] = nil
end

--- Finds all waits in lines whose deadline has passed, and sends them to the C
-- core. The core then refuses each with "timeout".
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

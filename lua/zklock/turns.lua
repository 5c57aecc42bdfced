--- Turns: how the tasks of a session share a node (option `handoffs`).
--
-- Those of one path stand in a line.  Its first one is sent to the core as any
-- acquisition is: it is the *root*.  Those that come while the root waits or
-- holds stand behind it, and the core knows nothing of them; a release gives
-- the root's hold to the first of them, with no request.  Where the core does
-- not allow that (share:release), the first becomes the next root.
--
--   stands ──► has its turn ──► …                    (share:release)
--     │  └───► is sent as the next root              (the last one is over)
--     └──────► is sent, and refused by the core      (timeout, cancel)
--
-- Nobody is forgotten: as long as anybody stands in the line there is a root,
-- and an event tells of whatever ends it, if no release does.
local turns = {}

local Line = {}
Line.__index = Line

--- That of the locks of these owners.
function turns.line(owners)
  local line = owners.line
  if not line then
    line = setmetatable({
      engine = owners.engine,
      root = false, -- its number
      first = false, last = false, -- that stand, in order of arrival
      untold = false, -- has its turn, and is to be told
    }, Line)
    owners.line = line
  end
  return line
end

--- Whoever comes now has to stand in it.
function Line:is_taken() return self.root ~= false end

--- The acquisition of this number is its root from now on.
function Line:lead(number)
  self.engine.lines[number] = self
  self.root = number
end

--- `wait` stands in it from now on: with a share that does, and its request.
function Line:join(wait)
  wait.line = self
  if self.first then self.last.after = wait else self.first = wait end
  self.last = wait
end

--- It stands there no more.  Twice does no harm.
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

-- (It may have been sent by a call that was interrupted.)
local function send(wait)
  local request, terms = wait.request, wait.terms
  if wait.share:root() then return end
  wait.engine.core:acquire(terms.path, nil, true, request.data,
    request.max_hold, terms.way.prepared, wait.share)
end

--- It goes on as an acquisition of its own, behind the root: the core has to
-- say why it gets nothing.
function Line:send(wait)
  send(wait)
  self:drop(wait)
end

-- The root is over: the first is the next one.  Interrupted, it can be called
-- again: `root` is the root until its successor is.  (A first one that was sent
-- and dropped then goes on as an acquisition of its own.)
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

-- Does nothing but its release, or the loss of the node, end its turn?
local function is_plain(wait)
  return not wait.request.max_hold and wait.terms.way.lose_on_suspend == 0
end

--- Releases a guard's share: what share:release() returns.
function Line:release(share, confirm)
  local first = self.first
  if not first or share:root() ~= self.root then
    return share:release(confirm)
  end
  local may_have_it = not confirm and is_plain(first)
  return share:release(true, may_have_it and first.share or nil)
end

local function tell(self)
  local wait = self.untold
  if not wait then return end
  self.engine.events:tell_turn(wait)
  if self.untold == wait then self.untold = false end
end

--- What follows from that release, of the last share of a hold: `passed` says
-- that another has it.  Interrupted, it can be called again.
function Line:released(share, passed)
  local first = self.first
  if share:root() ~= self.root then return end
  if not passed then return go_on(self, self.root) end
  if first and first.share:root() then
    self.untold = first
    self:drop(first)
  end
  tell(self)
end

--- The hold of that root is over, or nobody waits for it any more.
function turns.left(engine, root)
  local line = engine.lines[root]
  if not line then return end
  if line.root == root then return go_on(line, root) end
  engine.lines[root] = nil
end

--- Sends whoever has stood for too long.
function turns.give_up(engine)
  if engine.state.is.closed then return end
  for _, line in pairs(engine.lines) do
    local wait = line.first
    while wait do
      local after = wait.after
      if wait.share:is_overdue() then line:send(wait) end
      wait = after
    end
  end
end

return turns

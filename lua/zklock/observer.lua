--- Observer: calls a callback with the leader, and again at each change.
--
--     asking ──► telling ──► watching ──► asking …
--
--   asking    requests the leader
--   telling   the leader has changed: calls fn, and continues when it returns
--   watching  the leader's node; without a leader, the number of contenders, or
--             the creation of the path
--
-- A turn is one step.  `self.turn` is the current turn, or false when the
-- observer has ended.  If a debug hook raises an error, the result of a turn
-- may be delivered again.  So each turn sets `self.turn` to the next one last.
local protect = require "zklock.protect"
local reasons = require "zklock.reasons"
local surveys = require "zklock.survey"
local ticket_of = require "zklock.ticket"
local node_waits = require "zklock.node_waits"
local waits = require "zklock.wait"

-- A count that no directory has, so a server's first answer always differs.
local ANY = -1

local asked, watched

local function ask(self)
  local turn = { item = false, call = false, telling = false }
  self.wait = false -- a query cannot be cancelled
  surveys.begin_leader(self.engine, self.scope, self.path, self.modes,
    function(...) asked(self, turn, ...) end)
  self.turn = turn
end

-- Ends the observer with an error.
local function fail(self, turn, code, reason)
  local _, message, word = reasons.of_question({ engine = self.engine,
    code = code, reason = reason }, "who leads", self.path)
  turn.last = turn.last or { fn = self.fn, scope = self.scope }
  self.engine.events:call(turn.last, nil, message, word)
  self.turn = false
end

-- Makes the wait for a change of what the turn has seen.
local function node_wait_of(self, turn)
  local engine, scope, path = self.engine, self.scope, self.path
  if turn.node then
    return node_waits.prepare(engine, scope, "gone", path .. "/" .. turn.node)
  elseif turn.count then
    return node_waits.prepare(engine, scope, "crowd", path, nil, turn.count)
  end
  return node_waits.prepare(engine, scope, "there", path)
end

local function watch(self, turn)
  if self.turn ~= turn then return end
  if self.engine.state.is.closed then return fail(self, turn, "closed") end
  local watching = {}
  self.wait = waits.listen(node_wait_of(self, turn), self.scope, function(wait)
    watched(self, watching, wait)
  end)
  self.turn = watching
end

function watched(self, turn, wait)
  if self.turn ~= turn then return end
  if not wait.code then return ask(self) end
  fail(self, turn, wait.code, wait.reason)
end

-- Marks that fn is running: while fn waits, another step() may deliver the turn
-- again.
local Telling = protect.class()

function Telling:finish() self.turn.telling = false end

local function call(self, turn)
  turn.telling = true
  self.engine.callbacks:call(turn.call, turn.leader or nil)
end

-- Identifies a leader: by its token, or by its node's name if that is hidden.
local function mark_of(leader, node)
  return leader and (leader.token or node)
end

local function tell(self, turn)
  if turn.telling then return end
  self.mark = mark_of(turn.leader, turn.node)
  protect.call(true, setmetatable({ turn = turn }, Telling), call, self, turn)
  watch(self, turn)
end

-- Handles the servers' answer.
local function see(self, turn, contenders, count)
  local leader, node = surveys.leader_of(contenders, self.modes)
  turn.leader, turn.node = leader, leader and node
  turn.count = not leader and count
  if mark_of(leader, node) == self.mark then return end
  turn.call = { fn = self.fn, scope = self.scope }
  turn.item = { fn = function() tell(self, turn) end, scope = self.scope }
end

-- Handles the servers' answer. If `contenders` is nil, `count` is the code of
-- the error.
function asked(self, turn, contenders, count, reason)
  if self.turn ~= turn then return end
  if not contenders and count == "disconnected" then
    turn.count = ANY
    return watch(self, turn)
  elseif not contenders then
    return fail(self, turn, count, reason)
  end
  if not turn.item then see(self, turn, contenders, count) end
  if not turn.item then return watch(self, turn) end
  if turn.item.fn then return self.engine.events:call(turn.item) end
  tell(self, turn) -- the rest, after an interruption
end

-- Ends the observer; fn is not called again.
local new_ticket = ticket_of(function(self)
  self.turn = false
  if self.wait then waits.cancel(self.wait) end
end)

return {
  --- Begins to observe and returns a ticket at once.  Calls `fn(leader)`, with
  -- nil without a leader; at the end `fn(nil, message, code)` unless
  -- cancelled.  `modes`: the modes in which a holder leads.
  begin = function(engine, path, modes, fn)
    local self = {
      engine = engine,
      path = path,
      modes = modes,
      fn = fn,
      scope = engine.adapters:scope(),
      mark = nil, -- of the last reported leader (mark_of)
      turn = false,
      wait = false, -- for a change
    }
    local ticket = new_ticket(self)
    ask(self)
    return ticket
  end,
}
